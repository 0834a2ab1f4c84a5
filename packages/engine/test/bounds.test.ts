/** What a program makes the host keep, and carry out at once, has a bound. */
import { expect, test } from 'vitest';
import { readJournal } from '../src/replay.ts';
import { type Premises, premises, toolbox } from './premises.ts';

const MiB = 1024 * 1024;

async function journalBytes({ store, ref }: Premises, taskId: string): Promise<number> {
  let bytes = 0;
  for await (const { body } of readJournal(store, ref(taskId))) bytes += body.length;
  return bytes;
}

const HOGS: [string, string][] = [
  ['output of alternating streams', "for (;;) { console.log('a'); console.error('b') }"],
  ['arguments of calls', "for (;;) await tools.take({ text: 'x'.repeat(100_000) })"],
  ['answers of calls', 'for (;;) await tools.give({})'],
  ['arguments that are refused', "for (;;) try { await tools.refuse({ text: 'x'.repeat(100_000) }) } catch {}"],
  ['a result', "return 'x'.repeat(3_000_000)"],
];

test.each(HOGS)('%s without an end end with journal_limit, and the journal is not much larger than it', async (_what, code) => {
  const given = await premises([
    { name: 'take', execute: () => 1 },
    { name: 'give', execute: () => 'y'.repeat(100_000) },
    {
      name: 'refuse',
      execute: () => 1,
      check: () => {
        throw new Error('no');
      },
    },
  ]);
  const task = await given.run({ code, limits: { maxJournalBytes: MiB, maxOutputBytes: 64 * MiB, maxToolCalls: 100_000 } });
  expect(task).toMatchObject({ status: 'failed', error: { code: 'journal_limit' } });
  expect(await journalBytes(given, task.taskId)).toBeLessThan(3 * MiB);
  expect(task.usage.journalBytes).toBeGreaterThan(0);
});

test('the journal counts through a pause, a fork and a new engine', async () => {
  const { run, engine, ref } = await premises([{ name: 'ask' }]);
  const limits = { maxJournalBytes: MiB };
  const task = await run({ code: "await tools.ask({ text: 'x'.repeat(700_000) }); await tools.ask({ text: 'y'.repeat(400_000) })", limits });
  const fork = await engine.fork(ref(task.taskId));
  for (const { taskId } of [task, fork]) {
    const [call] = await engine.calls(ref(taskId));
    await engine.decide(ref(taskId), call?.callId as string, { action: 'result', output: 1 }, 'somebody');
    expect(await engine.wait(ref(taskId), 60_000)).toMatchObject({ status: 'failed', error: { code: 'journal_limit' } });
  }
});

test('arguments for a tool that does not exist are not kept, and the call is known again when the task is run anew', async () => {
  // One that the program is told of, and that is gone when it is called.
  const box = toolbox([{ name: 'ask' }, { name: 'gone' }]);
  const given = await premises([], { tools: { ...box, find: (tenant, name, request) => (name === 'gone' ? undefined : box.find(tenant, name, request)) } });
  const code = "try { await tools.gone({ text: 'x'.repeat(1_000_000) }) } catch (e) { globalThis.said = e.message } await tools.ask({}); return said";
  const task = await given.run({ code });
  const { engine, ref } = given;
  const [unknown, ask] = await engine.calls(ref(task.taskId));
  expect(unknown?.arguments).toEqual({ '(left out)': '1000011 bytes', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(await journalBytes(given, task.taskId)).toBeLessThan(10_000);
  await engine.decide(ref(task.taskId), ask?.callId as string, { action: 'result', output: 1 }, 'somebody');
  expect(await engine.wait(ref(task.taskId), 60_000)).toMatchObject({ status: 'succeeded', output: 'there is no tool gone' });
  expect(await engine.verify(ref(task.taskId))).toMatchObject({ verified: true });
});

/** Ends a call only when it is told to. */
function gate() {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const execute = ({ i }: { i: number }) => {
    begun.push(i);
    return new Promise((resolve) => ends.push(() => resolve(i)));
  };
  return { begun, ends, tool: { name: 'slow', execute: execute as never } };
}
const until = async (fits: () => boolean) => {
  while (!fits()) await new Promise((resolve) => setTimeout(resolve, 2));
};

test('so many calls are carried out at once as the limit says, in their order; the others wait, also while the task is paused', async () => {
  const { begun, ends, tool } = gate();
  const { engine, ref } = await premises([tool]);
  const code = 'return (await Promise.all([0, 1, 2, 3, 4, 5].map((i) => tools.slow({ i })))).join()';
  const { taskId } = await engine.submit('acme', { language: 'javascript', code, limits: { maxCallsAtOnce: 2 } });
  await until(() => ends.length === 2);
  ends[1]?.();
  await until(() => ends.length === 3);
  await engine.pause(ref(taskId));
  ends[0]?.();
  await until(() => begun.length === 3);
  await engine.resume(ref(taskId));
  for (let i = 2; i < 6; i++) {
    await until(() => ends.length > i);
    expect(begun.length).toBeLessThanOrEqual(i + 2);
    ends[i]?.();
  }
  expect(await engine.wait(ref(taskId), 60_000)).toMatchObject({ status: 'succeeded', output: '0,1,2,3,4,5' });
  expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
});

test('calls that a program leaves behind when it ends are carried out nevertheless, also when many bytes of answers are not taken', async () => {
  const begun: number[] = [];
  const execute = async ({ i }: { i: number }) => {
    begun.push(i);
    return 'x'.repeat(17 * MiB);
  };
  const { run } = await premises([{ name: 'slow', execute: execute as never }]);
  const task = await run({ code: "for (let i = 0; i < 4; i++) tools.slow({ i }); return 'over'", limits: { maxCallsAtOnce: 1 } });
  expect(task).toMatchObject({ status: 'succeeded', output: 'over' });
  expect(begun).toEqual([0, 1, 2, 3]);
});

test('while a program takes no answers, no more calls are begun than fill the bound', async () => {
  let begun = 0;
  const { run } = await premises([{ name: 'slow', execute: async () => 'x'.repeat(9 * MiB + 0 * begun++) }]);
  const code = 'for (let i = 0; i < 30; i++) tools.slow({ i }); for (;;);';
  expect(await run({ code, limits: { maxCallsAtOnce: 1, maxCpuMs: 1500 } })).toMatchObject({ error: { code: 'cpu_limit' } });
  expect(begun).toBeLessThanOrEqual(5);
});
