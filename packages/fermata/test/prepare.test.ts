/** Machines made in advance, and used again: what a task sees of those before it (nothing). */
import { createFermata } from 'fermata';
import { afterAll, expect, test } from 'vitest';

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
