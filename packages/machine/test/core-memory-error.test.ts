/** An exception counts as the memory limit where memory ran out, not where a program only uses the name. */
import { expect, test } from 'vitest';
import { loadImage } from '../src/wasm/image-store.ts';
import { Machine } from '../src/wasm/machine.ts';
import { runPython } from './run-python.ts';

const limits = { maxMemoryBytes: 32 * 1024 * 1024 };

test('a MemoryError of CPython is the limit; one that the program makes is its own', async () => {
  for (const code of ['bytearray(10 ** 9)', '[0] * 10 ** 9', 'x = []\nwhile True: x.append(bytearray(10 ** 6))']) {
    const machine = Machine.fresh(await loadImage('cpython'), limits);
    expect(runPython(code, { machine }).outcome, code).toMatchObject({ kind: 'limit', limit: 'memory' });
  }
  expect(runPython('raise MemoryError("mine")').outcome).toMatchObject({ kind: 'failed', error: { name: 'MemoryError', message: 'mine' } });
});

test('an InternalError of QuickJS is the limit; one that the program makes is its own', async () => {
  const image = await loadImage('quickjs');
  const outcome = (code: string) => {
    const program = { language: 'javascript' as const, code };
    return Machine.fresh(image, limits).advance({ kind: 'start', program, seed: new Uint8Array(32), nowMs: 0 }, 2e9);
  };
  expect(outcome('const x = []; for (;;) x.push(new Uint8Array(1e6));')).toMatchObject({ kind: 'limit', limit: 'memory' });
  expect(outcome('const e = new Error("out of memory"); e.name = "InternalError"; throw e;')).toMatchObject({ kind: 'failed' });
});
