/** The MCP server over streamable HTTP: who may use it, what it refuses, how sessions begin and end. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Listening, listening } from './listening.ts';
import { INITIALIZE, initialize, mcpClient, post } from './mcp-client.ts';

const MiB = 1024 * 1024;
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const VERSION = { 'mcp-protocol-version': '2025-11-25' };
let at: Listening;
beforeAll(async () => {
  at = await listening({ maxBodyBytes: MiB });
});
afterAll(() => at.close());

/** fetch sets `Host` itself. */
function withHost(host: string): Promise<number> {
  const { port } = new URL(at.url);
  return new Promise((resolve, reject) => {
    const headers = { host, authorization: `Bearer ${at.key}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const sent = request({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(INITIALIZE));
  });
}

describe('who asks', () => {
  test('without a valid key nothing is answered but 401, which says how to authenticate', async () => {
    for (const key of [null, 'fm_wrong', `fm_${'A'.repeat(43)}`]) {
      const response = await post(at.url, key, INITIALIZE);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
      expect(await response.json()).toMatchObject({ code: 'unauthorized' });
    }
  });

  test('tenants see nothing of each other: no task, no call, no file, no resource', async () => {
    await using ours = await mcpClient(at.url, at.key);
    await using theirs = await mcpClient(at.url, at.foreignKey);
    await ours.call('run_code', { language: 'python', code: JSON.stringify({ call: { tool: 'pay', args: {}, kind: 'approval' } }), task_id: 'mine' });
    const { value: file } = await ours.call('upload_file', { name: 'a', text: 'secret' });
    expect((await ours.call('list_tasks')).value.tasks).toEqual([expect.objectContaining({ task_id: 'mine', status: 'waiting' })]);
    expect((await theirs.call('list_tasks')).value.tasks).toEqual([]);
    expect((await theirs.call('list_waiting_calls')).value.calls).toEqual([]);
    expect((await theirs.client.listResources()).resources).toEqual([]);
    for (const name of ['get_task', 'read_log', 'inspect_task', 'pause_task', 'resume_task', 'cancel_task'])
      expect((await theirs.call(name, { task_id: 'mine' })).error, name).toMatchObject({ code: 'not_found' });
    for (const name of ['approve_call', 'reject_call']) expect((await theirs.call(name, { task_id: 'mine', call_id: 'call_1' })).error, name).toMatchObject({ code: 'not_found' });
    expect((await theirs.call('answer_call', { task_id: 'mine', call_id: 'call_1', output: 1 })).error).toMatchObject({ code: 'not_found' });
    expect((await theirs.call('read_output', { task_id: 'mine', part: 'code' })).error).toMatchObject({ code: 'not_found' });
    expect((await theirs.call('download_file', { file_id: file.file_id })).error).toMatchObject({ code: 'not_found' });
    await expect(theirs.client.readResource({ uri: 'fermata://tasks/mine' })).rejects.toMatchObject({ code: -32002 });
    await expect(theirs.client.readResource({ uri: `fermata://files/${file.file_id}` })).rejects.toMatchObject({ code: -32002 });
    expect((await ours.call('cancel_task', { task_id: 'mine' })).value).toMatchObject({ status: 'cancelled' });
  });

  test('a session is there for the key that opened it and for no other, not even of the same tenant', async () => {
    const id = await initialize(at.url, at.key);
    const session = { 'mcp-session-id': id, ...VERSION };
    for (const key of [at.foreignKey, await at.newKey(['read'])]) expect((await post(at.url, key, PING, session)).status).toBe(404);
    expect((await post(at.url, at.key, PING, session)).status).toBe(200);
  });

  test('a key is shown the tools that it may use, and refused the others', async () => {
    await using reader = await mcpClient(at.url, await at.newKey(['read']));
    await using runner = await mcpClient(at.url, await at.newKey(['read', 'run']));
    const shown = async ({ client }: { client: { listTools(): Promise<{ tools: { name: string }[] }> } }) => (await client.listTools()).tools.map(({ name }) => name);
    expect(await shown(reader)).not.toContain('run_code');
    expect(await shown(reader)).toContain('get_task');
    expect(await shown(runner)).toContain('run_code');
    expect(await shown(runner)).not.toContain('approve_call');
    expect((await reader.call('run_code', { language: 'python', code: '{}' })).error).toMatchObject({ code: 'forbidden' });
    await runner.call('run_code', { language: 'python', code: JSON.stringify({ call: { tool: 'pay', args: {}, kind: 'approval' } }), task_id: 'held' });
    for (const name of ['approve_call', 'reject_call']) expect((await runner.call(name, { task_id: 'held', call_id: 'call_1' })).error).toMatchObject({ code: 'forbidden' });
    expect((await runner.call('answer_call', { task_id: 'held', call_id: 'call_1', output: 1 })).error).toMatchObject({ code: 'forbidden' });
    await runner.call('cancel_task', { task_id: 'held' });
  });
});

describe('what is refused', () => {
  const session = async () => ({ 'mcp-session-id': await initialize(at.url, at.key), ...VERSION });

  test('junk and hostile requests get the status that says why, and the server goes on', async () => {
    const known = await session();
    const tries: [number, string, unknown, Record<string, string>][] = [
      [400, 'no JSON', '{"jsonrpc": ', known],
      [400, 'JSON that is no message', { hello: 1 }, known],
      [400, 'an empty body', '', known],
      [400, 'a batch of too many', Array.from({ length: 101 }, (_, id) => ({ ...PING, id })), known],
      [400, 'no session', PING, {}],
      [400, 'a second initialization', INITIALIZE, known],
      [400, 'initialization among others', [INITIALIZE, PING], {}],
      [404, 'a session that is not there', PING, { 'mcp-session-id': 'fbc8b1c8-0f3c-4f0e-8d3f-000000000000', ...VERSION }],
      [404, 'a session that is no id', PING, { 'mcp-session-id': '../../etc' }],
      [400, 'a protocol version that is not known', PING, { ...known, 'mcp-protocol-version': '1999-01-01' }],
      [406, 'no stream accepted', PING, { ...known, accept: 'application/json' }],
      [415, 'a form', 'a=1', { ...known, 'content-type': 'application/x-www-form-urlencoded' }],
      [413, 'a huge body', `{"a": "${'x'.repeat(2 * MiB)}"}`, known],
      [413, 'a huge body without a session', `{"a": "${'x'.repeat(2 * MiB)}"}`, {}],
      [403, 'a page of elsewhere', INITIALIZE, { origin: 'https://evil.example' }],
      [403, 'a page of elsewhere on a known port', INITIALIZE, { origin: `http://localhost.evil.example:${new URL(at.url).port}` }],
      [403, 'a page without an origin', INITIALIZE, { origin: 'null' }],
    ];
    for (const [status, what, body, headers] of tries) {
      const response = await post(at.url, at.key, body, headers);
      await response.text();
      expect(`${what}: ${response.status}`).toBe(`${what}: ${status}`);
    }
    const other = await fetch(`${at.url}/mcp`, { method: 'PUT', headers: { authorization: `Bearer ${at.key}`, ...known } });
    expect(other.status).toBe(405);
    expect((await post(at.url, at.key, PING, known)).status).toBe(200);
    expect(at.errors).toEqual([]);
  });

  test('names that lead to a loopback address are refused, its own are not', async () => {
    for (const host of ['evil.example', 'evil.example:7070', '127.0.0.1.evil.example', 'localhost.evil.example', '10.0.0.1']) expect(await withHost(host), host).toBe(403);
    const { port } = new URL(at.url);
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, 'localhost', '[::1]:7070', '127.0.0.1']) expect(await withHost(host), host).toBe(200);
  });

  test('a proxy whose name was told, and a page that may call, are let in', async () => {
    const told = await listening({ mcp: { hosts: ['fermata.example'] }, corsOrigins: ['https://app.example'] });
    try {
      const ask = (headers: Record<string, string>) =>
        told.server.fetch(
          new Request('http://fermata.example/mcp', {
            method: 'POST',
            headers: { authorization: `Bearer ${told.key}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
            body: JSON.stringify(INITIALIZE),
          }),
        );
      expect((await ask({})).status).toBe(200);
      const page = await ask({ origin: 'https://app.example' });
      expect(page.status).toBe(200);
      expect(page.headers.get('access-control-expose-headers')).toContain('mcp-session-id');
      expect((await ask({ origin: 'https://other.example' })).status).toBe(403);
    } finally {
      await told.close();
    }
  });

  test('deeply nested arguments are an error of the tool', async () => {
    const known = await session();
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const response = await post(
      at.url,
      at.key,
      `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"run_code","arguments":{"language":"python","code":"1","input":${deep}}}}`,
      known,
    );
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('nested more than');
    expect(at.errors).toEqual([]);
  });
});

describe('sessions', () => {
  test('DELETE ends one, and its tasks go on', async () => {
    const ours = await mcpClient(at.url, at.key);
    await ours.call('run_code', { language: 'python', code: JSON.stringify({ hold: true }), wait_seconds: 0, task_id: 'outlives' });
    const { sessionId = '' } = ours.transport;
    await ours.transport.terminateSession();
    expect((await post(at.url, at.key, PING, { 'mcp-session-id': sessionId, ...VERSION })).status).toBe(404);
    await ours.client.close();
    await using again = await mcpClient(at.url, at.key);
    expect((await again.call('get_task', { task_id: 'outlives' })).value.status).toBe('running');
    await again.call('cancel_task', { task_id: 'outlives' });
  });

  test('a tenant has so many: the one that was unused longest makes room, and where all are in use a new one is refused', async () => {
    const few = await listening({ mcp: { maxSessions: 2 } });
    try {
      const [first, second] = [await initialize(few.url, few.key), await initialize(few.url, few.key)];
      const alive = async (id: string) => (await post(few.url, few.key, PING, { 'mcp-session-id': id, ...VERSION })).status;
      expect(await alive(first)).toBe(200);
      const third = await initialize(few.url, few.key);
      expect([await alive(second), await alive(first), await alive(third)]).toEqual([404, 200, 200]);
      const gone = new AbortController();
      for (const id of [first, third]) {
        const headers = { authorization: `Bearer ${few.key}`, accept: 'text/event-stream', 'mcp-session-id': id, ...VERSION };
        expect((await fetch(`${few.url}/mcp`, { headers, signal: gone.signal })).status).toBe(200);
      }
      const refused = await post(few.url, few.key, INITIALIZE);
      expect(refused.status).toBe(429);
      expect(refused.headers.get('retry-after')).not.toBeNull();
      expect((await post(few.url, few.foreignKey, INITIALIZE)).status).toBe(200);
      gone.abort();
      await expect.poll(async () => (await post(few.url, few.key, INITIALIZE)).status, { timeout: 20_000 }).toBe(200);
    } finally {
      await few.close();
    }
  });

  test('a tenant has no more of them where many are opened at once', async () => {
    const few = await listening({ mcp: { maxSessions: 2 } });
    try {
      const opened = await Promise.all(Array.from({ length: 12 }, () => post(few.url, few.key, INITIALIZE)));
      const ids = opened.flatMap(({ status, headers }) => (status === 200 ? [headers.get('mcp-session-id') ?? ''] : []));
      const alive = await Promise.all(ids.map(async (id) => (await post(few.url, few.key, PING, { 'mcp-session-id': id, ...VERSION })).status === 200));
      expect(opened.every(({ status }) => status === 200 || status === 429)).toBe(true);
      expect(alive.filter(Boolean).length).toBeGreaterThan(0);
      expect(alive.filter(Boolean).length).toBeLessThanOrEqual(2);
    } finally {
      await few.close();
    }
  });

  test('one that nobody uses ends', async () => {
    const brief = await listening({ mcp: { idleMs: 50 } });
    try {
      const id = await initialize(brief.url, brief.key);
      // Each look is a use of it.
      await expect.poll(async () => (await post(brief.url, brief.key, PING, { 'mcp-session-id': id, ...VERSION })).status, { timeout: 20_000, interval: 300 }).toBe(404);
    } finally {
      await brief.close();
    }
  });

  test('a stream that was cut off goes on after the event that was seen last', async () => {
    const id = await initialize(at.url, at.key);
    const known = { 'mcp-session-id': id, ...VERSION };
    const run = {
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      params: { name: 'run_code', arguments: { language: 'python', code: '{"hold": true}', task_id: 'cut', wait_seconds: 60 } },
    };
    const cut = await post(at.url, at.key, run, known);
    const reader = (cut.body as ReadableStream<Uint8Array>).getReader();
    const first = new TextDecoder().decode((await reader.read()).value);
    const lastId = /^id: (.+)$/m.exec(first)?.[1] ?? '';
    expect(lastId).not.toBe('');
    await reader.cancel();
    await using other = await mcpClient(at.url, at.key);
    await expect.poll(async () => (await other.call('get_task', { task_id: 'cut' })).value.status, { timeout: 20_000 }).toBe('running');
    // The client has only gone: its task goes on.
    await other.call('cancel_task', { task_id: 'cut' });
    const headers = { authorization: `Bearer ${at.key}`, accept: 'text/event-stream', ...known };
    const resumed = await fetch(`${at.url}/mcp`, { headers: { ...headers, 'last-event-id': lastId } });
    expect(resumed.status).toBe(200);
    let text = '';
    for await (const chunk of resumed.body as ReadableStream<Uint8Array>) {
      text += new TextDecoder().decode(chunk);
      if (text.includes('"id":7')) break;
    }
    expect(text).toContain('cancelled');
    expect((await fetch(`${at.url}/mcp`, { headers: { ...headers, 'last-event-id': 'forged' } })).status).toBe(400);
  });

  test('a server that closes ends them', async () => {
    const closing = await listening();
    const id = await initialize(closing.url, closing.key);
    const headers = { authorization: `Bearer ${closing.key}`, accept: 'text/event-stream', 'mcp-session-id': id, ...VERSION };
    const stream = await fetch(`${closing.url}/mcp`, { headers });
    await closing.close();
    await expect(stream.text()).resolves.not.toContain('error');
  });
});
