/** `Idempotency-Key`: what is created is created once; the same key with another body is a conflict. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Listening, listening } from './listening.ts';

let at: Listening;
beforeAll(async () => {
  at = await listening();
  await at.run({ hold: true }, { task_id: 'parent', wait_seconds: 0 });
});
afterAll(() => at.close());

const code = { language: 'javascript', code: '{"output":1}' };
const cases: [path: string, body: object, other: object, id: string][] = [
  ['/tasks', code, { ...code, stdin: 'x' }, 'task_id'],
  ['/execute', { code: '{"output":1}' }, { code: '{"output":2}' }, 'call_id'],
  ['/batches', { tasks: [code] }, { tasks: [code, code] }, 'batch_id'],
  ['/tasks/parent/fork', {}, { answers: {} }, 'task_id'],
  ['/webhooks', { url: 'https://example.com/a' }, { url: 'https://example.com/b' }, 'webhook_id'],
  ['/tools', { kind: 'client', name: 'one' }, { kind: 'client', name: 'two' }, 'name'],
];

describe.each(cases)('POST %s', (path, body, other, id) => {
  const post = (json: object, key: string, as = at.key) => at.ask('POST', `/api/v1${path}`, { json, key: as, headers: { 'idempotency-key': key } });

  test('a repeat answers with the same id and makes nothing new', async () => {
    const key = `key of ${path}`;
    const first = await post(body, key);
    expect(first.status).toBeLessThan(300);
    const reordered = Object.fromEntries(Object.entries(body).reverse());
    const again = await post(reordered, key);
    expect(again.status).toBe(first.status);
    expect(again.body[id]).toBe(first.body[id]);
    expect(await post(other, key)).toMatchObject({ status: 409, body: { code: 'conflict', detail: expect.stringContaining('Idempotency-Key') } });
  });

  test('two at the same moment make one', async () => {
    if (path === '/tools') return;
    const answers = await Promise.all([1, 2, 3].map(() => post(body, `race of ${path}`)));
    const made = answers.filter(({ status }) => status < 300).map((answer) => answer.body[id]);
    expect(made.length).toBeGreaterThan(0);
    expect(new Set(made).size).toBe(1);
  });
});

test('files and checkpoints too', async () => {
  const put = (body: string) => at.ask('POST', '/api/v1/files?name=a', { body, headers: { 'idempotency-key': 'file' } });
  const first = await put('x');
  expect((await put('x')).body).toEqual(first.body);
  expect((await put('y')).status).toBe(409);
  const take = () => at.ask('POST', '/api/v1/tasks/parent/checkpoints', { headers: { 'idempotency-key': 'ckpt' } });
  expect((await take()).body).toEqual((await take()).body);
});

test('a key is of its tenant and its path alone', async () => {
  const post = (path: string, json: object, key = at.key) => at.ask('POST', `/api/v1${path}`, { json, key, headers: { 'idempotency-key': 'shared' } });
  const ours = await post('/tasks', code);
  const theirs = await post('/tasks', { ...code, stdin: 'x' }, at.foreignKey);
  expect([ours.status, theirs.status]).toEqual([201, 201]);
  expect(ours.body.task_id).not.toBe(theirs.body.task_id);
  expect((await post('/batches', { tasks: [code] })).status).toBe(201);
});

test('what was refused can be sent again under the same key', async () => {
  at.engine.status.accepting = false;
  const post = () => at.ask('POST', '/api/v1/tasks', { json: code, headers: { 'idempotency-key': 'later' } });
  expect(await post()).toMatchObject({ status: 503 });
  at.engine.status.accepting = true;
  expect((await post()).status).toBe(201);
});
