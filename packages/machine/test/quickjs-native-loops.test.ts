/** What the engine does in C is no hole in the promises: it can be stopped in its loops, and ends cleanly in its depths. */
import type { Host, Input } from '@fermata/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createThreadHost } from '../src/hosts/thread-host.ts';

const seed = new Uint8Array(32);
const nowMs = 1_700_000_000_000;
const ample = { wallMs: 60_000, cpuMs: 60_000 };
const start = (code: string): Input => ({ kind: 'start', program: { language: 'javascript', code, tools: [] }, seed, nowMs });

let host: Host;
beforeAll(() => {
  host = createThreadHost({ threads: 1 });
});
afterAll(() => host.close());

const endless: Record<string, string> = {
  join: 'Array.prototype.join.call({ length: 2 ** 53 - 1 }, "")',
  reverse: 'Array.prototype.reverse.call({ length: 2 ** 53 - 1 })',
  indexOf: 'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)',
  unshift: 'Array.prototype.unshift.call({ length: 2 ** 53 - 2 }, 1)',
  'search in text': 'const s = "a".repeat(2e6); s.indexOf("a".repeat(1e6) + "b")',
  'search from the end': 'const s = "a".repeat(2e6); s.lastIndexOf("a".repeat(1e6) + "b")',
  'sorting of accents': '"\\u0344\\u0315".repeat(1e6).normalize("NFD")',
  'big integers': 'let x = 3n ** 300000n; for (;;) x * x',
  'regular expression': '/(a+)+$/.test("a".repeat(60) + "b")',
};

test.each(Object.entries(endless))('%s can be stopped, saved and gone on with, and ends at its limit', async (_, code) => {
  const machine = await host.create('quickjs', {});
  const asked = setTimeout(() => machine.stop(), 300);
  const outcome = await machine.advance(start(code), ample, () => {});
  clearTimeout(asked);
  expect(outcome.kind).toBe('slice-used');
  const snapshot = await machine.snapshot();
  machine.dispose();
  const { machine: again } = await host.restore(snapshot, { trust: true });
  expect(await again.advance({ kind: 'go' }, { wallMs: 60_000, cpuMs: 100 }, () => {})).toMatchObject({ kind: 'limit', limit: 'cpu' });
});

const objects = 'let v = {}; for (let i = 0; i < 200000; i++) v = { v };';
const arrays = 'let v = []; for (let i = 0; i < 200000; i++) v = [v];';
const deep: Record<string, string> = {
  'JSON.stringify of objects': `${objects} JSON.stringify(v)`,
  'JSON.stringify of arrays': `${arrays} JSON.stringify(v)`,
  'JSON.parse': 'JSON.parse("[".repeat(200000) + "]".repeat(200000))',
  structuredClone: `${objects} structuredClone(v)`,
  flat: `${arrays} v.flat(Infinity)`,
  String: `${arrays} String(v)`,
};

test.each(Object.entries(deep))('%s deeper than the stack is an error that a program can catch', async (_, code) => {
  const machine = await host.create('quickjs', {});
  const outcome = await machine.advance(start(`try { ${code}; return "no error" } catch (e) { return e.name + ": " + e.message }`), ample, () => {});
  expect(outcome).toMatchObject({ kind: 'done', value: 'RangeError: Maximum call stack size exceeded' });
  machine.dispose();
});

test('the callback of a FinalizationRegistry that never returns can be stopped', async () => {
  const machine = await host.create('quickjs', {});
  const code = 'const r = new FinalizationRegistry(() => { for (;;); }); (() => r.register({}, 1))(); await null; await null; return 1';
  const asked = setTimeout(() => machine.stop(), 300);
  expect(await machine.advance(start(code), ample, () => {})).toMatchObject({ kind: 'slice-used' });
  clearTimeout(asked);
  machine.dispose();
});

test('Error.prepareStackTrace that never returns ends at the limit of time, since a stop has to wait for it', async () => {
  const machine = await host.create('quickjs', {});
  const code = 'Error.prepareStackTrace = () => { for (;;); }; null.x';
  expect(await machine.advance(start(code), { wallMs: 60_000, cpuMs: 300 }, () => {})).toMatchObject({ kind: 'limit' });
});
