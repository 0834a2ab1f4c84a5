/** Webhooks: signed, sent until they are taken, logged, sent again on demand; nothing private is reached and no redirect followed. */
import { createServer as createHttp, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { nextTryIn } from '../src/webhooks/schedule.ts';
import { type Listening, listening } from './listening.ts';

let at: Listening;
let receiver: Server;
let url: string;
let now = Date.now();
const got: { path: string; headers: IncomingMessage['headers']; body: string }[] = [];
/** What the receiver answers, by path. */
const answers: Record<string, { status: number; headers?: Record<string, string> }> = {};

beforeAll(async () => {
  receiver = createHttp((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      got.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() });
      if (answers[request.url ?? '']?.status === 0) return;
      const { status, headers = {} } = answers[request.url ?? ''] ?? { status: 204 };
      response.writeHead(status, headers).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://localhost:${(receiver.address() as AddressInfo).port}`;
  at = await listening({
    webhooks: { network: { allowPrivate: ['localhost', 'quick.localhost'], lookup: async () => [{ address: '127.0.0.1', family: 4 }] }, pollMs: 20, timeoutMs: 1000 },
    now: () => now,
  });
});
afterAll(async () => {
  await at.close();
  receiver.closeAllConnections();
  receiver.close();
});
beforeEach(() => {
  got.length = 0;
});

/** As the engine does in the commit that ends a task. */
async function told(id: string, body: object, tenant = 'ours') {
  await at.store.commit([{ outbox: [{ id, tenant, taskId: null, kind: 'webhook', dueAt: now, tries: 0, body: JSON.stringify(body) }] }]);
}
const delivery = async (id: string) => (await at.ask('GET', '/api/v1/webhooks/deliveries?limit=200')).body.items.find((one: { delivery_id: string }) => one.delivery_id === id);

test('a callback is signed with the secret of callbacks, and tells the task as GET shows it', async () => {
  await at.run({ output: 5 }, { task_id: 'ended' });
  await told('msg_1', { url: `${url}/callback`, type: 'task.succeeded', task_id: 'ended' });
  await expect.poll(() => got).toHaveLength(1);
  const [{ headers, body } = { headers: {}, body: '' }] = got;
  const { secret } = (await at.ask('GET', '/api/v1/webhooks/callback_secret')).body;
  expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
    type: 'task.succeeded',
    data: { task_id: 'ended', status: 'succeeded', result: { output: 5 } },
  });
  expect(() => new Webhook(secret).verify(body.replace('5', '6'), headers as Record<string, string>)).toThrow();
  expect(headers).toMatchObject({ 'webhook-id': 'msg_1', 'content-type': 'application/json' });
  await expect.poll(() => delivery('msg_1')).toMatchObject({ status: 'delivered', tries: 1, attempts: [{ status: 204, error: null }], task_id: 'ended', next_at: null });
  expect(at.store.outbox.size).toBe(0);
});

test('standing endpoints are told of the types that they want, each with its own signature', async () => {
  const make = async (path: string, types?: string[]) => (await at.ask('POST', '/api/v1/webhooks', { json: { url: url + path, ...(types ? { types } : {}) } })).body;
  const all = await make('/all');
  const failures = await make('/failures', ['task.failed']);
  await make('/batches', ['batch.*']);
  expect(all.secret).toMatch(/^whsec_/);
  expect(JSON.stringify((await at.ask('GET', '/api/v1/webhooks')).body)).not.toContain('whsec_');
  await at.run({ fail: 'x' }, { task_id: 'failed' });
  await told('msg_2', { type: 'task.failed', task_id: 'failed' });
  await expect.poll(() => got.map(({ path }) => path).sort()).toEqual(['/all', '/failures']);
  for (const { path, body, headers } of got) new Webhook(path === '/all' ? all.secret : failures.secret).verify(body, headers as Record<string, string>);
  await at.ask('POST', '/api/v1/batches', { json: { batch_id: 'b', tasks: [{ code: '{"output":1}', language: 'python' }] } });
  await told('msg_3', { type: 'batch.ended', batch_id: 'b' });
  await expect.poll(() => got.filter(({ path }) => path === '/batches').map(({ body }) => JSON.parse(body).data.results)).toMatchObject([[{ status: 'succeeded', output: 1 }]]);
  for (const { webhook_id } of (await at.ask('GET', '/api/v1/webhooks')).body.items) expect((await at.ask('DELETE', `/api/v1/webhooks/${webhook_id}`)).status).toBe(204);
});

test('what is not taken is sent again, later each time, under the same id; and no redirect is followed', async () => {
  answers['/moved'] = { status: 302, headers: { location: `${url}/elsewhere` } };
  await told('msg_4', { url: `${url}/moved`, type: 'task.succeeded', task_id: 'ended' });
  await expect.poll(() => delivery('msg_4')).toMatchObject({ status: 'pending', tries: 1, attempts: [{ status: 302, error: expect.stringContaining('redirect') }] });
  expect(at.store.outbox.get('msg_4')).toMatchObject({ tries: 1, kind: 'webhook' });
  answers['/moved'] = { status: 200 };
  now += 10_000;
  await expect.poll(() => delivery('msg_4')).toMatchObject({ status: 'delivered', tries: 2, attempts: [{ status: 302 }, { status: 200 }] });
  expect(got.map(({ path, headers }) => [path, headers['webhook-id']])).toEqual([
    ['/moved', 'msg_4'],
    ['/moved', 'msg_4'],
  ]);
});

test('a delivery is sent again on demand', async () => {
  expect(await at.ask('POST', '/api/v1/webhooks/deliveries/msg_1/redeliver')).toMatchObject({ status: 202, body: { status: 'pending' } });
  await expect.poll(() => got.map(({ headers }) => headers['webhook-id'])).toEqual(['msg_1']);
  await expect.poll(() => delivery('msg_1')).toMatchObject({ status: 'delivered', attempts: { length: 2 } });
  expect((await at.ask('POST', '/api/v1/webhooks/deliveries/none/redeliver')).status).toBe(404);
});

test('an endpoint that says it is gone is told nothing more', async () => {
  answers['/gone'] = { status: 410 };
  const { webhook_id: id } = (await at.ask('POST', '/api/v1/webhooks', { json: { url: `${url}/gone` } })).body;
  await told('msg_5', { type: 'task.succeeded', task_id: 'ended' });
  await expect.poll(() => delivery(`msg_5.${id}`)).toMatchObject({ status: 'failed', webhook_id: id });
  await expect.poll(async () => (await at.ask('GET', '/api/v1/webhooks')).body.items).toMatchObject([{ disabled_reason: expect.stringContaining('410') }]);
  await told('msg_6', { type: 'task.succeeded', task_id: 'ended' });
  await expect.poll(() => at.store.outbox.size).toBe(0);
  expect(got).toHaveLength(1);
});

test('what a purged task would have told is dropped', async () => {
  await told('msg_7', { url: `${url}/x`, type: 'task.succeeded', task_id: 'purged' });
  await expect.poll(() => delivery('msg_7')).toMatchObject({ status: 'failed', attempts: [{ status: null, error: 'what it is about is gone' }] });
  expect(got).toEqual([]);
});

test('an endpoint that does not answer does not hold up the others', async () => {
  answers['/silent'] = { status: 0 };
  for (const n of [1, 2, 3, 4, 5, 6]) await told(`slow_${n}`, { url: `${url}/silent`, type: 'task.succeeded', task_id: 'ended' });
  await told('quick', { url: `${url.replace('localhost', 'quick.localhost')}/quick`, type: 'task.succeeded', task_id: 'ended' });
  await expect.poll(() => got.filter(({ path }) => path !== '/silent').length, { timeout: 900 }).toBe(1);
  expect(got.filter(({ path }) => path === '/silent')).toHaveLength(2);
  answers['/silent'] = { status: 204 };
});

test('private addresses are refused when an endpoint is made, and names that lead there when they are told', async () => {
  for (const bad of ['http://127.0.0.1/', 'http://10.1.2.3/', 'http://[::1]/', 'http://169.254.169.254/', 'http://0x7f000001/']) {
    expect(await at.ask('POST', '/api/v1/webhooks', { json: { url: bad } }), bad).toMatchObject({ status: 422, body: { code: 'invalid_request' } });
  }
  const closed = await listening({
    webhooks: {
      network: {
        lookup: async () => [
          { address: '93.184.216.34', family: 4 },
          { address: '127.0.0.1', family: 4 },
        ],
      },
      pollMs: 20,
    },
  });
  await closed.run({ output: 1 }, { task_id: 'ended' });
  const body = JSON.stringify({ url: 'http://looks-public.example/', type: 'task.succeeded', task_id: 'ended' });
  await closed.store.commit([{ outbox: [{ id: 'msg_8', tenant: 'ours', taskId: 'ended', kind: 'webhook', dueAt: 0, tries: 0, body }] }]);
  await expect
    .poll(async () => (await closed.ask('GET', '/api/v1/webhooks/deliveries')).body.items)
    .toMatchObject([{ status: 'pending', attempts: [{ status: null, error: expect.stringContaining('127.0.0.1, which is not a public address') }] }]);
  await closed.close();
});

test('tries are spread over about a day, and an endpoint may ask for more time', () => {
  const waits = Array.from({ length: 20 }, (_, i) => nextTryIn(i + 1, 0.5));
  const total = waits.reduce<number>((sum, wait) => sum + (wait ?? 0), 0);
  expect(waits[0]).toBe(5000);
  expect(total / 3_600_000).toBeGreaterThan(20);
  expect(total / 3_600_000).toBeLessThan(30);
  expect(waits.at(-1)).toBeUndefined();
  expect(nextTryIn(1, 0.5, 60_000)).toBe(60_000);
  expect(nextTryIn(1, 0.5, 1e9)).toBe(3_600_000);
});
