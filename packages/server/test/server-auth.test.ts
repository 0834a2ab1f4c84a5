/** Keys, scopes and tenants; tenants see nothing of each other, by any route. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKeyStore } from '../src/auth/keys.ts';
import { createServer } from '../src/server.ts';
import { type Listening, listening } from './listening.ts';
import { MemoryDocuments } from './memory-documents.ts';

let at: Listening;
let document: { paths: Record<string, Record<string, { parameters?: { name: string; in: string }[]; security?: { apiKey: string[] }[] }>> };
/** Of the first tenant: something for every kind of id. */
const ids: Record<string, string> = {};
const bodies: Record<string, unknown> = {
  '/control': { action: 'cancel' },
  '/result': { output: 1 },
};

beforeAll(async () => {
  at = await listening();
  document = (await at.ask('GET', '/openapi.json')).body;
  await at.run({ call: { tool: 'pay', args: {}, kind: 'approval' } }, { task_id: 'secret-task', session_id: 'secret-session', shared_interpreter: true });
  const batch = await at.ask('POST', '/api/v1/batches', { json: { batch_id: 'secret-batch', tasks: [{ code: '{}', language: 'python' }] } });
  const file = await at.ask('POST', '/api/v1/files?name=a', { body: 'secret' });
  await at.ask('POST', '/api/v1/tools', { json: { kind: 'client', name: 'secret_tool' } });
  const webhook = await at.ask('POST', '/api/v1/webhooks', { json: { url: 'https://example.com/' } });
  Object.assign(ids, {
    tasks: 'secret-task',
    batches: batch.body.batch_id,
    files: file.body.file_id,
    tools: 'secret_tool',
    webhooks: webhook.body.webhook_id,
    sessions: 'secret-session',
  });
});
afterAll(() => at.close());

function operations() {
  return Object.entries(document.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })));
}

/** The id of the first tenant that goes into a path. */
const named = (path: string) => (path.includes('/deliveries/') ? 'secret_delivery' : (ids[path.split('/')[3] ?? ''] ?? ids.tasks ?? ''));
const filled = (path: string) => path.replace('{call_id}', 'call_1').replace(/\{(name|id)\}/, named(path));

const bodyOf = (path: string) => {
  const json = Object.entries(bodies).find(([end]) => path.endsWith(end))?.[1];
  return json === undefined ? {} : { json };
};

test('every route under the base path needs a key', async () => {
  const routes = operations().filter(({ path }) => /^\/(api|v1)/.test(path));
  expect(routes.length).toBeGreaterThan(40);
  for (const { path, method } of routes) {
    for (const key of [null, 'fm_wrong', `fm_${'A'.repeat(43)}`]) {
      const answer = await at.ask(method, filled(path), { key });
      expect([answer.status, codeIn(answer.body)], `${method} ${path}`).toEqual([401, path.startsWith('/v1') ? 'invalid_api_key' : 'unauthorized']);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
  }
});

test('with the key of another tenant everything that has an id is not found', async () => {
  const withId = operations().filter(({ path }) => path.includes('{'));
  expect(withId.length).toBeGreaterThan(25);
  for (const { path, method } of withId) {
    const answer = await at.ask(method, filled(path), { key: at.foreignKey, ...bodyOf(path) });
    expect(answer, `${method} ${path}`).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const madeUp = await at.ask(method, filled(path).replace(named(path), 'made-up'), { key: at.foreignKey, ...bodyOf(path) });
    expect(JSON.stringify(answer.body).replaceAll(named(path), 'made-up'), 'it is told as what never was').toBe(JSON.stringify(madeUp.body));
  }
  expect(await at.ask('GET', '/api/v1/tasks/secret-task')).toMatchObject({ status: 200, body: { status: 'waiting' } });
});

test('lists of another tenant are empty', async () => {
  for (const path of ['/tasks', '/approvals', '/sessions', '/webhooks', '/webhooks/deliveries']) {
    expect((await at.ask('GET', `/api/v1${path}`, { key: at.foreignKey })).body.items, path).toEqual([]);
  }
  expect(JSON.stringify((await at.ask('GET', '/api/v1/tools', { key: at.foreignKey })).body)).not.toContain('secret_tool');
  const own = await at.ask('POST', '/api/v1/tasks', { key: at.foreignKey, json: { task_id: 'secret-task', code: '{"output":1}', language: 'python', wait_seconds: 5 } });
  expect(own, 'the same id is free for another tenant').toMatchObject({ status: 201, body: { status: 'succeeded' } });
  expect(await at.ask('POST', '/api/v1/tasks', { key: at.foreignKey, json: { code: '1', language: 'python', files: [{ file_id: ids.files, path: '/work/a' }] } })).toMatchObject({
    status: 422,
  });
});

/** What speaks OpenAI's protocol has its errors, too. */
function codeIn(body: { code?: string; error?: { code: string } }): string | undefined {
  return body.error ? body.error.code : body.code;
}

describe('scopes', () => {
  test.each(['read', 'run', 'approve'] as const)('a key with %s alone may do what needs that, and nothing else', async (scope) => {
    const key = await at.newKey([scope], 'scoped');
    for (const { path, method, operation } of operations()) {
      const needed = (operation.security ?? []).flatMap(({ apiKey }) => apiKey ?? []);
      if (needed.length === 0) continue;
      const { status, body } = await at.ask(method, filled(path), { key, ...bodyOf(path) });
      if (needed.includes(scope)) expect([401, 403], `${method} ${path}`).not.toContain(status);
      else if (path.endsWith('/result')) expect([status, body.code], `${method} ${path}`).toEqual([404, 'not_found']);
      else expect([status, codeIn(body)], `${method} ${path}`).toEqual([403, path.startsWith('/v1') ? 'insufficient_permissions' : 'forbidden']);
    }
  });

  test('results of client tools need run; settling what nobody knows needs approve', async () => {
    const [run, approve] = [await at.newKey(['run']), await at.newKey(['approve'])];
    await at.run({ call: { tool: 't', args: {}, kind: 'client_tool' } }, { task_id: 'scope-client' });
    await at.run({ call: { tool: 't', args: {}, kind: 'outcome_unknown' } }, { task_id: 'scope-unknown' });
    const post = (id: string, key: string) => at.ask('POST', `/api/v1/tasks/${id}/calls/call_1/result`, { json: { output: 1 }, key });
    expect((await post('scope-client', approve)).status).toBe(403);
    expect((await post('scope-unknown', run)).status).toBe(403);
    expect((await post('scope-client', run)).status).toBe(200);
    expect((await post('scope-unknown', approve)).status).toBe(200);
  });
});

test('a store holds no key, only its digest; revoked and expired keys do not work', async () => {
  const store = new MemoryDocuments();
  let now = 1000;
  const keys = createKeyStore(store, () => now);
  const made = await keys.create({ tenant: 't', scopes: ['read'], name: 'ci' });
  expect(made.key).toMatch(/^fm_[A-Za-z0-9_-]{43}$/);
  expect(JSON.stringify([...store.rows.values()])).not.toContain(made.key.slice(3));
  expect(await keys.caller(made.key)).toEqual({ tenant: 't', scopes: ['read'], by: 'ci' });
  expect(await keys.list('t')).toEqual([{ keyId: made.keyId, tenant: 't', name: 'ci', scopes: ['read'], createdAt: 1000, expiresAt: null }]);
  expect(await keys.list('other')).toEqual([]);
  const short = await keys.create({ tenant: 't', scopes: ['read'], expiresAt: 2000 });
  expect(await keys.caller(short.key)).toBeDefined();
  now = 2000;
  expect(await keys.caller(short.key)).toBeUndefined();
  await keys.revoke(made.keyId);
  expect(await keys.caller(made.key)).toBeUndefined();
  await expect(keys.revoke(made.keyId)).rejects.toMatchObject({ code: 'not_found' });
});

test('the key of development works on loopback only', async () => {
  const dev = await listening({ development: true });
  expect((await dev.ask('GET', '/api/v1/tasks', { key: dev.server.developmentKey ?? '' })).status).toBe(200);
  await dev.close();
  const server = createServer({ engine: at.engine, store: at.store, tools: {} as never, development: true });
  await expect(server.listen({ host: '0.0.0.0', port: 0 })).rejects.toMatchObject({ code: 'invalid_request' });
  expect(at.server.developmentKey).toBeUndefined();
});

test('a tenant has so many open requests and no more', async () => {
  const busy = await listening({ maxOpenRequests: 1 });
  await busy.ask('POST', '/api/v1/tasks', { json: { code: '{"hold":true}', language: 'python', task_id: 'a' } });
  const gone = new AbortController();
  const stream = await fetch(`${busy.url}/api/v1/tasks/a/events`, { headers: { authorization: `Bearer ${busy.key}` }, signal: gone.signal });
  expect(stream.status).toBe(200);
  const answer = await busy.ask('GET', '/api/v1/tasks/a/events');
  expect(answer).toMatchObject({ status: 429, body: { code: 'resources_exhausted' } });
  expect(answer.headers.get('retry-after')).toBe('5');
  gone.abort();
  await expect.poll(async () => (await busy.ask('GET', '/api/v1/tasks/a?wait_seconds=0.01')).status).toBe(200);
  await busy.close();
});
