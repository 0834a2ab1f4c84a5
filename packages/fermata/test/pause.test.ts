/** A pause may come anywhere: what goes on, here or in a new process, is the program as it would have been. */
import { randomBytes } from 'node:crypto';
import { createFermata, type Language, type Task } from 'fermata';
import { afterAll, describe, expect, test } from 'vitest';
import { continueInNewProcess } from './new-process.ts';

const sealKey = { id: 'test', key: randomBytes(32) };
const fermata = createFermata({ sealKey });
afterAll(() => fermata.close());

/** Programs that print, loop `rounds` times, and print again. */
const BUSY: [Language, number, (rounds: number) => string][] = [
  ['python', 400_000, (rounds) => `print("begun")\nx = 0\nfor i in range(${rounds}):\n    x = (x * 31 + i) % 1_000_003\nprint("done")\n[x, i]`],
  ['javascript', 1_500_000, (rounds) => `console.log("begun");\nlet x = 0, i = 0;\nfor (; i < ${rounds}; i++) x = (x * 31 + i) % 1_000_003;\nconsole.log("done");\n[x, i]`],
  [
    'typescript',
    1_500_000,
    (rounds) => `enum E { Big = 1_000_003 }\nconsole.log("begun");\nlet x: number = 0, i = 0;\nfor (; i < ${rounds}; i++) x = (x * 31 + i) % E.Big;\nconsole.log("done");\n[x, i]`,
  ],
];
const [, ROUNDS, LOOP] = BUSY[1] as (typeof BUSY)[0];

/**
 * A task stopped in the middle of its loop: paused as soon as its first output is there. Where this process is so slow
 * that the loop ends before that, it takes a loop that is longer.
 */
async function pausedInLoop(language: Language, rounds: number, program: (rounds: number) => string): Promise<{ task: Task; code: string }> {
  const code = program(rounds);
  const begun = Promise.withResolvers<void>();
  const task = await fermata.start({ language, code, seed: new Uint8Array(32), onEvent: ({ type }) => type === 'output' && begun.resolve() });
  const run = task.run();
  await begun.promise;
  await task.pause().catch(() => {});
  const stopped = await run;
  if (stopped.status === 'succeeded') {
    await task[Symbol.asyncDispose]();
    return pausedInLoop(language, rounds * 4, program);
  }
  expect(stopped).toMatchObject({ status: 'paused', stdout: 'begun\n' });
  return { task, code };
}

describe.each(BUSY)('a busy loop in %s', (language, rounds, program) => {
  test('paused, saved and continued in a new process, gives the same output, result, fuel and state', async () => {
    const { task: paused, code } = await pausedInLoop(language, rounds, program);
    await using task = paused;
    const elsewhere = await continueInNewProcess(await task.snapshot(), sealKey.key);
    const here = await task.run();
    const whole = await fermata.run({ language, code, seed: new Uint8Array(32) });
    expect(elsewhere.pid).not.toBe(process.pid);
    expect(here).toMatchObject({ status: 'succeeded', output: whole.output, stdout: 'begun\ndone\n', resourcesUsed: { fuel: whole.resourcesUsed.fuel } });
    expect(elsewhere).toMatchObject({ status: 'succeeded', output: whole.output, stdout: 'begun\ndone\n', fuel: whole.resourcesUsed.fuel, hash: await task.stateHash() });
  });
});

test('a paused task says so, and run goes on', async () => {
  await using task = (await pausedInLoop('javascript', ROUNDS, LOOP)).task;
  expect(task.status).toBe('paused');
  await task.pause();
  expect(await task.run()).toMatchObject({ status: 'succeeded', stdout: 'begun\ndone\n' });
});

test('a snapshot of a waiting program takes kilobytes', async () => {
  for (const [language, code, most] of [
    ['javascript', 'await tools.ask({})', 8 * 1024],
    ['python', 'tools.ask()', 24 * 1024],
  ] as const) {
    await using task = await fermata.start({ language, code, tools: [{ name: 'ask' }] });
    await task.run();
    expect((await task.snapshot()).length, language).toBeLessThanOrEqual(most);
  }
});

test('files, open handles and generators go along', async () => {
  const code = (rounds: number) =>
    [
      'print("begun")',
      'def numbers():',
      '    for i in range(3):',
      '        yield i',
      'g = numbers(); next(g)',
      'f = open("/work/log.txt", "w+"); f.write("before "); f.flush()',
      'answer = tools.echo(n=1)["n"] if False else None',
      `for _ in range(${rounds}):`,
      '    pass',
      'f.write("after"); f.seek(0)',
      '[f.read(), list(g)]',
    ].join('\n');
  await using task = (await pausedInLoop('python', 400_000, code)).task;
  expect(Buffer.from((await task.readFile('/work/log.txt')) ?? []).toString()).toMatch(/^(before )?$/);
  expect(await continueInNewProcess(await task.snapshot(), sealKey.key)).toMatchObject({ output: ['before after', [1, 2]] });
});

test('a task that has not begun can be saved too', async () => {
  await using task = await fermata.start({ language: 'python', code: 'tools.echo(n=input_n)["n"] if (input_n := 3) else 0', tools: [{ name: 'echo' }] });
  expect(await continueInNewProcess(await task.snapshot(), sealKey.key)).toMatchObject({ status: 'succeeded', output: 3 });
});

test('a pause that comes right after the start stops the program, many times over, and changes nothing', async () => {
  const { task: paused, code } = await pausedInLoop('javascript', 4_000_000, LOOP);
  await using task = paused;
  for (let pauses = 0; pauses < 10; pauses++) {
    const run = task.run();
    await task.pause();
    expect(await run).toMatchObject({ status: 'paused' });
  }
  const whole = await fermata.run({ language: 'javascript', code, seed: new Uint8Array(32) });
  expect(await task.run()).toMatchObject({ output: whole.output, resourcesUsed: { fuel: whole.resourcesUsed.fuel } });
});
