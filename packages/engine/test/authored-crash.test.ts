/** A program that is wrong in three ways ends right, and wherever the engine dies on the way no reply is paid for twice and no effect happens twice. */
import { expect, test } from 'vitest';
import { createMemoryStore, type EngineOptions, type Moment } from '../src/index.ts';
import { BilledModel, js, last, only } from './billed-model.ts';
import { lasting, mortalEngine } from './mortal-engine.ts';
import type { TestTool } from './premises.ts';

const PROGRAMS = {
  syntax: 'return 1 +',
  unknownTool: 'return await tools.pya({ cents: 5 })',
  runtime: 'const paid = await tools.pay({ cents: 5 });\nreturn paid.amount.toFixed(2)',
  right: "const paid = await tools.pay({ cents: 5 });\nconsole.log('paid');\nreturn paid",
};
const MOMENTS: Moment[] = [
  'commit.before',
  'commit.after',
  'checkpoint.before',
  'checkpoint.after',
  'tool.before',
  'tool.after',
  'settle.after',
  'deliver.before',
  'deliver.after',
];

/** Knows one tool, as the check of programs would. */
const check: EngineOptions['check'] = async ({ code }) => {
  if (!code.includes('tools.pya')) return { findings: [] };
  const finding = { rule: 'unknown_tool', severity: 'error' as const, line: 1, column: 14, message: 'there is no tool "pya"; did you mean "pay"?' };
  return { findings: [finding], fault: { code: 'unknown_tool', message: finding.message, line: 1, column: 14 } };
};

/** Replies only to what it should have been told, so that a prompt that lacks something fails the test. */
const author = () =>
  new BilledModel((request) => {
    const told = last(request);
    if (request.messages[0]?.content.includes('Answer the user')) return told.includes('"paid 5"') ? 'Paid 5 cents.' : { error: new Error(`no result in ${told}`) };
    if (told === 'Pay five cents') return request.messages[0]?.content.includes('pay') ? js(PROGRAMS.syntax) : { error: new Error('no stubs') };
    if (told.includes('syntax_error')) return js(PROGRAMS.unknownTool);
    if (told.includes('line 1, column 14, unknown_tool: there is no tool "pya"')) return js(PROGRAMS.runtime);
    if (told.includes('TypeError') && told.includes('main.js:2')) return js(PROGRAMS.right);
    return { error: new Error(`nothing to reply to ${told}`) };
  });

function world() {
  const effects: number[] = [];
  const pay: TestTool = {
    name: 'pay',
    execute: ({ cents }: { cents: number }) => (effects.push(cents), `paid ${cents}`),
    reconcile: async () => (effects.length > 0 ? { output: 'paid 5' } : { retry: true }),
  };
  return { effects, pay, model: author(), store: lasting(createMemoryStore()) };
}

test('a program that is wrong in three ways is repaired three times, each step in the journal', async () => {
  const { effects, pay, model, store } = world();
  const { engine, ref, run } = await mortalEngine(store, [pay], only(model), undefined, { check, checkpointEveryCpuMs: 0 });
  const task = await run({ instruction: 'Pay five cents' });
  expect(task).toMatchObject({ status: 'succeeded', output: 'paid 5', answer: 'Paid 5 cents.', stdout: 'paid\n', attempt: 1, authored: { version: 4 }, error: null });
  expect(effects).toEqual([5]);
  const entries = (await engine.journal(ref(task.taskId))).map(({ kind, body }) => ({ kind, ...JSON.parse(body) }));
  const steps = entries.filter(({ kind }) => ['model_asked', 'model_replied', 'program', 'finding', 'repair', 'begun', 'returned', 'succeeded'].includes(kind));
  expect(steps.map(({ kind, phase, error }) => [kind, phase ?? error?.code].filter(Boolean).join(' '))).toEqual([
    ...['model_asked generating code', 'model_replied', 'program', 'begun', 'repair syntax_error'],
    ...['model_asked repairing', 'model_replied', 'program', 'finding', 'repair unknown_tool'],
    ...['model_asked repairing', 'model_replied', 'program', 'begun', 'repair guest_error'],
    ...['model_asked repairing', 'model_replied', 'program', 'begun', 'returned', 'model_asked answering', 'model_replied', 'succeeded'],
  ]);
  expect((await engine.programs(ref(task.taskId))).map(({ version, code, by }) => [version, code.trim(), by])).toEqual(
    Object.values(PROGRAMS).map((code, i) => [i + 1, code, 'model']),
  );
  expect(await engine.calls(ref(task.taskId))).toMatchObject([
    { tool: 'pay', by: 'tool' },
    { tool: 'pay', by: 'an earlier attempt' },
  ]);
  expect(await engine.verify(ref(task.taskId))).toMatchObject({ verified: true, differences: [] });
  await engine.close();
});

test('wherever the engine dies, the next one goes on: every reply is billed once and asked for no more once it is recorded, and effects happen once', async () => {
  const whole = world();
  const { engine, seen, run } = await mortalEngine(whole.store, [whole.pay], only(whole.model), undefined, { check, checkpointEveryCpuMs: 0 });
  await run({ instruction: 'Pay five cents' });
  await engine.close();
  for (const moment of [...MOMENTS, 'model.before', 'model.after'] as Moment[]) {
    expect(seen.get(moment)).toBeGreaterThan(0);
    // Between two commits lies the same, whichever of them it is near.
    const [first, every] = moment === 'commit.before' ? [1, 2] : moment === 'commit.after' ? [2, 2] : [1, 1];
    for (let count = first; count <= (seen.get(moment) ?? 0); count += every) {
      const at = `${moment}:${count}`;
      const { effects, pay, model, store } = world();
      const mortal = await mortalEngine(store, [pay], only(model), { moment, count }, { check, checkpointEveryCpuMs: 0 });
      await Promise.race([mortal.run({ instruction: 'Pay five cents' }, 'one').catch(() => {}), mortal.died]);
      const ref = mortal.ref('one');
      const recorded = new Set((await store.entries(ref, 0, 1000)).filter(({ kind }) => kind === 'model_replied').map(({ body }) => JSON.parse(body).n));
      const before = model.asked.length;
      const second = await mortalEngine(store, [pay], only(model), undefined, { check, checkpointEveryCpuMs: 0 });
      // Before its first commit there was no task.
      if (!(await store.task(ref))) await second.engine.submit('acme', { instruction: 'Pay five cents' }, { taskId: 'one' });
      const task = await second.engine.wait(ref, 60_000);
      expect([at, task.status, task.output, task.answer, task.authored?.version]).toEqual([at, 'succeeded', 'paid 5', 'Paid 5 cents.', 4]);
      expect([at, effects]).toEqual([at, [5]]);
      expect([at, model.billed.size, task.usage.modelTokens]).toEqual([at, 5, 550]);
      // A reply that was recorded is never asked for again.
      const keys = [...model.billed.keys()];
      const again = model.asked.slice(before).filter(({ key }) => recorded.has(keys.indexOf(key) + 1));
      expect([at, again.length]).toEqual([at, 0]);
      expect(model.asked.length).toBeLessThanOrEqual(6);
      await second.engine.close();
    }
  }
});
