/** Decisions on calls over HTTP, the inbox, batches, sessions, files, tools, images. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Listening, listening } from './listening.ts';

let at: Listening;
beforeAll(async () => {
  at = await listening({ images: async () => [{ name: 'cpython', sandbox: 'wasm', digest: 'sha256:1', languages: [{ language: 'python', version: '3.13' }], libraries: [] }] });
});
afterAll(() => at.close());
const api = '/api/v1';
const wait = (kind: string, id: string) => at.run({ call: { tool: 'pay', args: { amount: 1 }, kind } }, { task_id: id });
const decide = (id: string, what: string, json?: unknown, call = 'call_1') => at.ask('POST', `${api}/tasks/${id}/calls/${call}/${what}`, json === undefined ? {} : { json });

test('an approval with other arguments; the same decision again is no error, another one a conflict', async () => {
  await wait('approval', 'approved');
  expect((await at.ask('GET', `${api}/approvals`)).body.items).toMatchObject([{ task_id: 'approved', call_id: 'call_1', tool: 'pay', waits_for: 'approval' }]);
  const decision = { arguments: { amount: 2 }, comment: 'less' };
  expect(await decide('approved', 'approve', decision)).toMatchObject({
    status: 200,
    body: { status: 'settled', edited_arguments: { amount: 2 }, by: expect.stringContaining('key ') },
  });
  expect(await decide('approved', 'approve', decision)).toMatchObject({ status: 200 });
  expect(await decide('approved', 'reject', { reason: 'no' })).toMatchObject({ status: 409, body: { code: 'conflict' } });
  expect((await at.ask('GET', `${api}/tasks/approved?wait_seconds=5`)).body).toMatchObject({ status: 'succeeded' });
  expect((await at.ask('GET', `${api}/tasks/approved/calls`)).body.items).toMatchObject([{ call_id: 'call_1', output: { amount: 2 } }]);
});

test('a rejection, without a body too', async () => {
  await wait('approval', 'rejected');
  expect(await decide('rejected', 'reject')).toMatchObject({ status: 200, body: { error: { name: 'ApprovalRejected' } } });
});

test('a review is confirmed with another value, null too', async () => {
  await wait('review', 'reviewed');
  expect(await decide('reviewed', 'approve', { value: null })).toMatchObject({ status: 200 });
});

test('results of client tools, and calls of unknown outcome', async () => {
  await wait('client_tool', 'client');
  expect(await decide('client', 'approve')).toMatchObject({ status: 409, body: { code: 'invalid_state' } });
  expect(await decide('client', 'result', {})).toMatchObject({ status: 422 });
  expect(await decide('client', 'result', { output: 1, error: { message: 'x' } })).toMatchObject({ status: 422 });
  expect(await decide('client', 'result', { output: 1 }, 'call_9')).toMatchObject({ status: 404 });
  expect(await decide('client', 'result', { output: null })).toMatchObject({ status: 200, body: { output: null } });
  await wait('client_tool', 'client-error');
  expect(await decide('client-error', 'result', { error: { message: 'x' } })).toMatchObject({ status: 200, body: { error: { message: 'x' } } });
  await wait('outcome_unknown', 'unknown');
  expect((await at.ask('GET', `${api}/approvals?kind=outcome_unknown,client_tool`)).body.items).toHaveLength(1);
  expect(await decide('unknown', 'retry')).toMatchObject({ status: 200 });
  expect((await at.ask('GET', `${api}/approvals?kind=what`)).status).toBe(422);
});

test('a batch: counts, results, cancelled as a whole; one bad member is named and nothing is made', async () => {
  const task = (program: object) => ({ language: 'javascript', code: JSON.stringify(program) });
  const created = await at.ask('POST', `${api}/batches`, { json: { tasks: [task({ output: 1 }), task({ fail: 'x' }), task({ hold: true })], max_concurrency: 2 } });
  expect(created).toMatchObject({ status: 201, body: { total: 3, max_concurrency: 2, task_ids: { length: 3 } } });
  const get = () => at.ask('GET', `${api}/batches/${created.body.batch_id}`);
  await expect.poll(async () => (await get()).body.counts).toEqual({ succeeded: 1, failed: 1, running: 1 });
  expect((await get()).body.results).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ status: 'succeeded', output: 1 }),
      expect.objectContaining({ status: 'failed', error: expect.objectContaining({ message: 'x' }) }),
    ]),
  );
  expect(await at.ask('POST', `${api}/batches/${created.body.batch_id}/control`, { json: { action: 'cancel' } })).toMatchObject({
    status: 200,
    body: { counts: { cancelled: 1 }, completed_at: expect.any(String) },
  });
  const bad = await at.ask('POST', `${api}/batches`, { json: { tasks: [task({}), { code: '1' }], batch_id: 'bad' } });
  expect(bad).toMatchObject({ status: 422, body: { detail: expect.stringMatching(/^tasks\.1: code needs a language/) } });
  expect((await at.ask('GET', `${api}/batches/bad`)).status).toBe(404);
  expect((await at.ask('POST', `${api}/batches`, { json: { tasks: [] } })).status).toBe(422);
});

test('sessions are listed and ended, whatever their names are', async () => {
  const name = 'user 1/é';
  await at.run({ output: 1 }, { session_id: name, shared_interpreter: true });
  expect((await at.ask('GET', `${api}/sessions`)).body.items).toMatchObject([{ session_id: name, head: 1 }]);
  expect((await at.ask('DELETE', `${api}/sessions/${encodeURIComponent(name)}`)).status).toBe(204);
  expect((await at.ask('DELETE', `${api}/sessions/${encodeURIComponent(name)}`)).status).toBe(404);
});

test('files go in as a body or a form, and come out as they were', async () => {
  const bytes = new Uint8Array([0, 255, 10]);
  const plain = await at.ask('POST', `${api}/files?name=${encodeURIComponent("a'b.bin")}`, { body: bytes, headers: { 'content-type': 'application/octet-stream' } });
  expect(plain).toMatchObject({ status: 201, body: { name: "a'b.bin", bytes: 3 } });
  const got = await fetch(`${at.url}${api}/files/${plain.body.file_id}`, { headers: { authorization: `Bearer ${at.key}` } });
  expect(new Uint8Array(await got.arrayBuffer())).toEqual(bytes);
  expect(got.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''a%27b.bin");
  expect(got.headers.get('content-type')).toBe('application/octet-stream');
  const form = new FormData();
  form.append('file', new Blob(['x']), 'x.txt');
  expect(await at.ask('POST', `${api}/files`, { body: form })).toMatchObject({ status: 201, body: { name: 'x.txt', bytes: 1 } });
  expect(await at.ask('POST', `${api}/files`, { body: new FormData() })).toMatchObject({ status: 422 });
  expect((await at.ask('GET', `${api}/files/file_none`)).status).toBe(404);
});

test('tools of each kind are registered, listed with stubs, and removed; a taken name is a conflict', async () => {
  const parameters = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  const tools = [
    { kind: 'http', name: 'web.get', method: 'GET', url: 'https://example.com/{id}' },
    { kind: 'client', name: 'ask', description: 'Asks', parameters },
    { kind: 'code', name: 'twice', language: 'python', code: 'input["n"] * 2', parameters, tool_constraints: { timeout_seconds: 5 } },
  ];
  for (const json of tools) expect(await at.ask('POST', `${api}/tools`, { json })).toMatchObject({ status: 201, body: { name: json.name, kind: json.kind } });
  const list = await at.ask('GET', `${api}/tools?stubs=typescript`);
  expect(list.body.items.map((tool: { name: string }) => tool.name)).toEqual(['ask', 'crm.find', 'twice', 'web.get']);
  expect(list.body.stubs).toContain('ask(args: { n: number }): Promise<any>;');
  expect((await at.ask('GET', `${api}/tools?stubs=python`)).body.stubs).toContain('def ask(n: int) -> Any:');
  expect(await at.ask('POST', `${api}/tools`, { json: tools[1] })).toMatchObject({ status: 409, body: { code: 'conflict' } });
  expect(await at.ask('POST', `${api}/tools`, { json: { kind: 'client', name: 'crm.find' } })).toMatchObject({ status: 409 });
  expect(await at.ask('POST', `${api}/tools`, { json: { kind: 'client', name: 'a b' } })).toMatchObject({ status: 422 });
  expect(await at.ask('POST', `${api}/tools`, { json: { kind: 'code', name: 'x', language: 'python', code: '1', tool_constraints: { max_checkpoint_mb: 0 } } })).toMatchObject({
    status: 422,
  });
  expect(await at.ask('POST', `${api}/tools`, { json: { kind: 'mcp', name: 'x' } })).toMatchObject({ status: 422 });
  expect((await at.ask('DELETE', `${api}/tools/ask`)).status).toBe(204);
  expect((await at.ask('DELETE', `${api}/tools/ask`)).status).toBe(404);
  expect((await at.ask('DELETE', `${api}/tools/crm.find`)).status).toBe(409);
});

test('images, health, and what there is not', async () => {
  expect((await at.ask('GET', `${api}/images`)).body.items).toHaveLength(1);
  expect(await at.ask('GET', '/healthz', { key: null })).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect(await at.ask('GET', '/readyz', { key: null })).toMatchObject({ status: 200, body: { status: 'ready' } });
  expect(await at.ask('GET', `${api}/nothing`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect(await at.ask('PUT', `${api}/tasks`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
});

test('policy is asked what would become of a call', async () => {
  const policy = [{ tool: 'crm.*', when: { amount: { gt: 5 } }, action: 'deny', reason: 'too much' }];
  const verdict = (amount: number) => at.ask('POST', `${api}/policy/test`, { json: { policy, tool: 'crm.find', arguments: { amount } } });
  expect(await verdict(6)).toMatchObject({ status: 200, body: { action: 'deny', decided_by: 'task', rule: 1, reason: 'too much', why: expect.stringContaining('amount is 6') } });
  expect(await verdict(5)).toMatchObject({ status: 200, body: { action: 'allow', decided_by: 'tool', rule: null } });
  expect((await at.ask('POST', `${api}/policy/test`, { json: { tool: 'nothing' } })).status).toBe(404);
  expect((await at.ask('POST', `${api}/policy/test`, { json: { tool: 'crm.find', policy: [{ tool: 'x', action: 'hold' }] } })).status).toBe(422);
  const unjudgeable = [{ tool: 'crm.find', when: { name: { matches: 'a\\-b' } }, action: 'deny' }];
  expect((await at.ask('POST', `${api}/policy/test`, { json: { tool: 'crm.find', policy: unjudgeable } })).status).toBe(422);
});

test('a tenant sets its rules, which hold beside those of a task and for no other tenant', async () => {
  const ask = (policy: unknown[], json: Record<string, unknown> = {}) => at.ask('POST', `${api}/policy/test`, { json: { policy, tool: 'crm.find', ...json } });
  const policy = [
    { tool: 'crm.*', action: 'rate_limit', rate: { calls: 5, window_seconds: 60, per: 'tenant' } },
    { tool: 'crm.*', time: { from: '22:00', to: '06:00' }, action: 'deny', reason: 'at night' },
    { tool: 'crm.find', calls: { gte: 3 }, action: 'require_approval', expires_after_seconds: 60 },
  ];
  const set = await at.ask('PUT', `${api}/policy`, { json: { policy } });
  expect(set).toMatchObject({ status: 200, body: { tenant: policy, server: [] } });
  expect((await at.ask('GET', `${api}/policy`)).body).toEqual(set.body);
  const allow = [{ tool: '*', action: 'allow' }];
  expect((await ask(allow, { at: '2026-03-02T23:00:00Z' })).body).toMatchObject({ action: 'deny', decided_by: 'tenant', rule: 2, reason: 'at night', rates: [] });
  expect((await ask(allow, { at: '2026-03-02T12:00:00Z', calls: 3 })).body).toMatchObject({
    action: 'require_approval',
    decided_by: 'tenant',
    rule: 3,
    rates: [{ of: 'tenant', rule: 1 }],
  });
  const milder = (await ask(allow, { at: '2026-03-02T12:00:00Z', calls: 2 })).body;
  expect(milder).toMatchObject({ action: 'allow', decided_by: 'task', rule: 1 });
  expect(milder.rules.map(({ of, rule, fits }: { of: string; rule: number; fits: boolean }) => [of, rule, fits])).toEqual([
    ['task', 1, true],
    ['tenant', 1, true],
    ['tenant', 2, false],
    ['tenant', 3, false],
  ]);
  expect(await at.ask('PUT', `${api}/policy`, { json: { policy: [{ tool: 'x', action: 'rate_limit' }] } })).toMatchObject({
    status: 422,
    body: { detail: expect.stringContaining('rule 1: rate_limit needs a rate') },
  });
  expect(await ask([policy[0]])).toMatchObject({ status: 422, body: { detail: expect.stringContaining('a rate per tenant is for rules of the server or of the tenant') } });
  expect((await at.ask('PUT', `${api}/policy`, { json: { policy: [] } })).body).toEqual({ tenant: [], server: [] });
});
