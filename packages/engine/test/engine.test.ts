/** Tasks from their submission to their end, with real machines and the memory store. */
import { QuotaExceeded } from '@fermata/protocol';
import { expect, test } from 'vitest';
import { createMemoryStore } from '../src/index.ts';
import { premises, TENANT } from './premises.ts';

test('a program runs to its end, and its output, result and use are durable', async () => {
  const { run, engine, ref } = await premises();
  const task = await run({ code: "console.log('hello'); return 6 * 7" });
  expect(task).toMatchObject({ status: 'succeeded', output: 42, stdout: 'hello\n', stderr: '', attempt: 1 });
  expect(task.usage.fuel).toBeGreaterThan(0);
  const kinds = (await engine.journal(ref(task.taskId))).map(({ kind }) => kind);
  expect(kinds).toEqual(['submitted', 'leased', 'begun', 'output', 'succeeded']);
});

test('an uncaught error fails the task with its place', async () => {
  const { run } = await premises();
  expect(await run({ code: 'x = 1\nraise ValueError("no")', language: 'python' })).toMatchObject({ status: 'failed', error: { code: 'guest_error', name: 'ValueError', line: 2 } });
});

test('a tool is called once, and its result is in the journal', async () => {
  const called: unknown[] = [];
  const { run, engine, ref } = await premises([{ name: 'add', execute: ({ a, b }: { a: number; b: number }) => (called.push([a, b]), a + b) }]);
  const task = await run({ code: 'return await tools.add({ a: 1, b: 2 })' });
  expect(task).toMatchObject({ status: 'succeeded', output: 3 });
  expect(called).toEqual([[1, 2]]);
  expect(await engine.calls(ref(task.taskId))).toMatchObject([{ tool: 'add', status: 'settled', result: { output: 3 }, delivered: true, tries: 1 }]);
});

test('a call that needs approval parks the program, and an approval with other arguments lets it go on', async () => {
  const { run, engine, ref } = await premises([{ name: 'pay', verdict: { action: 'require_approval' }, execute: ({ amount }: { amount: number }) => `paid ${amount}` }]);
  const task = await run({ code: 'return await tools.pay({ amount: 100 })' });
  expect(task).toMatchObject({ status: 'waiting', waitingFor: [{ tool: 'pay', kind: 'approval', arguments: { amount: 100 } }] });
  expect(engine.status.residentMachines).toBe(0);
  const [wait] = (await engine.inbox('acme')).items;
  await engine.decide(ref(task.taskId), wait?.callId as string, { action: 'approve', arguments: { amount: 5 } }, 'somebody');
  expect(await engine.wait(ref(task.taskId), 60_000)).toMatchObject({ status: 'succeeded', output: 'paid 5' });
});

test('a rejection is an exception that the program catches', async () => {
  const { run, engine, ref } = await premises([{ name: 'pay', verdict: { action: 'require_approval' }, execute: () => 1 }]);
  const task = await run({ language: 'python', code: 'try:\n  tools.pay(amount=1)\nexcept Exception as e:\n  __result__ = str(e)' });
  await engine.decide(ref(task.taskId), task.waitingFor[0]?.callId as string, { action: 'reject', reason: 'too much' }, 'somebody');
  const ended = await engine.wait(ref(task.taskId), 60_000);
  expect(ended.status).toBe('succeeded');
  expect(ended.output).toContain('too much');
});

test('a busy loop is paused, and goes on where it was', async () => {
  const { engine, ref } = await premises();
  const { taskId } = await engine.submit('acme', { language: 'javascript', code: 'let n = 0; const end = 30_000_000; while (n < end) n++; return n' });
  while ((await engine.task(ref(taskId))).status !== 'running') await new Promise((resolve) => setTimeout(resolve, 5));
  const paused = await engine.pause(ref(taskId));
  expect(paused).toMatchObject({ status: 'paused', pauseReason: 'user_request', resumable: true });
  expect(paused.checkpointId).toMatch(/^ckpt_/);
  await engine.resume(ref(taskId));
  expect(await engine.wait(ref(taskId), 60_000)).toMatchObject({ status: 'succeeded', output: 30_000_000 });
});

test('a task that sleeps long holds no machine, and wakes', async () => {
  const { engine, ref } = await premises([], { keepForTimerMs: 10 });
  const { taskId } = await engine.submit('acme', { language: 'javascript', code: 'await sleep(1); return 1' });
  while ((await engine.task(ref(taskId))).status !== 'waiting') await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await engine.task(ref(taskId))).toMatchObject({ waitingFor: [{ kind: 'timer' }] });
  expect(await engine.wait(ref(taskId), 60_000)).toMatchObject({ status: 'succeeded', output: 1 });
});

test('a task is cancelled in every state', async () => {
  const { engine, ref, run } = await premises([{ name: 'ask' }, { name: 'deaf', execute: () => new Promise(() => {}) }], { cancelGraceMs: 20 });
  const waiting = await run({ code: 'await tools.ask({})' });
  expect(waiting.status).toBe('waiting');
  expect((await engine.cancel(ref(waiting.taskId))).status).toBe('cancelled');
  const { taskId } = await engine.submit('acme', { language: 'javascript', code: 'for (;;);' });
  while ((await engine.task(ref(taskId))).status !== 'running') await new Promise((resolve) => setTimeout(resolve, 5));
  expect((await engine.cancel(ref(taskId))).status).toBe('cancelled');
  const { taskId: calling } = await engine.submit('acme', { language: 'javascript', code: 'await tools.deaf({})' });
  while ((await engine.task(ref(calling))).inFlight.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  expect((await engine.cancel(ref(calling))).status).toBe('cancelled');
  expect(await engine.calls(ref(calling))).toMatchObject([{ status: 'abandoned' }]);
});

test('a failed attempt is followed by another, and calls that succeeded are not repeated', async () => {
  let calls = 0;
  let tries = 0;
  const { run } = await premises([
    { name: 'once', execute: () => ++calls },
    {
      name: 'flaky',
      execute: () => {
        if (++tries < 3) throw new Error('not yet');
        return 'now';
      },
    },
  ]);
  const task = await run({ code: 'const a = await tools.once({}); return [a, await tools.flaky({})]', retry: { maxAttempts: 3, backoffMs: 10 } });
  expect(task).toMatchObject({ status: 'succeeded', attempt: 3, output: [1, 'now'] });
  expect(calls).toBe(1);
});

test('a finished task is verified from its journal, and a changed entry is noticed', async () => {
  const { run, engine, ref } = await premises([{ name: 'ask', execute: () => Math.random(), verdict: { action: 'require_approval' } }]);
  const task = await run({ code: 'const x = await tools.ask({}); console.log(x, Math.random()); return x' });
  await engine.decide(ref(task.taskId), task.waitingFor[0]?.callId as string, { action: 'approve' }, 'me');
  expect((await engine.wait(ref(task.taskId), 60_000)).status).toBe('succeeded');
  expect(await engine.verify(ref(task.taskId))).toEqual({ verified: true, checkpoints: 1, differences: [] });
});

test('a fork goes on from before a call with another answer', async () => {
  const { run, engine, ref } = await premises([
    { name: 'ask', execute: () => 1 },
    { name: 'later', execute: () => 10 },
  ]);
  const task = await run({ code: 'const x = await tools.ask({}); const y = await tools.later({}); return x + y' });
  const [first] = await engine.calls(ref(task.taskId));
  const fork = await engine.fork(ref(task.taskId), { answers: { [first?.callId as string]: { ok: 5 } } });
  expect(await engine.wait(ref(fork.taskId), 60_000)).toMatchObject({ status: 'succeeded', output: 15 });
});

test('in a fork of a cancelled task calls that had not begun go on as policy let them, and people and clients are asked again', async () => {
  const begun: unknown[] = [];
  const held = Promise.withResolvers<void>();
  const work = async ({ n }: { n: number }) => {
    begun.push(n);
    if (n === 0) await held.promise;
    return n;
  };
  const { engine, ref } = await premises([
    { name: 'work', execute: work as never },
    { name: 'pay', verdict: { action: 'require_approval' }, execute: () => 'paid' },
    { name: 'ask' },
  ]);
  const code = 'return await Promise.all([tools.work({ n: 0 }), tools.work({ n: 1 }), tools.pay({}), tools.ask({}), tools.review({ value: 5 })])';
  const { taskId } = await engine.submit(TENANT, { language: 'javascript', code, limits: { maxCallsAtOnce: 1 } });
  while (begun.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  await engine.cancel(ref(taskId));
  held.resolve();
  const [first] = await engine.calls(ref(taskId));
  await expect(engine.fork(ref(taskId))).rejects.toThrow('was started and has no result');
  const fork = await engine.fork(ref(taskId), { answers: { [first?.callId as string]: { ok: 'zero' } } });
  const parked = await engine.wait(ref(fork.taskId), 60_000);
  expect(begun).toEqual([0, 1]);
  expect(parked.waitingFor.map(({ kind }) => kind)).toEqual(['approval', 'client_tool', 'review']);
  // The fork of a fork knows it as well.
  await engine.cancel(ref(fork.taskId));
  const again = await engine.fork(ref(fork.taskId));
  const [pay, ask, review] = (await engine.wait(ref(again.taskId), 60_000)).waitingFor.map(({ callId }) => callId as string);
  await engine.decide(ref(again.taskId), pay as string, { action: 'approve' }, 'ann');
  await engine.decide(ref(again.taskId), ask as string, { action: 'result', output: 'asked' }, 'ann');
  await engine.decide(ref(again.taskId), review as string, { action: 'approve' }, 'ann');
  expect((await engine.wait(ref(again.taskId), 60_000)).output).toEqual(['zero', 1, 'paid', 'asked', 5]);
});

test('tasks of a session share an interpreter, in order, and what a limit ends leaves it as it was', async () => {
  const { run, engine } = await premises([{ name: 'add', execute: ({ a, b }: { a: number; b: number }) => a + b }]);
  const shared = { language: 'python', sessionId: 's', sharedInterpreter: true } as const;
  expect(await run({ ...shared, code: 'x = 40\nprint("one")' })).toMatchObject({ status: 'succeeded', stdout: 'one\n' });
  expect(await run({ ...shared, code: 'x = 41\n1/0' })).toMatchObject({ status: 'failed', stdout: '' });
  expect(await run({ ...shared, code: 'x = 0\nwhile True: pass', limits: { maxCpuMs: 50 } })).toMatchObject({ status: 'failed', error: { code: 'cpu_limit' } });
  expect(await run({ ...shared, code: 'print("two")\ntools.add(a=x, b=1)', limits: { maxOutputBytes: 4, maxToolCalls: 1 } })).toMatchObject({
    status: 'succeeded',
    output: 42,
    stdout: 'two\n',
  });
  expect((await engine.sessions('acme')).items).toMatchObject([{ sessionId: 's', head: 3, language: 'python' }]);
  await expect(run({ code: 'return 1', sessionId: 's', sharedInterpreter: true })).rejects.toThrow('shares an interpreter of python');
  await engine.endSession('acme', 's');
  expect(await run({ ...shared, code: 'x' })).toMatchObject({ status: 'failed', error: { name: 'NameError' } });
});

test('a task of a session that waits holds the line, and those after it begin when it has ended', async () => {
  const { run, engine, ref } = await premises([{ name: 'ask' }]);
  const shared = { sessionId: 's', sharedInterpreter: true } as const;
  const first = await run({ ...shared, code: 'var y = await tools.ask({})' });
  expect(first.status).toBe('waiting');
  const second = await engine.submit('acme', { language: 'javascript', ...shared, code: 'return y + 1' });
  expect(await engine.task(ref(second.taskId))).toMatchObject({ status: 'pending', queueReason: expect.stringContaining(first.taskId) });
  await engine.decide(ref(first.taskId), first.waitingFor[0]?.callId as string, { action: 'result', output: 5 }, 'me');
  expect(await engine.wait(ref(second.taskId), 60_000)).toMatchObject({ status: 'succeeded', output: 6 });
});

test('a person confirms or edits a value that is up for review', async () => {
  const { run, engine, ref } = await premises();
  const task = await run({ code: 'const a = await tools.review({ value: { n: 1 }, reason: "sure?" }); const b = await tools.review({ value: 2 }); return [a, b]' });
  expect(task.waitingFor).toMatchObject([{ kind: 'review', arguments: { value: { n: 1 }, reason: 'sure?' } }]);
  await engine.decide(ref(task.taskId), task.waitingFor[0]?.callId as string, { action: 'approve', value: { n: 10 } }, 'me');
  const again = await engine.wait(ref(task.taskId), 60_000);
  await engine.decide(ref(task.taskId), again.waitingFor[0]?.callId as string, { action: 'approve' }, 'me');
  expect(await engine.wait(ref(task.taskId), 60_000)).toMatchObject({ status: 'succeeded', output: [{ n: 10 }, 2] });
});

test('an approval that is not given in time is an exception of the program', async () => {
  let now = 1_000_000;
  const { run, engine, ref } = await premises([{ name: 'pay', verdict: { action: 'require_approval', expiresAfterMs: 300 }, execute: () => 1 }], {
    now: () => now + performance.now(),
  });
  const task = await run({ code: 'try { return await tools.pay({}) } catch (error) { return error.message }' });
  expect(task.status).toBe('waiting');
  now += 1000;
  const ended = await engine.wait(ref(task.taskId), 60_000);
  expect(ended).toMatchObject({ status: 'waiting' });
  while ((await engine.task(ref(task.taskId))).status === 'waiting') await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await engine.wait(ref(task.taskId), 60_000)).toMatchObject({ status: 'succeeded', output: 'the approval of pay was not given in time' });
});

test('calls at the same time are decided one by one, in any order, and a decision is made once', async () => {
  const { run, engine, ref } = await premises([{ name: 'pay', verdict: { action: 'require_approval' }, execute: ({ n }: { n: number }) => n }]);
  const task = await run({ code: 'return (await Promise.allSettled([1, 2, 3].map((n) => tools.pay({ n })))).map((r) => r.value ?? r.reason.message)' });
  const ids = task.waitingFor.map(({ callId }) => callId as string);
  await engine.decide(ref(task.taskId), ids[2] as string, { action: 'approve' }, 'a');
  await engine.decide(ref(task.taskId), ids[2] as string, { action: 'approve' }, 'b');
  await expect(engine.decide(ref(task.taskId), ids[2] as string, { action: 'reject' }, 'b')).rejects.toMatchObject({ code: 'conflict' });
  await engine.decide(ref(task.taskId), ids[0] as string, { action: 'reject', reason: 'no' }, 'a');
  await engine.decide(ref(task.taskId), ids[1] as string, { action: 'approve', arguments: { n: 20 } }, 'a');
  await expect(engine.decide(ref(task.taskId), 'call_0', { action: 'approve' }, 'a')).rejects.toMatchObject({ code: 'not_found' });
  expect(await engine.wait(ref(task.taskId), 60_000)).toMatchObject({ status: 'succeeded', output: ['the call of pay was rejected: no', 20, 3] });
  const decided = (await engine.journal(ref(task.taskId))).filter(({ kind }) => kind === 'decided');
  expect(decided.map(({ body }) => JSON.parse(body).by)).toEqual(['a', 'a', 'a']);
});

test('decisions while a task is paused are kept, and their calls start after it is resumed', async () => {
  let called = 0;
  const { run, engine, ref } = await premises([{ name: 'pay', verdict: { action: 'require_approval' }, execute: () => ++called }]);
  const task = await run({ code: 'return await tools.pay({})' });
  expect((await engine.pause(ref(task.taskId))).status).toBe('paused');
  await engine.decide(ref(task.taskId), task.waitingFor[0]?.callId as string, { action: 'approve' }, 'me');
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(called).toBe(0);
  expect((await engine.task(ref(task.taskId))).status).toBe('paused');
  await engine.resume(ref(task.taskId));
  expect(await engine.wait(ref(task.taskId), 60_000)).toMatchObject({ status: 'succeeded', output: 1 });
});

test('a task that was paused while it waited waits again after it is resumed', async () => {
  const { run, engine, ref } = await premises([{ name: 'ask' }]);
  const task = await run({ code: 'return await tools.ask({})' });
  await engine.pause(ref(task.taskId));
  expect((await engine.resume(ref(task.taskId))).status).toBe('waiting');
  await engine.decide(ref(task.taskId), task.waitingFor[0]?.callId as string, { action: 'result', output: 'yes' }, 'me');
  expect(await engine.wait(ref(task.taskId), 60_000)).toMatchObject({ status: 'succeeded', output: 'yes' });
});

test('an ended task is kept as long as it is to be kept, and then only a tombstone is left', async () => {
  const { run, engine, ref, store } = await premises([], { retentionMs: 150 });
  const task = await run({ code: 'return 1' });
  expect(task.status).toBe('succeeded');
  while (
    await engine.task(ref(task.taskId)).then(
      () => true,
      () => false,
    )
  )
    await new Promise((resolve) => setTimeout(resolve, 20));
  await expect(engine.task(ref(task.taskId))).rejects.toMatchObject({ code: 'not_found' });
  expect(JSON.parse((await store.document('tombstone', 'acme', task.taskId))?.body ?? '{}')).toMatchObject({ status: 'succeeded', by: 'retention' });
});

test('a tenant that has filled its part of the queue is told so, and others are not affected', async () => {
  const { engine } = await premises([], { maxRunning: 1, maxQueuedPerTenant: 2 });
  const request = { language: 'javascript', code: 'return 1' } as const;
  const submitted = await Promise.allSettled(Array.from({ length: 6 }, () => engine.submit('acme', request)));
  const refused = submitted.filter((one) => one.status === 'rejected');
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]?.reason).toBeInstanceOf(QuotaExceeded);
  expect((await engine.submit('other', request)).status).toBe('pending');
});

test('closing waits for calls that their tools have, and the next engine has their results', async () => {
  let calls = 0;
  const began = Promise.withResolvers<void>();
  const slow = {
    name: 'slow',
    execute: async () => {
      calls++;
      began.resolve();
      await new Promise((resolve) => setTimeout(resolve, 150));
      return 'done';
    },
  };
  const store = createMemoryStore();
  // The store outlives the first engine, as a folder would.
  store.close = async () => {};
  const first = await premises([slow], { store });
  const { taskId } = await first.engine.submit('acme', { language: 'javascript', code: 'return await tools.slow({})' });
  await began.promise;
  await first.engine.close();
  const second = await premises([slow], { store });
  expect(await second.engine.wait(second.ref(taskId), 60_000)).toMatchObject({ status: 'succeeded', output: 'done' });
  expect(calls).toBe(1);
});

test('closing does not wait for a call that the next engine can make again', async () => {
  const began = Promise.withResolvers<void>();
  const endless = { name: 'endless', idempotent: true, execute: () => (began.resolve(), new Promise(() => {})) };
  const store = createMemoryStore();
  store.close = async () => {};
  const first = await premises([endless], { store });
  const { taskId } = await first.engine.submit('acme', { language: 'javascript', code: 'return await tools.endless({})' });
  await began.promise;
  await first.engine.close({ drainMs: 3_600_000 });
  const second = await premises([{ ...endless, execute: () => 'done' }], { store });
  expect(await second.engine.wait(second.ref(taskId), 60_000)).toMatchObject({ status: 'succeeded', output: 'done' });
});

test('what a caller mistypes is refused, and named', async () => {
  const { engine } = await premises();
  const submit = (request: object, tenant: unknown = 'acme') => engine.submit(tenant as string, request as never);
  await expect(submit({ language: 'python', codes: '1' })).rejects.toMatchObject({ code: 'invalid_request', message: expect.stringContaining('did you mean "code"') });
  await expect(submit({ language: 'ruby', code: '1' })).rejects.toMatchObject({ code: 'invalid_request', message: expect.stringContaining('request.language') });
  for (const input of [{ d: new Date(0) }, 2n ** 70n, { f() {} }]) {
    await expect(submit({ language: 'python', code: '1', input })).rejects.toMatchObject({ code: 'invalid_request', message: expect.stringContaining('request.input') });
  }
  await expect(submit({ language: 'python', code: '1' }, { language: 'python' })).rejects.toMatchObject({ code: 'invalid_request' });
  for (const ask of [engine.wait('t' as never, 10), engine.task('t' as never), engine.pause({ tenant: 'acme' } as never)])
    await expect(ask).rejects.toMatchObject({ code: 'invalid_request' });
});
