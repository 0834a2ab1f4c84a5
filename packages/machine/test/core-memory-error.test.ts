/** An exception counts as the memory limit where memory ran out, not where a program only uses the name. */
import { expect, test } from 'vitest';
import { loadImage } from '../src/wasm/image-store.ts';
import { Machine } from '../src/wasm/machine.ts';
import { runJavaScript } from './run-javascript.ts';
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

// Larger than the memory by itself, and larger only as objects.
const LARGE = { text: 'x'.repeat(40_000_000), objects: Array.from({ length: 400_000 }, (_, i) => ({ a: i })) };

for (const [form, value] of Object.entries(LARGE)) {
  const tools = { big: { call: () => value }, small: { call: () => 'small' } };

  test(`an answer that does not fit is the limit, or an exception that the program can catch (${form})`, async () => {
    const python = (code: string, machine: Machine) => runPython(code, { machine, with: tools });
    const javascript = (code: string, machine: Machine) => runJavaScript(code, { machine, with: tools });
    for (const [name, run, uncaught, caught] of [
      ['cpython', python, 'tools.big()', 'try:\n    tools.big()\nexcept MemoryError:\n    pass\ntools.small()'],
      ['quickjs', javascript, 'await tools.big()', 'try { await tools.big() } catch (e) { if (e.name !== "InternalError") throw e }\nreturn tools.small()'],
    ] as const) {
      const image = await loadImage(name);
      expect(run(uncaught, Machine.fresh(image, limits)).outcome, name).toMatchObject({ kind: 'limit', limit: 'memory' });
      expect(run(caught, Machine.fresh(image, limits)).outcome, name).toMatchObject({ kind: 'done', value: 'small' });
    }
  });

  test(`an input that does not fit is the limit (${form})`, async () => {
    for (const [name, run] of [
      ['cpython', runPython],
      ['quickjs', runJavaScript],
    ] as const) {
      const machine = Machine.fresh(await loadImage(name), limits);
      expect(run('1', { machine, input: value }).outcome, name).toMatchObject({ kind: 'limit', limit: 'memory' });
      expect(run('2', { machine }).outcome, name).toMatchObject({ kind: 'done', value: 2 });
    }
  });
}

test('no call waits for an answer that was lost: those under way end with it, and the program goes on', async () => {
  const code = `const all = await Promise.allSettled([tools.big({}), tools.small({})]);
return [all.map(({ status }) => status), await tools.small({})]`;
  const machine = Machine.fresh(await loadImage('quickjs'), limits);
  const tools = { big: { call: () => LARGE.objects }, small: { call: () => 'small' } };
  expect(runJavaScript(code, { machine, with: tools }).outcome).toMatchObject({ kind: 'done', value: [['rejected', 'rejected'], 'small'] });
});
