/** What an engine does with tasks that one before it has left. */
import { expect, test } from 'vitest';
import { createMemoryStore } from '../src/index.ts';
import { premises, type TestTool } from './premises.ts';

/** A store that stays open when its engine is closed, as a killed process leaves a folder. */
function lasting() {
  const store = createMemoryStore();
  return new Proxy(store, { get: (target, name) => (name === 'close' ? async () => {} : (Reflect.get(target, name) as (...args: never[]) => unknown).bind(target)) });
}
const PAY: TestTool = { name: 'pay', verdict: { action: 'require_approval' }, execute: ({ cents }: { cents: number }) => `paid ${cents}` };
const CODE = 'return await tools.pay({ cents: 5 })';

test('a task that the engine does not go on with is paused; decisions are recorded, and have their effect when it is resumed', async () => {
  const store = lasting();
  const first = await premises([PAY], { store });
  const { taskId } = await first.run({ code: CODE });
  await first.engine.close();
  const looking = await premises([], { store, goesOn: () => false, maxRunning: 0 });
  const ref = looking.ref(taskId);
  const [call] = (await looking.engine.task(ref)).waitingFor;
  expect(await looking.engine.task(ref)).toMatchObject({ status: 'paused', pauseReason: 'shutdown' });
  await looking.engine.decide(ref, call?.callId as string, { action: 'approve' }, 'kim');
  expect(await looking.engine.calls(ref)).toMatchObject([{ status: 'ready' }]);
  await looking.engine.close();
  const going = await premises([PAY], { store, goesOn: () => false });
  await going.engine.resume(ref);
  while ((await going.engine.wait(ref, 60_000)).status !== 'succeeded');
  expect(await going.engine.task(ref)).toMatchObject({ output: 'paid 5' });
  await going.engine.close();
});

test('a task that is paused on its way back to where it was goes on when it is resumed', async () => {
  const store = lasting();
  const add: TestTool = { name: 'add', idempotent: true, execute: ({ n }: { n: number }) => n };
  const code = "let sum = 0; for (let n = 1; n <= 40; n++) sum += await tools.add({ n }); console.log('there'); for (let i = 0; i < 20_000_000; i++); return sum";
  // Its commits are heard of no more once it computes, as if it had been killed.
  let dead = false;
  const killed = new Proxy(store, { get: (target, name) => (name === 'commit' && dead ? () => new Promise(() => {}) : Reflect.get(target, name)) });
  const first = await premises([add], { store: killed });
  const { taskId } = await first.engine.submit('acme', { language: 'javascript', code });
  while ((await first.engine.journal(first.ref(taskId))).at(-1)?.kind !== 'output') await new Promise((resolve) => setTimeout(resolve, 5));
  dead = true;
  let pausing: Promise<unknown> | undefined;
  const second = await premises([add], {
    store,
    moment: (moment) => {
      if (moment === 'deliver.after') pausing ??= second.engine.pause(second.ref(taskId));
    },
  });
  const ref = second.ref(taskId);
  while (!pausing) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await pausing).toMatchObject({ status: 'paused', checkpointId: null });
  await second.engine.resume(ref);
  expect(await second.engine.wait(ref, 10_000)).toMatchObject({ status: 'succeeded', output: 820 });
  await second.engine.close();
});

test('a task that is paused by name stays so over starts', async () => {
  const store = lasting();
  const first = await premises([PAY], { store });
  const { taskId } = await first.run({ code: CODE });
  await first.engine.close();
  const second = await premises([PAY], { store, goesOn: () => false });
  expect(await second.engine.pause(second.ref(taskId))).toMatchObject({ status: 'paused', pauseReason: 'user_request' });
  await second.engine.close();
  const third = await premises([PAY], { store });
  expect(await third.engine.task(third.ref(taskId))).toMatchObject({ status: 'paused', pauseReason: 'user_request' });
  await third.engine.close();
});

test('a task can be verified and forked where its tools are not at hand', async () => {
  const store = lasting();
  const add: TestTool = { name: 'add', execute: ({ a, b }: { a: number; b: number }) => a + b };
  const first = await premises([add], { store });
  const { taskId } = await first.run({ code: 'return await tools.add({ a: 1, b: 2 })' });
  await first.engine.close();
  const bare = await premises([], { store });
  expect(await bare.engine.verify(bare.ref(taskId))).toMatchObject({ verified: true, differences: [] });
  const [call] = await bare.engine.calls(bare.ref(taskId));
  const fork = await bare.engine.fork(bare.ref(taskId), { answers: { [call?.callId as string]: { ok: 40 } } });
  expect(await bare.engine.wait(bare.ref(fork.taskId), 60_000)).toMatchObject({ status: 'succeeded', output: 40 });
  await bare.engine.close();
});
