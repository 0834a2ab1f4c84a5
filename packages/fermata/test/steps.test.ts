/** Step by step: a task is advanced, says what it waits for, and takes each answer once. */
import { createFermata } from 'fermata';
import { afterAll, expect, test } from 'vitest';

const fermata = createFermata();
afterAll(() => fermata.close());

const ask = { name: 'ask' };
const python = (code: string) => fermata.start({ language: 'python', code, tools: [ask] });
const javascript = (code: string) => fermata.start({ language: 'javascript', code, tools: [ask] });

test('next goes from call to call; answers and failures get where the calls stand', async () => {
  await using task = await python('a = tools.ask(n=1)\ntry:\n    tools.ask(n=2)\nexcept Exception as e:\n    b = str(e)\nprint(a, b)\n[a, b]');
  expect(task.status).toBe('pending');
  expect(await task.next()).toEqual({ kind: 'calls', calls: [{ id: 1, name: 'ask', args: { n: 1 } }], dueMs: null });
  task.answer(1, 'one');
  expect(await task.next()).toMatchObject({ kind: 'calls', calls: [{ id: 2, args: { n: 2 } }] });
  task.fail(2, { name: 'Nope', message: 'not two' });
  expect(await task.next()).toMatchObject({ kind: 'ended', result: { status: 'succeeded', output: ['one', 'not two'], stdout: 'one not two\n' } });
  expect(task.result?.calls.map(({ status }) => status)).toEqual(['ok', 'error']);
});

test('calls that wait together are answered in any order', async () => {
  await using task = await javascript('await Promise.all([1, 2, 3].map((n) => tools.ask({ n })))');
  expect(await task.next()).toMatchObject({ calls: [{ id: 1 }, { id: 2 }, { id: 3 }] });
  task.answer(3, 'c');
  task.answer(1, 'a');
  task.answer(2, 'b');
  let step = await task.next();
  while (step.kind === 'calls') step = await task.next();
  expect(step).toMatchObject({ result: { output: ['a', 'b', 'c'] } });
});

test('what does not fit the state is refused as invalid_state, and changes nothing', async () => {
  const refused = { code: 'invalid_state' };
  await using task = await javascript('await tools.ask({})');
  expect(() => task.answer(1, 1)).toThrow(expect.objectContaining(refused));
  await task.next();
  await expect(task.next()).rejects.toMatchObject(refused);
  expect(() => task.answer(2, 1)).toThrow(expect.objectContaining(refused));
  expect(() => task.approve(1)).toThrow(expect.objectContaining(refused));
  expect(() => task.retry(1)).toThrow(expect.objectContaining(refused));
  task.answer(1, 'first');
  expect(() => task.answer(1, 'second')).toThrow(expect.objectContaining(refused));
  expect(() => task.fail(1, { name: 'E', message: 'late' })).toThrow(expect.objectContaining(refused));
  expect(await task.next()).toMatchObject({ result: { output: 'first' } });
  await expect(task.pause()).rejects.toMatchObject(refused);
  expect(await task.next()).toMatchObject({ kind: 'ended', result: { output: 'first' } });
});

test('an answer that cannot cross is refused where it is given', async () => {
  await using task = await javascript('typeof (await tools.ask({}))');
  await task.next();
  expect(() => task.answer(1, (() => 1) as never)).toThrow(/answer to call 1.*function/);
  task.answer(1, { fine: true });
  expect(await task.next()).toMatchObject({ result: { output: 'object' } });
});

test('two runs of one task at once are refused', async () => {
  await using task = await javascript('await sleep(0.2); 1');
  const first = task.run();
  await expect(task.run()).rejects.toMatchObject({ code: 'invalid_state' });
  await expect(task.next()).rejects.toMatchObject({ code: 'invalid_state' });
  expect(await first).toMatchObject({ output: 1 });
  expect(await task.run()).toMatchObject({ output: 1 });
});

test('a task that only others can move says so, and goes on when it is answered', async () => {
  await using task = await python('[tools.ask(n=1), tools.ask(n=2)]');
  expect(await task.run()).toMatchObject({ status: 'waiting', waitingFor: [{ callId: 1, tool: 'ask', arguments: { n: 1 }, kind: 'client_tool' }] });
  task.answer(1, 'a');
  expect(await task.run()).toMatchObject({ status: 'waiting', waitingFor: [{ callId: 2 }] });
  task.answer(2, 'b');
  expect(await task.run()).toMatchObject({ status: 'succeeded', output: ['a', 'b'] });
});

test('approvals are given in any order, with other arguments or a refusal, and each call is carried out once', async () => {
  const carriedOut: unknown[] = [];
  const pay = { name: 'pay', requiresApproval: true, execute: (args: unknown) => carriedOut.push(args) };
  const code = 'await Promise.all([1, 2, 3].map((n) => tools.pay({ n }).then(() => "ok", (e) => e.message)))';
  await using task = await fermata.start({ language: 'javascript', code, tools: [pay] });
  expect(await task.run()).toMatchObject({ status: 'waiting', waitingFor: [{ kind: 'approval' }, { kind: 'approval' }, { kind: 'approval' }] });
  task.fail(2, { name: 'ApprovalRejected', message: 'too much' });
  task.approve(3, { n: 30 });
  expect(() => task.approve(3)).toThrow(expect.objectContaining({ code: 'invalid_state' }));
  task.approve(1);
  expect(await task.run()).toMatchObject({ status: 'succeeded', output: ['ok', 'too much', 'ok'] });
  expect(carriedOut).toEqual([{ n: 30 }, { n: 1 }]);
});

test('an approver decides at once; its refusal reaches the program with its reason', async () => {
  const pay = { name: 'pay', requiresApproval: true, execute: ({ n }: { n?: unknown }) => n };
  const code = 'const out = []; for (const n of [1, 2]) out.push(await tools.pay({ n }).catch((e) => e.message)); out';
  const result = await fermata.run({
    language: 'javascript',
    code,
    tools: [pay],
    approve: ({ args }) => (args.n === 1 ? { approve: true, arguments: { n: 10 } } : { approve: false, reason: 'only one' }),
  });
  expect(result.output).toEqual([10, expect.stringContaining('only one')]);
});
