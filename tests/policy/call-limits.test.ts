/** Options of tools as durable tasks and tasks in memory meet them: retries, times, turns, breakers; nothing that may not be is repeated. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CALL_PROGRAM } from '@fermata/protocol';
import { createFermata, type OpenEngine, openEngine, ToolError } from 'fermata';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';

const TENANT = 'acme';
let folder: string;
let opened: OpenEngine;
let service: Server;
let url: string;
let answers: { status: number; hang?: boolean }[] = [];
let requests: (string | undefined)[] = [];

beforeAll(async () => {
  service = createServer((request, response) => {
    requests.push(request.headers['idempotency-key'] as string | undefined);
    const { status, hang } = answers.shift() ?? { status: 200 };
    if (!hang) response.writeHead(status, { 'content-type': 'application/json' }).end('{"n": 1}');
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
});
afterAll(() => {
  service.closeAllConnections();
  service.close();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fermata-limits-'));
  [answers, requests] = [[], []];
});
afterEach(async () => {
  await opened?.close();
  rmSync(folder, { recursive: true });
});

type Tools = NonNullable<Parameters<typeof openEngine>[0]>['tools'];
const open = async (tools: Tools = []) => {
  opened = await openEngine({ folder, tools, network: { allowPrivate: ['127.0.0.1'] } });
};
const submit = async (code: string) => ({ tenant: TENANT, taskId: (await opened.engine.submit(TENANT, { language: 'javascript', code })).taskId });
const run = async (code: string) => opened.engine.wait(await submit(code), 60_000);
const caught = (call: string) => `try { return await ${call} } catch (error) { return [error.toolErrorName, error.message] }`;

test('a failed call of an idempotent tool is tried again, with the same key, as often as it says, over a restart', { timeout: 120_000 }, async () => {
  const keys: string[] = [];
  let working = false;
  const tool = {
    name: 'flaky',
    idempotent: true,
    retry: { maxAttempts: 20, backoffMs: 100 },
    execute: (_: unknown, { idempotencyKey }: { idempotencyKey: string }) => {
      keys.push(idempotencyKey);
      if (!working) throw new Error('not yet');
      return 'done';
    },
  };
  await open([tool]);
  const ref = await submit('return await tools.flaky({})');
  while (keys.length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
  await opened.close({ drainMs: 5000 });
  const before = keys.length;
  working = true;
  await open([tool]);
  expect(await opened.engine.wait(ref, 60_000)).toMatchObject({ status: 'succeeded', output: 'done' });
  expect(keys).toHaveLength(before + 1);
  expect(new Set(keys).size).toBe(1);
  const retries = (await opened.engine.journal(ref, 0, 1000)).filter(({ kind }) => kind === 'call_retry');
  expect(retries.length).toBeGreaterThanOrEqual(2);
});

test('what a service refuses is not asked again, and what it cannot do now is; over all kinds with the same options', { timeout: 120_000 }, async () => {
  await open();
  const retry = { max_attempts: 3, backoff_seconds: 0.01 };
  await opened.registry.add(TENANT, { kind: 'http', name: 'get', method: 'GET', url, timeout_seconds: 5, max_response_bytes: 1000, retry } as never);
  await opened.registry.addSource(TENANT, {
    ...{ kind: 'openapi', name: 'api', timeout_seconds: 5, max_response_bytes: 1000, retry, circuit_breaker: { failures: 3, reset_seconds: 1000 } },
    document: { openapi: '3.1.0', info: { title: 'x', version: '1' }, servers: [{ url }], paths: { '/x': { get: { operationId: 'read' }, post: { operationId: 'write' } } } },
    tools: { write: { requires_approval: false } },
  } as never);
  answers = [{ status: 503 }, { status: 429 }];
  expect((await run('return await tools.get({})')).output).toEqual({ n: 1 });
  expect(requests).toHaveLength(3);
  answers = [{ status: 404 }];
  expect((await run(caught('tools.get({})'))).output).toEqual(['HttpError', 'get: the service answered 404']);
  expect(requests).toHaveLength(4);
  // A POST may have had its effect.
  answers = [{ status: 503 }];
  expect((await run(caught('tools.api.write({})'))).output).toEqual(['HttpError', 'api.write: the service answered 503']);
  expect(requests).toHaveLength(5);
  expect(requests.at(-1)).toMatch(/^acme:/);
  answers = [{ status: 500 }, { status: 500 }, { status: 500 }];
  expect((await run(caught('tools.api.read({})'))).output).toEqual(['HttpError', 'api.read: the service answered 500']);
  expect((await run(caught('tools.api.read({})'))).output).toEqual([
    'CircuitOpen',
    expect.stringMatching(/^api.read is not called: it has failed 3 times in a row, and is tried again in \d+ s$/),
  ]);
  expect(requests).toHaveLength(8);
  await expect(opened.registry.add(TENANT, { kind: 'http', name: 'post', method: 'POST', url, timeout_seconds: 5, max_response_bytes: 1000, retry } as never)).rejects.toThrow(
    'only an idempotent tool',
  );
});

test('a tool that ignores its signal is cut off, its call waits for a decision and is not repeated; what it answers after all counts', { timeout: 120_000 }, async () => {
  const ends: ((value: string) => void)[] = [];
  await open([{ name: 'deaf', timeoutMs: 50, execute: () => new Promise((resolve) => ends.push(resolve)) }]);
  const ref = await submit('return await tools.deaf({})');
  const parked = await opened.engine.wait(ref, 60_000);
  expect(parked).toMatchObject({ status: 'waiting', waitingFor: [{ tool: 'deaf', kind: 'outcome_unknown' }] });
  await opened.close({ drainMs: 1000 });
  await open([{ name: 'deaf', timeoutMs: 50, execute: () => new Promise((resolve) => ends.push(resolve)) }]);
  expect((await opened.engine.wait(ref, 60_000)).status).toBe('waiting');
  expect(ends).toHaveLength(1);
  await opened.engine.decide(ref, parked.waitingFor[0]?.callId as string, { action: 'result', output: 'I have looked' }, 'ann');
  expect((await opened.engine.wait(ref, 60_000)).output).toBe('I have looked');

  const other = await submit('return await tools.deaf({})');
  expect((await opened.engine.wait(other, 60_000)).status).toBe('waiting');
  ends[1]?.('late but true');
  while ((await opened.engine.task(other)).endedAt === null) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await opened.engine.task(other)).toMatchObject({ status: 'succeeded', output: 'late but true' });
});

test('an idempotent tool that ignores its signal is called again, and in the end has failed', { timeout: 120_000 }, async () => {
  let called = 0;
  await open([{ name: 'deaf', idempotent: true, timeoutMs: 20, retry: { maxAttempts: 2, backoffMs: 1 }, execute: () => new Promise(() => called++) }]);
  expect((await run(caught('tools.deaf({})'))).output).toEqual(['Timeout', 'deaf: no answer within 20 ms; whether the call was carried out is not known']);
  expect(called).toBe(2);
});

test('calls beyond those that may be under way wait, begin as others end, and not while the task is paused; a wait is no start', { timeout: 120_000 }, async () => {
  let [underWay, most] = [0, 0];
  const ends: (() => void)[] = [];
  const busy = {
    name: 'busy',
    maxConcurrent: 3,
    execute: async ({ n }: Record<string, unknown>) => {
      most = Math.max(most, ++underWay);
      await new Promise<void>((resolve) => ends.push(resolve));
      underWay--;
      return n;
    },
  };
  await open([busy]);
  const ref = await submit('return await Promise.all([...Array(10).keys()].map((n) => tools.busy({ n })))');
  while (ends.length < 3) await new Promise((resolve) => setTimeout(resolve, 10));
  const pausing = opened.engine.pause(ref);
  await pausing;
  for (const end of ends.splice(0)) end();
  while (underWay > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(ends).toEqual([]);
  const calls = await opened.engine.calls(ref);
  expect(calls.map(({ status, tries }) => [status, tries])).toEqual([...Array(3).fill(['settled', 1]), ...Array(7).fill(['ready', 0])]);
  await opened.close({ drainMs: 5000 });
  await open([busy]);
  await opened.engine.resume(ref);
  const ending = opened.engine.wait(ref, 60_000);
  let over = false;
  void ending.then(() => (over = true));
  while (!over) {
    for (const end of ends.splice(0)) end();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect((await ending).output).toEqual([...Array(10).keys()]);
  expect(most).toBe(3);
});

test('a client that does not answer in time has failed, and one that needs approval is asked after it', { timeout: 120_000 }, async () => {
  await open([
    { name: 'ask', timeoutMs: 300 },
    { name: 'sign', requiresApproval: true },
  ]);
  const asked = await submit(caught('tools.ask({})'));
  while ((await opened.engine.task(asked)).endedAt === null) await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await opened.engine.task(asked)).output).toEqual(['Timeout', 'ask was not answered in time']);
  const ref = await submit('return await tools.sign({ n: 1 })');
  const [{ callId, kind }] = (await opened.engine.wait(ref, 60_000)).waitingFor as unknown as [{ callId: string; kind: string }];
  expect(kind).toBe('approval');
  await opened.engine.decide(ref, callId, { action: 'approve' }, 'ann');
  expect((await opened.engine.task(ref)).waitingFor).toMatchObject([{ callId, kind: 'client_tool' }]);
  await opened.engine.decide(ref, callId, { action: 'result', output: 'signed' }, 'bob');
  expect((await opened.engine.wait(ref, 60_000)).output).toBe('signed');
});

test('a code tool has turns and a breaker, and its result is checked', { timeout: 120_000 }, async () => {
  await open();
  const code = { kind: 'code', language: 'javascript', circuit_breaker: { failures: 1, reset_seconds: 1000 } } as const;
  await opened.registry.add(TENANT, { ...code, name: 'count', code: 'return input.n', result: { type: 'integer' }, max_concurrent: 1 } as never);
  expect((await run('return await Promise.all([1, 2, 3].map((n) => tools.count({ n })))')).output).toEqual([1, 2, 3]);
  expect((await run(caught('tools.count({ n: "x" })'))).output).toEqual(['InvalidResult', 'count answered what it does not promise: must be integer']);
  expect((await run(caught('tools.count({ n: 1 })'))).output).toEqual(['CircuitOpen', expect.stringContaining('it has failed 1 times in a row')]);
});

test('in memory the same holds', { timeout: 120_000 }, async () => {
  let tries = 0;
  const ends: ((value: string) => void)[] = [];
  await using fermata = createFermata({
    tools: [
      { name: 'flaky', idempotent: true, retry: { maxAttempts: 3, backoffMs: 1 }, execute: () => (++tries < 3 ? Promise.reject(new ToolError('no')) : tries) },
      { name: 'deaf', timeoutMs: 20, execute: () => new Promise((resolve) => ends.push(resolve)) },
      { name: 'broken', circuitBreaker: { failures: 1, resetMs: 60_000 }, execute: () => Promise.reject(new Error('down')) },
    ],
  });
  const language = 'javascript';
  expect(await fermata.run({ language, code: 'return await tools.flaky({})' })).toMatchObject({ status: 'succeeded', output: 3 });
  const code = `const seen = []; for (let n = 0; n < 2; n++) try { await tools.broken({}) } catch (error) { seen.push(error.toolErrorName) } return seen`;
  expect(await fermata.run({ language, code })).toMatchObject({ output: ['Error', 'CircuitOpen'] });
  await using task = await fermata.start({ language, code: 'return await tools.deaf({})' });
  expect(await task.run()).toMatchObject({ status: 'waiting', waitingFor: [{ tool: 'deaf', kind: 'outcome_unknown' }] });
  ends[0]?.('after all');
  await new Promise((resolve) => setImmediate(resolve));
  expect(await task.run()).toMatchObject({ status: 'succeeded', output: 'after all' });
});

test('what a tool tells of how far it is becomes events of the task', { timeout: 120_000 }, async () => {
  const { promise: heard, resolve } = Promise.withResolvers<void>();
  const copy = {
    name: 'copy',
    execute: async (_: unknown, { progress }: { progress?: ((told: { progress: number; total?: number; message?: string }) => void) | undefined }) => {
      await heard;
      progress?.({ progress: 1, total: 2, message: 'half' });
      return 'copied';
    },
  };
  await open([copy]);
  const ref = await submit('return await tools.copy({})');
  const told: unknown[] = [];
  for await (const { kind, seq, data } of opened.engine.events(ref)) {
    if (kind === 'call') resolve();
    if (kind === 'call_progress') told.push([seq, data]);
  }
  expect(told).toEqual([[null, { call_id: expect.stringMatching(/^call_/), n: 1, tool: 'copy', progress: 1, total: 2, message: 'half' }]]);
  await using fermata = createFermata({ tools: [copy] });
  const events: unknown[] = [];
  await fermata.run({ language: 'javascript', code: 'return await tools.copy({})', onEvent: (event) => event.type === 'call_progress' && events.push(event) });
  expect(events).toEqual([{ type: 'call_progress', call: { id: 1, name: 'copy', args: {} }, progress: 1, total: 2, message: 'half' }]);
});

test('a failed call of a tool by itself shows nothing of the program that makes it', { timeout: 120_000 }, async () => {
  const broken = { name: 'broken', execute: () => Promise.reject(new ToolError('it is broken', { name: 'Broken' })) };
  await open([broken]);
  const toolCall = { name: 'broken', arguments: {} };
  const { taskId } = await opened.engine.submit(TENANT, { language: 'javascript', code: CALL_PROGRAM, toolCall });
  const { error } = await opened.engine.wait({ tenant: TENANT, taskId }, 60_000);
  await using fermata = createFermata({ tools: [broken] });
  const result = await fermata.run({ toolCall });
  for (const one of [error, result.error]) {
    expect(one).toMatchObject({ code: 'tool_error', message: expect.stringContaining('it is broken') });
    expect(JSON.stringify(one)).not.toMatch(/input\.|main\.js|traceback|"line"/);
  }
});
