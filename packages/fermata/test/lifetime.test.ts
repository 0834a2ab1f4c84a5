/** Tasks begin, share a thread fairly, and end: cancelled, disposed of, or all at once. */
import { createFermata, type Language } from 'fermata';
import { afterAll, expect, test } from 'vitest';
import { runNode } from './new-process.ts';

const fermata = createFermata();
afterAll(() => fermata.close());

test('an endless loop does not hold up its neighbour on the same thread', async () => {
  await using one = createFermata({ threads: 1 });
  await using endless = await one.start({ language: 'python', code: 'while True:\n    pass' });
  const run = endless.run();
  for (const language of ['python', 'javascript'] as const) expect(await one.run({ language, code: '20 + 1' })).toMatchObject({ output: 21 });
  expect(endless.status).toBe('running');
  await endless.cancel();
  expect(await run).toMatchObject({ status: 'cancelled' });
});

test('cancel runs no code of the program, and aborts its tools', async () => {
  let signal: AbortSignal | undefined;
  const began = Promise.withResolvers<void>();
  const hang = {
    name: 'hang',
    execute: (_: unknown, info: { signal: AbortSignal }) => {
      signal = info.signal;
      began.resolve();
      return new Promise(() => {});
    },
  };
  const code = 'try:\n    tools.hang()\nexcept BaseException:\n    print("caught")\nfinally:\n    print("finally")';
  await using task = await fermata.start({ language: 'python', code, tools: [hang] });
  const run = task.run();
  await began.promise;
  expect(await task.cancel()).toMatchObject({ status: 'cancelled', stdout: '' });
  expect(await run).toMatchObject({ status: 'cancelled', stdout: '' });
  expect(signal?.aborted).toBe(true);
  expect(await task.cancel()).toMatchObject({ status: 'cancelled' });
  await expect(task.inspect()).rejects.toMatchObject({ code: 'invalid_state' });
});

test('the signal given to run cancels it', async () => {
  const controller = new AbortController();
  const run = fermata.run({ language: 'javascript', code: 'console.log(1); for (;;);', signal: controller.signal, onEvent: ({ type }) => type === 'output' && controller.abort() });
  expect(await run).toMatchObject({ status: 'cancelled' });
  await expect(fermata.run({ language: 'javascript', code: '1', signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
});

test('a task that is disposed of while it runs stops, and its Fermata goes on', async () => {
  const task = await fermata.start({ language: 'javascript', code: 'for (;;);' });
  const run = task.run().catch((error: unknown) => error);
  await task[Symbol.asyncDispose]();
  expect(await run).toMatchObject({ status: 'cancelled' });
  await expect(task.snapshot()).rejects.toMatchObject({ code: 'invalid_state' });
  expect(await fermata.run({ language: 'javascript', code: '6 * 7' })).toMatchObject({ output: 42 });
});

test('a closed Fermata starts nothing', async () => {
  const closed = createFermata();
  await closed.run({ language: 'javascript', code: '1' });
  await closed.close();
  await expect(closed.start({ language: 'javascript', code: '1' })).rejects.toMatchObject({ code: 'invalid_state' });
});

test('what a program changes in its interpreter, the next one does not see', async () => {
  await using one = createFermata({ threads: 1 });
  const spoilt = await one.run({ language: 'javascript', code: 'Array.prototype.map = () => "spoilt"; globalThis.left = 1; Object.freeze(JSON); 1' });
  expect(spoilt.status).toBe('succeeded');
  expect(await one.run({ language: 'javascript', code: '[[1].map((x) => x + 1), typeof left]' })).toMatchObject({ output: [[2], 'undefined'] });
  await one.run({ language: 'python', code: 'import json, builtins\njson.dumps = None\nbuiltins.len = lambda x: 99' });
  expect(await one.run({ language: 'python', code: 'import json\n[json.dumps([1]), len("ab")]' })).toMatchObject({ output: ['[1]', 2] });
});

test('fifty tasks at once, of all kinds, each come to their own end', async () => {
  const echo = { name: 'echo', execute: ({ n }: { n?: unknown }) => n };
  const kinds: ((n: number) => [Language, string, object])[] = [
    (n) => ['python', `sum(range(${n}))`, { status: 'succeeded', output: (n * (n - 1)) / 2 }],
    (n) => ['javascript', `await Promise.all([tools.echo({ n: ${n} }), tools.echo({ n: 1 })])`, { status: 'succeeded', output: [n, 1] }],
    (n) => [
      'typescript',
      `const n: number = ${n}; console.log(n); throw new Error("no " + n)`,
      { status: 'failed', stdout: `${n}\n`, error: { code: 'guest_error', message: `Error: no ${n}` } },
    ],
    (n) => ['python', `x = tools.echo(n=${n})\nprint(x)\nx * 2`, { status: 'succeeded', output: 2 * n, stdout: `${n}\n` }],
    () => ['javascript', 'for (;;);', { status: 'failed', error: { code: 'cpu_limit' } }],
  ];
  const tasks = Array.from({ length: 50 }, (_, i) => (kinds[i % kinds.length] as (typeof kinds)[0])(i + 1));
  const results = await Promise.all(tasks.map(([language, code]) => fermata.run({ language, code, tools: [echo], limits: { maxCpuMs: 300 } })));
  for (const [i, [, , expected]] of tasks.entries()) expect(results[i]).toMatchObject(expected);
});

test('a process that was started with flags of V8 runs programs, also from a script on its command line', async () => {
  const script = "import { createFermata } from 'fermata'; console.log((await createFermata().run({ language: 'javascript', code: '20 + 1' })).output)";
  for (const flags of [['--max-old-space-size=1000', '--input-type=module'], ['--expose-gc']]) {
    expect(await runNode([...flags, '-e', script], { cwd: import.meta.dirname })).toMatchObject({ code: 0, stdout: '21\n' });
  }
});

test('closing is waited for, whatever its threads or processes still have to say', async () => {
  // One in a dozen was not, so there are many.
  const script = `import { createFermata } from 'fermata';
    for (const host of [...Array(20).fill('threads'), 'processes']) {
      const fermata = createFermata({ host, threads: 1 });
      for (let i = 0; i < 3; i++) await fermata.run({ language: 'javascript', code: '1' });
      await fermata.close();
    }
    console.log('closed')`;
  expect(await runNode(['--input-type=module', '-e', script], { cwd: import.meta.dirname })).toMatchObject({ code: 0, stdout: 'closed\n', stderr: '' });
});
