/** Bounds on the calls of a tool: time, turns, and a tool that is left alone after it has failed again and again. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, type ToolCallInfo, ToolError, toolsByName } from '../src/tool.ts';
import { createToolGate, OutcomeUnknown } from '../src/tool-limits.ts';

const info = (signal = new AbortController().signal): ToolCallInfo => ({ taskId: 't', callId: 1, idempotencyKey: 'k', signal });
const ok = { ok: 1 };
const bad = { error: { name: 'HttpError', message: 'no', data: { status: 500 } } };
const settled = (promise: Promise<unknown>) =>
  promise.then(
    () => 'in',
    (error: Error) => `${error.name}: ${error.message}`,
  );

test('a tool that heeds its signal has failed with Timeout, or has answered after all', async () => {
  const seen: string[] = [];
  const heeds = defineTool({ name: 'slow', timeoutMs: 20, execute: (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))) });
  await expect(heeds.execute?.({} as never, info())).rejects.toMatchObject({ name: 'Timeout', message: 'slow: no answer within 20 ms' });
  const answers = defineTool({
    name: 'slow',
    timeoutMs: 20,
    execute: (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(seen.push('told')))),
  });
  expect(await answers.execute?.({} as never, info())).toBe(1);
  const quick = defineTool({ name: 'quick', timeoutMs: 60_000, execute: () => 5 });
  expect(await quick.execute?.({} as never, info())).toBe(5);
});

test('one that does not is cut off, and nobody knows what came of the call until it answers after all', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const deaf = defineTool({ name: 'deaf', timeoutMs: 20, execute: () => promise });
  const error = await Promise.resolve(deaf.execute?.({} as never, info())).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(OutcomeUnknown);
  expect(error).toMatchObject({ name: 'Timeout', outcome: 'unknown', message: 'deaf: no answer within 20 ms; whether the call was carried out is not known' });
  resolve('done');
  expect(await (error as OutcomeUnknown).late).toBe('done');
});

test('the signal of the task reaches a tool that has a time of its own', async () => {
  const given = new AbortController();
  const tool = defineTool({
    name: 'slow',
    timeoutMs: 60_000,
    execute: (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  });
  const call = Promise.resolve(tool.execute?.({} as never, info(given.signal)));
  given.abort(new ToolError('cancelled', { name: 'Aborted' }));
  await expect(call).rejects.toMatchObject({ name: 'Aborted' });
});

test('calls wait for their turn in order, and one that is given up does not take a turn', async () => {
  const gate = createToolGate('t', { maxConcurrent: 2 });
  const none = new AbortController().signal;
  const leave = [await gate?.enter(none), await gate?.enter(none)];
  const order: number[] = [];
  const givenUp = new AbortController();
  const enters = async (signal: AbortSignal, i: number) => {
    const left = await gate?.enter(signal);
    order.push(i);
    return left as (result: typeof ok) => void;
  };
  const waiting = [none, givenUp.signal, none].map(enters);
  const given = settled(waiting[1] as Promise<unknown>);
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual([]);
  givenUp.abort();
  expect(await given).toBe('Aborted: t: the call was given up');
  leave[1]?.(ok);
  const first = await waiting[0];
  expect(order).toEqual([0]);
  first?.(ok);
  await waiting[2];
  expect(order).toEqual([0, 2]);
  expect(await settled(gate?.enter(AbortSignal.abort()) as Promise<unknown>)).toBe('Aborted: t: the call was given up');
});

test('a breaker opens after so many failures in a row, lets one call through after its time, and closes when that succeeds', async () => {
  let now = 0;
  const gate = createToolGate('t', { circuitBreaker: { failures: 3, resetMs: 10_000 } }, () => now);
  const none = new AbortController().signal;
  const call = async (result: typeof ok | typeof bad) => (await gate?.enter(none))?.(result as never);
  const enters = () => settled(gate?.enter(none) as Promise<unknown>);
  for (const result of [bad, bad, ok, bad, bad]) await call(result);
  // What the caller did wrong is not the tool's failure.
  await call({ error: { name: 'InvalidArguments', message: '', data: { status: 0 } } });
  await call({ error: { name: 'HttpError', message: '', data: { status: 404 } } });
  await call(bad);
  expect(await enters()).toBe('CircuitOpen: t is not called: it has failed 3 times in a row, and is tried again in 10 s');
  now = 10_000;
  const trial = await gate?.enter(none);
  expect(await enters()).toBe('CircuitOpen: t is not called: it has failed 3 times in a row, and is being tried again');
  trial?.(bad as never);
  expect(await enters()).toContain('failed 4 times in a row, and is tried again in 10 s');
  now = 20_000;
  await call(ok);
  await call(bad);
  expect(await enters()).toBe('in');
});

test('what waited for its turn when the breaker opened is told so, and none waits for ever', async () => {
  const gate = createToolGate('t', { maxConcurrent: 1, circuitBreaker: { failures: 1, resetMs: 10_000 } });
  const none = new AbortController().signal;
  const leave = await gate?.enter(none);
  const waiting = [1, 2, 3].map(() => settled(gate?.enter(none) as Promise<unknown>));
  leave?.(bad as never);
  for (const told of await Promise.all(waiting)) expect(told).toContain('CircuitOpen');
});

test('a result that does not fit what the tool promises is its failure', async () => {
  const tool = defineTool({ name: 'count', result: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }, execute: (args) => args as object });
  expect(await tool.execute?.({ n: 1 } as never, info())).toEqual({ n: 1 });
  await expect(tool.execute?.({ n: 'x' } as never, info())).rejects.toMatchObject({
    name: 'InvalidResult',
    message: 'count answered what it does not promise: n must be integer',
    data: { path: 'n' },
  });
  const zod = defineTool({ name: 'count', result: z.object({ n: z.number().default(7) }), execute: (args) => args as object });
  expect(await zod.execute?.({} as never, info())).toEqual({ n: 7 });
  await expect(zod.execute?.({ n: 'x' } as never, info())).rejects.toMatchObject({ name: 'InvalidResult', data: { path: 'n' } });
});

test.each([
  [{ retry: { maxAttempts: 2, backoffMs: 1 } }, 'only an idempotent tool is called again'],
  [{ timeoutMs: 0 }, 'timeoutMs'],
  [{ maxConcurrent: 0 }, 'maxConcurrent'],
  [{ circuitBreaker: { failures: 1 } }, 'circuitBreaker.resetMs'],
  [{ result: { type: 'no such' } }, 'not a JSON Schema'],
])('%j is refused', (options, said) => {
  expect(() => defineTool({ name: 't', ...(options as object) })).toThrow(said);
});

test('what is of calls by the host is refused for a tool whose calls a client carries out', () => {
  const own = { retry: { maxAttempts: 2, backoffMs: 1 }, maxConcurrent: 2, circuitBreaker: { failures: 1, resetMs: 1 } };
  for (const [key, value] of Object.entries(own)) {
    expect(() => toolsByName([{ name: 'ask', idempotent: true, [key]: value }])).toThrow('tool ask: retry, maxConcurrent and circuitBreaker go with execute');
  }
  expect(toolsByName([{ name: 'ask', timeoutMs: 5 }]).get('ask')?.timeoutMs).toBe(5);
});
