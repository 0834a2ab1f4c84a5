/** What the stress sees besides differences: stops that a guest puts off. */
import { expect, test } from 'vitest';
import type { TestProgram } from './programs.ts';
import { onDeepStack } from './stack.ts';
import type { Stopped } from './stopped.ts';

async function stress(code: string, points: number, language: TestProgram['language'] = 'python'): Promise<Stopped> {
  const programs: TestProgram[] = [{ id: 'test', language, code }];
  const [result] = await onDeepStack<Stopped[]>('./whole-thread.ts', { programs, points });
  return result as Stopped;
}

test('a program that can be stopped anywhere is stopped as often as is asked, and soon', async () => {
  const { stops, latest, problems } = await stress('sum(i * i for i in range(100_000))', 40);
  expect(problems).toEqual([]);
  expect(stops).toBeGreaterThanOrEqual(40);
  expect(latest).toBeLessThan(100);
});

// The end of an object by its last reference runs under a guard: it takes fuel, and a stop waits for its end.
test('a program that runs on where it should stop does not pass for one that was stopped', async () => {
  const heldOff = 'class Last:\n    def __del__(self):\n        for _ in range(1_000_000): pass\nLast()\n1';
  const { problems } = await stress(heldOff, 40);
  expect(problems).toContainEqual(expect.stringMatching(/^a stop came \d{6} fuel after it was asked for, and may take 400000$/));
});

test('a program that could be stopped only now and then does not pass for one that was', async () => {
  const lumps = 'class Lump:\n    def __del__(self):\n        for _ in range(60_000): pass\nfor _ in range(5): Lump()\n1';
  const { problems } = await stress(lumps, 400);
  expect(problems).toEqual([expect.stringMatching(/^\d+ stops lie apart, where 320 were to be spread$/)]);
});

// Almost all of its fuel is used in a few operations that cannot be stopped inside; its many checks lie between them.
test('a program whose fuel is used in lumps is stopped as often as is asked all the same', async () => {
  const code = 'let s = 0; for (let k = 0; k < 30; k++) { s += new Uint8Array(1e6).fill(k)[9]; for (let i = 0; i < 20; i++) s += i } return s';
  const { stops, every, problems } = await stress(code, 200, 'javascript');
  expect(problems).toEqual([]);
  expect(every).toBe(false);
  expect(stops).toBeGreaterThanOrEqual(200);
});
