/** Tasks whose program a model writes: from the instruction to the answer, with real machines and a model that counts what it bills. */
import { expect, test } from 'vitest';
import { BilledModel, js, last, only } from './billed-model.ts';
import { premises } from './premises.ts';

test('an instruction becomes a program, its result and an answer', async () => {
  const model = new BilledModel([js("console.log('adding'); return 6 * 7"), 'It is 42.']);
  const { run, engine, ref } = await premises([], { models: only(model) });
  const task = await run({ instruction: 'What is six times seven?' });
  expect(task).toMatchObject({
    status: 'succeeded',
    output: 42,
    answer: 'It is 42.',
    stdout: 'adding\n',
    attempt: 1,
    authored: { version: 1, language: 'javascript', code: "console.log('adding'); return 6 * 7\n" },
    usage: { modelTokens: 220, modelCost: 1 },
  });
  const kinds = (await engine.journal(ref(task.taskId))).map(({ kind }) => kind);
  expect(kinds).toEqual([
    ...['submitted', 'leased', 'model_asked', 'model_replied', 'program', 'leased', 'begun', 'output', 'returned'],
    ...['model_asked', 'model_replied', 'succeeded'],
  ]);
  expect(last(model.asked[0]?.request as never)).toBe('What is six times seven?');
  expect(last(model.asked[1]?.request as never)).toContain('42');
  expect(await engine.verify(ref(task.taskId))).toMatchObject({ verified: true, differences: [] });
});

test('without a model an instruction is refused', async () => {
  const { engine } = await premises();
  await expect(engine.submit('acme', { instruction: 'x' })).rejects.toMatchObject({ code: 'model_error', hint: expect.stringContaining('model') });
});
