/** Tasks whose program a model writes: from the instruction to the answer, with real machines and a model that counts what it bills. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FermataError, type ModelRequest } from '@fermata/protocol';
import { describe, expect, test } from 'vitest';
import { createMemoryStore, createSqliteStore, type EngineOptions } from '../src/index.ts';
import { BilledModel, js, last, only, python, type Scripted } from './billed-model.ts';
import { lasting } from './mortal-engine.ts';
import { type Premises, premises, type TestTool } from './premises.ts';
import { temporaryFolder } from './temporary-folder.ts';

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

/** The kinds and phases of what happened with the model. */
async function steps({ engine, ref }: Premises, taskId: string): Promise<string[]> {
  const entries = await engine.journal(ref(taskId));
  return entries.flatMap(({ kind, body }) =>
    ['model_asked', 'program', 'repair', 'paused', 'over_budget', 'returned'].includes(kind) ? [`${kind} ${JSON.parse(body).phase ?? ''}`.trim()] : [],
  );
}
const told = (model: BilledModel, number: number) => last(model.asked[number]?.request as ModelRequest);

describe('repairs', () => {
  test('a reply without a program goes back, and after the last repair the task fails with what was wrong last', async () => {
    const model = new BilledModel(['I would rather not.', js('return nothing'), js('return nothing')]);
    const at = await premises([], { models: only(model) });
    const task = await at.run({ instruction: 'x', model: { maxRepairs: 2 } });
    expect(task).toMatchObject({ status: 'failed', error: { code: 'guest_error', name: 'ReferenceError' }, answer: null, authored: { version: 2 } });
    expect(told(model, 1)).toContain('no program in the reply');
    expect(told(model, 2)).toContain('ReferenceError: nothing is not defined');
    expect(await steps(at, task.taskId)).toEqual([...['model_asked generating code', 'repair', 'model_asked repairing', 'program', 'repair', 'model_asked repairing', 'program']]);
    expect(await at.engine.verify(at.ref(task.taskId))).toMatchObject({ verified: true });
  });

  test('a model that never writes a program fails the task with what to do', async () => {
    const model = new BilledModel(['No.', 'No.']);
    const { run } = await premises([], { models: only(model) });
    const task = await run({ instruction: 'x', model: { maxRepairs: 1 } });
    expect(task).toMatchObject({ status: 'failed', authored: null, error: { code: 'model_error', hint: expect.stringContaining('another model') } });
  });

  test('a model that goes on without an end is stopped by the bound on the journal', async () => {
    const model = new BilledModel(Array(50).fill(`No. ${'x'.repeat(100_000)}`));
    const { run, engine, ref } = await premises([], { models: only(model) });
    const task = await run({ instruction: 'x', model: { maxRepairs: 1000 }, limits: { maxJournalBytes: 1024 * 1024 } });
    expect(task).toMatchObject({ status: 'failed', error: { code: 'journal_limit', message: expect.stringContaining('what its model was asked') } });
    const bytes = (await engine.journal(ref(task.taskId))).reduce((sum, { body }) => sum + body.length, 0);
    expect(bytes).toBeLessThan(1024 * 1024 + 200_000);
  });

  test('a library that the task requires and nobody has is no fault of the program', async () => {
    const model = new BilledModel([js('return 1')]);
    const check: EngineOptions['check'] = async () => ({ findings: [], fault: { code: 'library_missing', message: 'there is no pandas' } });
    const { run } = await premises([], { models: only(model), check });
    expect(await run({ instruction: 'x' })).toMatchObject({ status: 'failed', error: { code: 'library_missing' } });
    expect(model.asked).toHaveLength(1);
  });

  test('a limit goes back, too, and the next program has all of its time', async () => {
    const model = new BilledModel([js('for (;;);'), js('return 1'), 'One.']);
    const { run } = await premises([], { models: only(model) });
    const task = await run({ instruction: 'x', limits: { maxCpuMs: 300 } });
    expect(task).toMatchObject({ status: 'succeeded', output: 1, answer: 'One.' });
    expect(told(model, 1)).toContain('cpu_limit');
    expect(task.usage.cpuMs).toBeLessThan(300);
  });

  test('a rejected approval is not written around', async () => {
    const model = new BilledModel([js('return await tools.pay({})'), js('return 1')]);
    const { run, engine, ref } = await premises([{ name: 'pay', verdict: { action: 'require_approval' }, execute: () => 1 }], { models: only(model) });
    const task = await run({ instruction: 'x' });
    await engine.decide(ref(task.taskId), task.waitingFor[0]?.callId as string, { action: 'reject', reason: 'no' }, 'kim');
    expect(await engine.wait(ref(task.taskId), 60_000)).toMatchObject({ status: 'failed', error: { code: 'approval_rejected' } });
    expect(model.asked).toHaveLength(1);
  });

  test('a call that is under way when its program fails has come to its end before the next program makes it', async () => {
    const began = Promise.withResolvers<void>();
    const slow = Promise.withResolvers<string>();
    let effects = 0;
    const pay: TestTool = {
      name: 'pay',
      execute: () => {
        effects++;
        began.resolve();
        return slow.promise;
      },
    };
    const fail: TestTool = {
      name: 'fail',
      execute: async () => {
        await began.promise;
        setTimeout(() => slow.resolve('paid'), 50);
        throw new Error('broken');
      },
    };
    const model = new BilledModel([js('await Promise.all([tools.pay({}), tools.fail({})])'), js('return await tools.pay({})'), 'Paid.']);
    const { run } = await premises([pay, fail], { models: only(model) });
    expect(await run({ instruction: 'x' })).toMatchObject({ status: 'succeeded', output: 'paid' });
    expect(effects).toBe(1);
  });

  test('a model that fails ends the task with model_error, or is asked again in a next attempt', async () => {
    const failing = () => ({ error: new FermataError('model_error', 'the provider says no', { hint: 'Pay the bill.' }) });
    const model: BilledModel = new BilledModel((_, number) => (number === 0 && model.asked.length < 3 ? failing() : number === 0 ? js('return 1') : 'One.'));
    const { run } = await premises([], { models: only(model) });
    expect(await run({ instruction: 'x' })).toMatchObject({ status: 'failed', error: { code: 'model_error', message: 'the provider says no', hint: 'Pay the bill.' } });
    const retried = await run({ instruction: 'x', retry: { maxAttempts: 3, backoffMs: 1 } });
    expect(retried).toMatchObject({ status: 'succeeded', attempt: 2, answer: 'One.' });
    expect(new Set(model.asked.slice(1, 3).map(({ key }) => key)).size).toBe(1);
  });

  test('a program whose answer cannot be asked for has succeeded, and is not run again', async () => {
    const model = new BilledModel([js('return 1'), { error: new FermataError('model_error', 'down') }]);
    const at = await premises([], { models: only(model) });
    const task = await at.run({ instruction: 'x', retry: { maxAttempts: 3, backoffMs: 1 } });
    expect(task).toMatchObject({ status: 'succeeded', output: 1, answer: null, attempt: 1 });
    expect((await at.engine.journal(at.ref(task.taskId))).map(({ kind }) => kind)).toContain('model_failed');
  });
});

describe('what the model may look up', () => {
  test('tools, where there are too many to show', async () => {
    const tools: TestTool[] = Array.from({ length: 2000 }, (_, i) => ({ name: `tool_${i}`, execute: () => i }));
    const model = new BilledModel([
      { calls: [{ name: 'search_tools', arguments: { query: 'tool_1234' } }] },
      { calls: [{ name: 'run_program', arguments: { language: 'javascript', code: 'return await tools.tool_1234({})' } }] },
      'Found.',
    ]);
    const at = await premises(tools, { models: only(model) });
    expect(await at.run({ instruction: 'x' })).toMatchObject({ status: 'succeeded', output: 1234, answer: 'Found.' });
    expect(told(model, 1)).toContain('tool_1234');
    expect(model.asked[1]?.request.messages.at(-2)).toEqual({ role: 'assistant', content: 'search_tools({"query":"tool_1234"})' });
  });

  test('the rest of a large result, and no more often than it may', async () => {
    const more = { calls: [{ name: 'read_result', arguments: { from: 20_000, length: 10 } }] };
    const model = new BilledModel((request, number) =>
      number === 0 ? js("return 'x'.repeat(20000) + 'END'") : request.functions?.length ? more : { ...more, text: 'It ends with END.' },
    );
    const { run } = await premises([], { models: only(model) });
    expect(await run({ instruction: 'x' })).toMatchObject({ status: 'succeeded', answer: 'It ends with END.' });
    expect(told(model, 1)).toContain('of 20005 characters are missing');
    expect(told(model, 2)).toContain('xEND"');
    expect(model.asked).toHaveLength(2 + 8);
  });
});

describe('a budget of tokens', () => {
  test('pauses the task before the next request, and each resume gives it as many again', async () => {
    const model = new BilledModel([js('return nothing'), js('return 3'), 'Three.']);
    const at = await premises([], { models: only(model) });
    const { engine, ref } = at;
    const paused = await at.run({ instruction: 'x', model: { maxTokens: 100 } });
    expect(paused).toMatchObject({ status: 'paused', pauseReason: 'budget', usage: { modelTokens: 110 }, resumable: true, step: 'repairing' });
    await engine.resume(ref(paused.taskId));
    expect(await engine.wait(ref(paused.taskId), 60_000)).toMatchObject({ status: 'paused', pauseReason: 'budget', usage: { modelTokens: 220 }, step: 'answering' });
    await engine.resume(ref(paused.taskId));
    expect(await engine.wait(ref(paused.taskId), 60_000)).toMatchObject({ status: 'succeeded', output: 3, answer: 'Three.', usage: { modelTokens: 330 } });
    expect((await steps(at, paused.taskId)).filter((step) => step === 'over_budget')).toHaveLength(2);
  });
});

describe('approve_plan', () => {
  const pay: TestTool = { name: 'pay', execute: ({ cents }: { cents: number }) => `paid ${cents}` };
  const plan = async (script: Scripted[], options: Partial<EngineOptions> = {}) => {
    const model = new BilledModel(script);
    const at = await premises([pay], { models: only(model), ...options });
    const task = await at.run({ instruction: 'x', model: { approvePlan: true } });
    return { ...at, model, task, id: at.ref(task.taskId), callId: task.waitingFor[0]?.callId as string };
  };
  const PAY_5 = 'return await tools.pay({ cents: 5 })';

  test('shows each program before it runs, and waits', async () => {
    const { engine, task, id, callId } = await plan([js(PAY_5), 'Paid.']);
    const value = { language: 'javascript', code: `${PAY_5}\n` };
    expect(task).toMatchObject({ status: 'waiting', waitingFor: [{ tool: 'plan', kind: 'review', arguments: { value } }] });
    await expect(engine.fork(id)).rejects.toMatchObject({ code: 'invalid_state' });
    expect((await engine.inbox('acme')).items).toMatchObject([{ tool: 'plan', taskId: task.taskId }]);
    await engine.decide(id, callId, { action: 'approve' }, 'kim');
    expect(await engine.wait(id, 60_000)).toMatchObject({ status: 'succeeded', output: 'paid 5', answer: 'Paid.' });
    expect(await engine.programs(id)).toMatchObject([{ version: 1, by: 'model' }]);
  });

  test('runs what the person made of it, and tells the model so', async () => {
    const { engine, id, callId, model } = await plan([js(PAY_5), js('return 1'), 'Done.']);
    await expect(engine.decide(id, callId, { action: 'approve', value: { code: 'x' } }, 'kim')).rejects.toMatchObject({ code: 'invalid_request' });
    await engine.decide(id, callId, { action: 'approve', value: { language: 'javascript', code: 'return edited' } }, 'kim');
    const again = await engine.wait(id, 60_000);
    expect(again).toMatchObject({ status: 'waiting', waitingFor: [{ tool: 'plan' }], authored: { version: 3 } });
    expect(told(model, 1)).toContain('A person changed the program');
    expect(told(model, 1)).toContain('return edited');
    await engine.decide(id, again.waitingFor[0]?.callId as string, { action: 'approve' }, 'kim');
    expect(await engine.wait(id, 60_000)).toMatchObject({ status: 'succeeded', output: 1 });
    expect((await engine.programs(id)).map(({ by }) => by)).toEqual(['model', 'kim', 'model']);
  });

  test('gives the reason of a rejection to the model, as a repair', async () => {
    const { engine, id, callId, model } = await plan([js(PAY_5), js('return 1'), js('return 2')]);
    await engine.decide(id, callId, { action: 'reject', reason: 'do not pay' }, 'kim');
    const again = await engine.wait(id, 60_000);
    expect(told(model, 1)).toContain('do not pay');
    await engine.decide(id, again.waitingFor[0]?.callId as string, { action: 'reject', reason: 'nor this' }, 'kim');
    const third = await engine.wait(id, 60_000);
    expect(third).toMatchObject({ status: 'waiting', authored: { version: 3 } });
    expect(told(model, 2)).toContain('nor this');
  });

  test('a plan waits over a restart and a pause, and is decided meanwhile', async () => {
    const store = lasting(createMemoryStore());
    const { engine, id, callId, model } = await plan([js(PAY_5), 'Paid.'], { store });
    await engine.close();
    const next = await premises([pay], { models: only(model), store });
    expect(await next.engine.pause(id)).toMatchObject({ status: 'paused' });
    await next.engine.decide(id, callId, { action: 'approve' }, 'kim');
    expect(await next.engine.task(id)).toMatchObject({ status: 'paused' });
    await next.engine.resume(id);
    expect(await next.engine.wait(id, 60_000)).toMatchObject({ status: 'succeeded', output: 'paid 5' });
    expect(model.asked).toHaveLength(2);
  });
});

describe('a request that is on its way', () => {
  const slow = () => {
    const reply = Promise.withResolvers<Scripted>();
    const asked = Promise.withResolvers<void>();
    const model = new BilledModel((_, number) => {
      asked.resolve();
      return number === 0 ? reply.promise : 'One.';
    });
    return { reply, asked, model };
  };
  const replied = async ({ engine, ref }: Premises, taskId: string) => {
    while (!(await engine.journal(ref(taskId))).some(({ kind }) => kind === 'model_replied')) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  test('a pause is true at once, the reply is recorded when it comes, and is not asked for again', async () => {
    const { reply, asked, model } = slow();
    const at = await premises([], { models: only(model) });
    const { taskId } = await at.engine.submit('acme', { instruction: 'x' });
    await asked.promise;
    expect(await at.engine.task(at.ref(taskId))).toMatchObject({ status: 'running', step: 'generating code' });
    expect(await at.engine.pause(at.ref(taskId))).toMatchObject({ status: 'paused', pauseReason: 'user_request' });
    await expect(at.engine.fork(at.ref(taskId))).rejects.toMatchObject({ code: 'invalid_state', message: expect.stringContaining('no program yet') });
    expect(await at.engine.inspect(at.ref(taskId))).toMatchObject({ stack: [] });
    reply.resolve(js('return 1'));
    await replied(at, taskId);
    expect(await at.engine.task(at.ref(taskId))).toMatchObject({ status: 'paused', authored: null, usage: { modelTokens: 110 } });
    await at.engine.resume(at.ref(taskId));
    expect(await at.engine.wait(at.ref(taskId), 60_000)).toMatchObject({ status: 'succeeded', answer: 'One.' });
    expect(model.asked).toHaveLength(2);
  });

  test('a task that is resumed before the reply has come waits for the same one', async () => {
    const { reply, asked, model } = slow();
    const at = await premises([], { models: only(model) });
    const { taskId } = await at.engine.submit('acme', { instruction: 'x' });
    await asked.promise;
    await at.engine.pause(at.ref(taskId));
    await at.engine.resume(at.ref(taskId));
    reply.resolve(js('return 1'));
    expect(await at.engine.wait(at.ref(taskId), 60_000)).toMatchObject({ status: 'succeeded', answer: 'One.' });
    expect(model.asked).toHaveLength(2);
  });

  test.each(['running', 'paused'])('a cancel of a task that is %s aborts it', async (state) => {
    const { asked, model } = slow();
    const at = await premises([], { models: only(model) });
    const { taskId } = await at.engine.submit('acme', { instruction: 'x' });
    await asked.promise;
    if (state === 'paused') await at.engine.pause(at.ref(taskId));
    expect(await at.engine.cancel(at.ref(taskId))).toMatchObject({ status: 'cancelled' });
    expect(model.asked[0]?.options.signal.aborted).toBe(true);
  });

  test('closing the engine waits for the reply, and the next engine goes on with it', async () => {
    const { reply, asked, model } = slow();
    const store = lasting(createMemoryStore());
    const first = await premises([], { models: only(model), store });
    const { taskId } = await first.engine.submit('acme', { instruction: 'x' });
    await asked.promise;
    const closing = first.engine.close({ drainMs: 60_000 });
    while ((await store.task(first.ref(taskId)))?.status !== 'paused') await new Promise((resolve) => setTimeout(resolve, 5));
    reply.resolve(js('return 1'));
    await closing;
    const second = await premises([], { models: only(model), store });
    expect(await second.engine.wait(second.ref(taskId), 60_000)).toMatchObject({ status: 'succeeded', answer: 'One.' });
    expect(model.asked).toHaveLength(2);
  });

  test('its text is told as it comes, and is not kept', async () => {
    const { reply, asked, model } = slow();
    const { engine, ref } = await premises([], { models: only(model) });
    const { taskId } = await engine.submit('acme', { instruction: 'x' });
    await asked.promise;
    const all: { seq: number | null; kind: string; data: unknown }[] = [];
    const events = (async () => {
      for await (const event of engine.events(ref(taskId))) all.push(event);
    })();
    // Whoever is told what was recorded is listening to what passes.
    while (!all.some(({ kind }) => kind === 'model_asked')) await new Promise((resolve) => setTimeout(resolve, 5));
    reply.resolve(js('return 1'));
    await events;
    const passing = all.filter(({ kind }) => kind === 'model');
    expect(passing.every(({ seq }) => seq === null)).toBe(true);
    const text = (phase: string) =>
      passing
        .map(({ data }) => data as { phase: string; text: string })
        .filter((one) => one.phase === phase)
        .map((one) => one.text)
        .join('');
    expect(text('generating code')).toBe(js('return 1'));
    expect(text('answering')).toBe('One.');
  });
});

describe('what a task stands in', () => {
  test('a conversation in the place of an instruction', async () => {
    const model = new BilledModel([js('return 1'), 'Un.']);
    const { run, engine } = await premises([], { models: only(model) });
    const messages = [
      { role: 'system' as const, content: 'Speak French.' },
      { role: 'user' as const, content: 'one?' },
    ];
    expect(await run({ messages })).toMatchObject({ status: 'succeeded', answer: 'Un.' });
    expect(model.asked[0]?.request.messages[0]?.content).toContain('Speak French.');
    await expect(engine.submit('acme', { messages: [{ role: 'assistant', content: 'x' }] })).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(engine.submit('acme', { messages, instruction: 'x' })).rejects.toThrow('exactly one of code, instruction and messages, not instruction and messages');
  });

  test('the tasks of its session before it are told, and a shared interpreter has their variables', async () => {
    const model = new BilledModel([python('x = 20\nx'), 'It is 20.', python('x / y'), python('x + 1'), 'It is 21.']);
    const { run } = await premises([], { models: only(model) });
    const shared = { sessionId: 's', sharedInterpreter: true, language: 'python' } as const;
    expect(await run({ ...shared, instruction: 'Set x' })).toMatchObject({ status: 'succeeded', output: 20 });
    expect(await run({ ...shared, instruction: 'Add one to x' })).toMatchObject({ status: 'succeeded', output: 21, authored: { version: 2 } });
    expect(model.asked[2]?.request.messages[0]?.content).toContain('Set x\n  -> It is 20.');
    await expect(run({ sessionId: 's', sharedInterpreter: true, instruction: 'x' })).rejects.toThrow('needs a language');
  });

  test('a fork goes on with the program, and repairs it without what its parent was told', async () => {
    const model = new BilledModel([js('const n = await tools.count({}); return n.toFixed(1)'), '1.0', js('return 2'), 'Two.']);
    const { run, engine, ref } = await premises([{ name: 'count', execute: () => 1 }], { models: only(model) });
    const task = await run({ instruction: 'Count' });
    expect(task).toMatchObject({ status: 'succeeded', output: '1.0' });
    const [call] = await engine.calls(ref(task.taskId));
    const fork = await engine.fork(ref(task.taskId), { answers: { [call?.callId as string]: { ok: 'none' } } });
    expect(await engine.wait(ref(fork.taskId), 60_000)).toMatchObject({ status: 'succeeded', output: 2, answer: 'Two.', authored: { version: 2 } });
    expect(model.asked[2]?.request.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(await engine.verify(ref(fork.taskId))).toMatchObject({ verified: true });
  });

  test('a pause in the middle of its program is a checkpoint, and the program goes on there', async () => {
    const model = new BilledModel([js('let n = 0; while (n < 30_000_000) n++; return n'), 'Many.']);
    const { engine, ref } = await premises([], { models: only(model) });
    const { taskId } = await engine.submit('acme', { instruction: 'x' });
    while ((await engine.task(ref(taskId))).usage.fuel === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await engine.pause(ref(taskId))).toMatchObject({ status: 'paused', checkpointId: expect.stringMatching(/^ckpt_/) });
    await engine.resume(ref(taskId));
    expect(await engine.wait(ref(taskId), 60_000)).toMatchObject({ status: 'succeeded', output: 30_000_000, answer: 'Many.', usage: { modelTokens: 220 } });
  });
});

test('a purge leaves nothing of prompts, programs and replies', async () => {
  const folder = temporaryFolder();
  const store = createSqliteStore({ folder });
  const secrets = { instruction: 'HUSH_INSTRUCTION', code: 'HUSH_PROGRAM', answer: 'HUSH_ANSWER' };
  const model = new BilledModel([js(`return '${secrets.code}'`), secrets.answer]);
  const { run, engine, ref } = await premises([], { models: only(model), store });
  const task = await run({ instruction: secrets.instruction });
  expect(task).toMatchObject({ status: 'succeeded', answer: secrets.answer });
  const found = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .flatMap((file) => {
        const bytes = readFileSync(join(file.parentPath, file.name));
        return Object.values(secrets).filter((secret) => bytes.includes(secret));
      });
  expect(new Set(found())).toEqual(new Set(Object.values(secrets)));
  await engine.purge(ref(task.taskId));
  expect(found()).toEqual([]);
  await engine.close();
});
