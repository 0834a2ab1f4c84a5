/** The client against a server over real HTTP: every call, errors with their code, events across broken connections, client tools. */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient, FermataApiError, type FermataClient } from '@fermata/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Listening, listening } from '../../server/test/listening.ts';
import { readEvents } from '../src/event-stream.ts';

let at: Listening;
let client: FermataClient;
beforeAll(async () => {
  at = await listening();
  client = createClient({ url: at.url, key: at.key });
});
afterAll(() => at.close());
const program = (what: object) => ({ language: 'javascript' as const, code: JSON.stringify(what) });

test('tasks: create, wait, get, list, control, look into, fork, verify, purge', async () => {
  const created = await client.tasks.create(program({ output: 1 }));
  const done = await client.tasks.wait(created.task_id);
  expect(done.status === 'succeeded' && done.result.output).toBe(1);
  expect(await client.tasks.create({ ...program({ fail: 'x' }), wait_seconds: 5 })).toMatchObject({ status: 'failed', error: { message: 'x' } });
  const { task_id: id } = await client.tasks.create({ ...program({ hold: true }), task_id: 'odd.id' });
  expect(await client.tasks.wait(id, { timeoutSeconds: 0.05 })).toMatchObject({ status: 'running' });
  expect(await client.tasks.pause(id)).toMatchObject({ status: 'paused' });
  expect(await client.tasks.state(id)).toMatchObject({ stack: [{ line: 1 }] });
  const checkpoint = await client.tasks.checkpoint(id);
  expect((await client.tasks.checkpoints(id)).items).toEqual([checkpoint]);
  expect(await client.tasks.fork(id, { checkpoint_id: checkpoint.checkpoint_id })).toMatchObject({ fork_of: { task_id: id } });
  await client.tasks.resume(id);
  expect(await client.tasks.cancel(id, { wait_seconds: 1 })).toMatchObject({ status: 'cancelled' });
  expect(await client.tasks.verify(id)).toMatchObject({ verified: true });
  expect((await client.tasks.code(id)).language).toBe('javascript');
  expect((await client.tasks.log(id)).stdout).toBe('');
  expect((await client.tasks.journal(id, { limit: 1 })).items).toHaveLength(1);
  expect((await client.tasks.list({ status: 'cancelled' })).items).toHaveLength(1);
  await client.tasks.purge(id);
  await expect(client.tasks.get(id)).rejects.toMatchObject({ name: 'FermataApiError', code: 'not_found', status: 404 });
});

test('calls, batches, sessions, files, tools, webhooks, images, the short form', async () => {
  await client.tasks.create({ ...program({ call: { tool: 'pay', args: {}, kind: 'approval' } }), task_id: 'pays', session_id: 's', shared_interpreter: true, wait_seconds: 5 });
  expect((await client.approvals()).items).toMatchObject([{ task_id: 'pays', call_id: 'call_1' }]);
  expect(await client.calls.approve('pays', 'call_1')).toMatchObject({ status: 'settled' });
  await expect(client.calls.reject('pays', 'call_1')).rejects.toMatchObject({ code: 'conflict' });
  expect(await client.calls.list('pays')).toHaveLength(1);
  const batch = await client.batches.create({ tasks: [program({ output: 1 })] });
  await expect.poll(() => client.batches.get(batch.batch_id)).toMatchObject({ counts: { succeeded: 1 } });
  expect(await client.batches.cancel(batch.batch_id)).toMatchObject({ total: 1 });
  expect((await client.sessions.list()).items).toMatchObject([{ session_id: 's' }]);
  await client.sessions.end('s');
  const bytes = new Uint8Array([0, 200, 1]);
  const file = await client.files.put('a b', bytes);
  expect(file).toMatchObject({ name: 'a b', bytes: 3 });
  expect(await client.files.get(file.file_id)).toEqual(bytes);
  await client.tools.add({ kind: 'client', name: 'ask' });
  expect((await client.tools.list({ stubs: 'python' })).stubs).toContain('def ask');
  await client.tools.remove('ask');
  const hook = await client.webhooks.create({ url: 'https://example.com/' });
  expect((await client.webhooks.list()).items).toHaveLength(1);
  await client.webhooks.remove(hook.webhook_id);
  expect((await client.webhooks.callbackSecret()).secret).toMatch(/^whsec_/);
  expect((await client.webhooks.deliveries()).items).toEqual([]);
  await expect(client.webhooks.redeliver('none')).rejects.toMatchObject({ code: 'not_found' });
  expect(await client.check({ language: 'python', code: 'word' })).toEqual({
    ok: false,
    findings: [{ rule: 'syntax_error', severity: 'error', line: 1, column: 1, message: 'word' }],
  });
  expect(await client.check({ language: 'python', code: 'two words' })).toEqual({ ok: true, findings: [] });
  expect((await client.images()).items).toEqual([]);
  expect(await client.execute({ code: '{"output":3}' })).toMatchObject({ status: 'success', output: 3 });
});

test('errors say what the server says; where there is none, that', async () => {
  const wrong = await client.tasks.create({ ...program({}), tool_constraints: { max_checkpoint_mb: 0 } }).catch((error: unknown) => error);
  expect(wrong).toBeInstanceOf(FermataApiError);
  expect(wrong).toMatchObject({ code: 'invalid_request', status: 422, message: expect.stringContaining('max_checkpoint_mb') });
  await expect(createClient({ url: at.url, key: 'fm_no' }).tasks.list()).rejects.toMatchObject({ code: 'unauthorized', status: 401 });
  await expect(createClient({ url: 'http://127.0.0.1:1', key: '', retries: 0 }).tasks.list()).rejects.toMatchObject({ code: 'unreachable', status: 0 });
});

test('what was not answered is sent again, and makes one thing', async () => {
  let lost = 0;
  const flaky: typeof fetch = async (...args) => {
    const response = await fetch(...args);
    if (lost++ === 0) throw new TypeError('the answer was lost');
    return response;
  };
  const before = (await client.tasks.list({ limit: 200 })).items.length;
  await createClient({ url: at.url, key: at.key, fetch: flaky }).tasks.create(program({ output: 'once' }));
  expect(lost).toBe(2);
  expect((await client.tasks.list({ limit: 200 })).items.length).toBe(before + 1);
});

describe('events', () => {
  /** Passes everything on, but cuts each answer after so many bytes. */
  let cutter: Server;
  let connections = 0;
  beforeAll(async () => {
    cutter = createServer(async (request, response) => {
      connections++;
      const headers = Object.fromEntries(
        Object.entries(request.headers).flatMap(([name, value]) => (name === 'host' || name === 'connection' || value === undefined ? [] : [[name, String(value)]])),
      );
      const answer = await fetch(`${at.url}${request.url}`, { headers, method: request.method ?? 'GET' });
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      let left = 260;
      for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
        await new Promise((resolve) => response.write(chunk.subarray(0, left), resolve));
        left -= chunk.length;
        if (left <= 0) return response.destroy();
      }
      response.end();
    });
    await new Promise<void>((resolve) => cutter.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => cutter.close());

  test('each recorded event comes once and in order, however often the connection breaks', async () => {
    await client.tasks.create({ ...program({ call: { tool: 't', args: {}, kind: 'client_tool' } }), task_id: 'told', wait_seconds: 5 });
    await client.calls.result('told', 'call_1', { output: 1 });
    const through = createClient({ url: `http://127.0.0.1:${(cutter.address() as AddressInfo).port}`, key: at.key });
    const seen: (number | null)[] = [];
    for await (const { seq } of through.tasks.events('told')) seen.push(seq);
    expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
    expect(connections).toBeGreaterThan(2);
  });

  test('a reader may begin later, stop, and is told of what is not there', async () => {
    const seen: (number | null)[] = [];
    for await (const { seq } of client.tasks.events('told', { after: 4 })) seen.push(seq);
    expect(seen).toEqual([5, 6]);
    await client.tasks.create({ ...program({ hold: true }), task_id: 'stops' });
    const stop = new AbortController();
    for await (const { kind } of client.tasks.events('stops', { signal: stop.signal })) if (kind === 'state') stop.abort();
    await expect(client.tasks.events('none').next()).rejects.toMatchObject({ code: 'not_found' });
  });

  test('events are read whatever way their bytes are cut', async () => {
    const bytes = new TextEncoder().encode(': hi\n\nid: 1\nevent: a\ndata: é\r\ndata: 2\n\ndata:3\r\n\r\nid: 9\n\nevent: end\ndata: {}\n\n');
    for (let size = 1; size < 12; size++) {
      const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.slice(i * size, (i + 1) * size));
      const events: unknown[] = [];
      for await (const event of readEvents(ReadableStream.from(parts) as ReadableStream<Uint8Array>)) events.push(event);
      expect(events).toEqual([
        { id: '1', event: 'a', data: 'é\n2' },
        { id: '1', event: 'message', data: '3' },
        { id: '9', event: 'end', data: '{}' },
      ]);
    }
  });
});

test('calls of client tools are carried out here, and what is thrown is posted', async () => {
  const call = (tool: string) => program({ call: { tool, args: { n: 2 }, kind: 'client_tool' } });
  const seen: unknown[] = [];
  const tools = {
    double: ({ n }: Record<string, unknown>, { callId }: { callId: string }) => {
      seen.push(callId);
      return Number(n) * 2;
    },
    breaks: () => Promise.reject(new RangeError('no')),
  };
  const first = await client.answerTools(await client.tasks.create(call('double')), tools);
  expect(first.status === 'succeeded' && first.result.output).toBe(4);
  expect(seen).toEqual(['call_1']);
  expect(await client.answerTools(await client.tasks.create(call('breaks')), tools)).toMatchObject({ status: 'failed', error: { message: 'no' } });
});

test('a tool that is not ours is left to others, until the signal', async () => {
  const { task_id: id } = await client.tasks.create(program({ call: { tool: 'other', args: {}, kind: 'client_tool' } }));
  const answering = client.answerTools(id, { toString: () => 1 }, { pollMs: 10 });
  await new Promise((resolve) => setTimeout(resolve, 60));
  await client.calls.result(id, 'call_1', { output: 'by another' });
  expect(await answering).toMatchObject({ status: 'succeeded', result: { output: 'by another' } });
  const stop = new AbortController();
  const { task_id: other } = await client.tasks.create(program({ call: { tool: 'other', args: {}, kind: 'client_tool' } }));
  setTimeout(() => stop.abort(new Error('enough')), 30);
  await expect(client.answerTools(other, {}, { pollMs: 10_000, signal: stop.signal })).rejects.toThrow('enough');
});

test('the client needs fetch and nothing else', () => {
  const dist = new URL('../dist/', import.meta.url);
  for (const file of readdirSync(dist).filter((name) => name.endsWith('.js'))) {
    const imports = [...readFileSync(new URL(file, dist), 'utf8').matchAll(/\bfrom '([^']+)'/g)].map(([, from]) => from ?? '');
    for (const from of imports) expect(from, file).toMatch(/^\.\//);
  }
});
