/** Machines made in advance, and used again: what a task sees of those before it (nothing). */
import { fileURLToPath } from 'node:url';
import { createFermata } from 'fermata';
import { afterAll, expect, test } from 'vitest';
import { runNode } from './new-process.ts';

const fermata = createFermata({ threads: 1 });
afterAll(() => fermata.close());

test('a prepared Fermata runs its first task like any other', async () => {
  await fermata.prepare(['javascript']);
  expect(await fermata.run({ language: 'javascript', code: 'return 6 * 7' })).toMatchObject({ status: 'succeeded', output: 42 });
});

test('a task finds nothing of the tasks before it on the same thread', async () => {
  const look = {
    javascript: 'const before = globalThis.left ?? null; globalThis.left = 1; return before',
    python: 'import os, json\nbefore = [os.listdir("/work"), os.listdir("/tmp"), getattr(json, "left", None)]\njson.left = 1\nopen("/work/left", "w").write("x")\nbefore',
  } as const;
  for (let round = 0; round < 6; round++) {
    expect((await fermata.run({ language: 'javascript', code: look.javascript })).output).toBe(null);
    expect((await fermata.run({ language: 'python', code: look.python })).output).toEqual([[], [], null]);
  }
});

test('machines that were ended at a limit, grew, or were cancelled are not in the way of later ones', async () => {
  const endings = [
    fermata.run({ language: 'python', code: 'while True: pass', limits: { maxCpuMs: 200 } }),
    fermata.run({ language: 'python', code: 'x = bytearray(60_000_000)\nlen(x)' }),
    fermata.run({ language: 'javascript', code: 'for (;;);', signal: AbortSignal.timeout(300) }),
  ];
  expect((await Promise.all(endings)).map(({ status }) => status)).toEqual(['failed', 'succeeded', 'cancelled']);
  expect((await fermata.run({ language: 'python', code: '1 + 1' })).output).toBe(2);
  expect((await fermata.run({ language: 'javascript', code: '1 + 1' })).output).toBe(2);
});

test('tasks in child processes answer as those on threads do, tell when they have to wait, and leave no machine behind', async () => {
  await using apart = createFermata({ host: 'processes', threads: 1, maxResidentBytes: 400 << 20 });
  const reasons: string[] = [];
  const programs = Array.from({ length: 3 }, (_, n) =>
    apart.run({
      language: 'python',
      code: 'import fermata\nprint("on")\ntools.double(n=fermata.input)',
      input: n,
      tools: [{ name: 'double', execute: ({ n }) => 2 * Number(n) }],
      limits: { maxMemoryBytes: 200 << 20 },
      onEvent: (event) => event.type === 'queued' && reasons.push(event.reason),
    }),
  );
  expect((await Promise.all(programs)).map(({ output, stdout }) => [output, stdout])).toEqual([0, 2, 4].map((output) => [output, 'on\n']));
  expect(reasons[0]).toMatch(/^memory: 1 machines/);
  expect(apart.usage).toMatchObject({ machines: 0, residentMachines: 0 });
});

test('tasks that wait take no machine and no thread, and each goes on', async () => {
  await using many = createFermata({ threads: 1 });
  const tasks = [];
  for (let n = 0; n < 40; n++) {
    const task = await many.start({ language: 'javascript', code: 'const kept = input * 2; return kept + (await tools.person({}))', input: n, tools: [{ name: 'person' }] });
    expect((await task.run()).status).toBe('waiting');
    tasks.push(task);
  }
  await expect.poll(() => many.usage.residentMachines, { timeout: 60_000 }).toBe(0);
  for (const [n, task] of tasks.entries()) {
    task.answer(1, 100);
    expect(await task.run()).toMatchObject({ status: 'succeeded', output: n * 2 + 100 });
    await task[Symbol.asyncDispose]();
  }
});

test('a process stays alive while it waits for a machine in a child process, whatever else comes and goes', async () => {
  const script = `
import { createFermata } from 'fermata';
await using fermata = createFermata({ host: 'processes', threads: 2 });
const tools = [{ name: 'person' }];
const tasks = [];
for (const language of ['python', 'javascript', 'python', 'javascript', 'javascript']) {
  const task = await fermata.start({ language, code: language === 'python' ? 'tools.person()' : 'return await tools.person({})', tools });
  await task.run();
  tasks.push(task);
}
for (const task of tasks) { task.answer(1, 7); console.log((await task.run()).output); await task[Symbol.asyncDispose](); }`;
  const { code, stdout, stderr } = await runNode(['--input-type=module', '-e', script], { cwd: fileURLToPath(new URL('.', import.meta.url)) });
  expect([code, stderr, stdout]).toEqual([0, '', '7\n7\n7\n7\n7\n']);
});
