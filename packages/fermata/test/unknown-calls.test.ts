/** A call that was started before a snapshot and has no answer in it is never silently repeated. */
import { createFermata, type Task, type ToolDefinition } from 'fermata';
import { afterAll, beforeEach, expect, test } from 'vitest';

const fermata = createFermata();
afterAll(() => fermata.close());

let charges: unknown[];
let release: (value: unknown) => void;
beforeEach(() => {
  charges = [];
});

function charging(idempotent: boolean, requiresApproval = false): ToolDefinition {
  const execute = (args: unknown) => {
    charges.push(args);
    return new Promise((resolve) => (release = resolve));
  };
  return { name: 'charge', idempotent, requiresApproval, execute };
}
const charged = { ...charging(false), execute: (args: unknown) => `charged ${charges.push(args)}` };

/** Bytes of a task whose call is under way. */
async function savedInCall(tool: ToolDefinition): Promise<Uint8Array> {
  await using task = await fermata.start({
    language: 'javascript',
    code: 'await tools.charge({ cents: 5 })',
    tools: [tool],
    ...(tool.requiresApproval ? { approve: () => ({ approve: true }) } : {}),
  });
  const run = task.run();
  while (charges.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await task.pause();
  await run;
  return task.snapshot();
}
const restored = (bytes: Uint8Array, tool: ToolDefinition): Promise<Task> => fermata.restore(bytes, { tools: [tool], trust: true });

test('it waits for a decision, which can be to repeat it', async () => {
  await using task = await restored(await savedInCall(charging(false)), charged);
  expect(await task.run()).toMatchObject({ status: 'waiting', waitingFor: [{ callId: 1, tool: 'charge', kind: 'outcome_unknown' }] });
  expect(charges).toHaveLength(1);
  task.retry(1);
  expect(() => task.retry(1)).toThrow(expect.objectContaining({ code: 'invalid_state' }));
  expect(await task.run()).toMatchObject({ status: 'succeeded', output: 'charged 2' });
});

test('the decision can be the answer that was found elsewhere, or a failure', async () => {
  const bytes = await savedInCall(charging(false));
  await using done = await restored(bytes, charged);
  done.answer(1, 'it went through');
  expect(await done.run()).toMatchObject({ status: 'succeeded', output: 'it went through' });
  await using failed = await restored(bytes, charged);
  failed.fail(1, { name: 'Lost', message: 'nobody knows' });
  expect(await failed.run()).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('nobody knows') } });
  expect(charges).toHaveLength(1);
});

test('a call of an idempotent tool is repeated by itself', async () => {
  await using task = await restored(await savedInCall(charging(true)), { ...charged, idempotent: true });
  expect(await task.run()).toMatchObject({ status: 'succeeded', output: 'charged 2' });
});

test('a call that was approved and started is unknown, not to be approved again', async () => {
  await using task = await restored(await savedInCall(charging(false, true)), { ...charged, requiresApproval: true });
  expect(await task.run()).toMatchObject({ status: 'waiting', waitingFor: [{ kind: 'outcome_unknown' }] });
  expect(() => task.approve(1)).toThrow(expect.objectContaining({ code: 'invalid_state' }));
  expect(charges).toHaveLength(1);
});

test('an answer that came while paused is in the snapshot, and the call is not repeated', async () => {
  await using task = await fermata.start({ language: 'javascript', code: 'await tools.charge({ cents: 5 })', tools: [charging(false)] });
  const run = task.run();
  while (charges.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await task.pause();
  await run;
  release('late');
  await task.settled(10_000);
  await using later = await restored(await task.snapshot(), charged);
  expect(await later.run()).toMatchObject({ status: 'succeeded', output: 'late' });
  expect(charges).toHaveLength(1);
});

test('forks go their own ways: answers, output and files of one do not show in another', async () => {
  const code = 'open("/work/log", "w").write("start ")\nname = tools.ask()\nprint(name)\nopen("/work/log", "a").write(name)\nopen("/work/log").read()';
  await using task = await fermata.start({ language: 'python', code, tools: [{ name: 'ask' }] });
  await task.run();
  const forks = [await task.fork('a'), await task.fork('b')];
  const results = [];
  for (const fork of forks) {
    fork.answer(1, `fork ${fork.id}`);
    results.push(await fork.run());
  }
  expect(results).toMatchObject([
    { taskId: 'a', output: 'start fork a', stdout: 'fork a\n' },
    { taskId: 'b', output: 'start fork b', stdout: 'fork b\n' },
  ]);
  expect(task.pending).toHaveLength(1);
  task.answer(1, 'parent');
  expect(await task.run()).toMatchObject({ output: 'start parent', stdout: 'parent\n' });
  for (const fork of forks) await fork[Symbol.asyncDispose]();
});
