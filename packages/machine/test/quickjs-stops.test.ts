/** A program that is stopped, saved and restored anywhere does what it does without that, to the last unit of fuel. */
import { expect, test } from 'vitest';
import { ByteReader, ByteWriter } from '../src/wasm/bytes.ts';
import { closeContainer, openContainer, pack, unpack } from '../src/wasm/container.ts';
import { Machine } from '../src/wasm/machine.ts';
import { stateFromValue } from '../src/wasm/machine-state.ts';
import { readPages, writePages } from '../src/wasm/pages.ts';
import { decodeValue } from '../src/wasm/value-codec.ts';
import { echo, image, type Ran, resultOf, runJavaScript, type TestTool } from './run-javascript.ts';

const fail: TestTool = {
  call: () => {
    throw new Error('no');
  },
};
const hop = (machine: Machine) => Machine.restore(image, machine.snapshot(), { trust: true });
const seen = ({ outcome, stdout, notes, calls, machine }: Ran) => ({
  outcome: { ...outcome, emitted: [] },
  stdout,
  notes,
  calls,
  fuel: machine.fuel,
  hash: machine.hash(),
});

const programs: Record<string, string> = {
  calls:
    'let log = []; for (let i = 0; i < 3; i++) { try { log.push(await tools.echo({ i, big: 2n ** 70n })); await tools.fail({}) } catch (e) { log.push(e.message) } } return log',
  callbacks:
    'const xs = [5, 3, 9, 1].sort((a, b) => a - b); const s = "a1b22".replace(/\\d+/g, (m) => m.length); return [xs, s, JSON.parse("[1,[2]]", (k, v) => v), JSON.stringify({ toJSON: () => [1] })]',
  getters:
    'const p = new Proxy({}, { get: (t, k) => k.length }); class A { get x() { let n = 0; for (let i = 0; i < 9; i++) n += i; return n } } return [p.abc, new A().x, `${{ toString: () => "s" }}`]',
  generators:
    'function* g(n) { if (n) yield* g(n - 1); yield n } async function* h() { for (const x of g(5)) { await null; yield x } } let s = 0; for await (const x of h()) s += x; return s',
  builtins:
    'const t = Array.from({ length: 40 }, (_, i) => "k" + (i * 7) % 41).sort().join(); return [/^(a+)+$/.test("aaaaaaab"), t.split(",").reverse().indexOf("k1"), (3n ** 90n / 7n).toString(), t.normalize("NFD").length, structuredClone(new Map([[1, { t }]]))]',
  stacks:
    'Error.prepareStackTrace = (e, frames) => frames.length; Error.stackTraceLimit = { valueOf() { let n = 0; for (let i = 0; i < 20; i++) n++; return n } }; const out = []; for (let i = 0; i < 4; i++) { try { null.x } catch (e) { out.push(e.stack) } } return out',
  natives:
    'const hook = (x) => ({ toString() { let n = 0; for (let i = 0; i < 9; i++) n += i; return x + n } }); const seen = []; const p = new Proxy({ length: 5, 0: 1, 3: 2 }, { get: (t, k) => (seen.push(k), t[k]), set: (t, k, v) => ((t[k] = v), true), deleteProperty: (t, k) => delete t[k], has: (t, k) => k in t }); return [[hook(1), [hook(2)]].join(hook(3)), Array.prototype.reverse.call(p).length, [].indexOf.call(p, 2), JSON.stringify({ a: { toJSON: (k) => k + hook(4) } }), seen.length, "aXb".repeat(30).toLowerCase().split("x").length, encodeURIComponent("\u20ac".repeat(40)).length]',
  'captured frames':
    'const made = []; const keep = (n, m) => { const self = () => { made.push(() => n++ + m); return self }; self() }; for (let i = 0; i < 9; i++) { keep(i, 1); [i].forEach(keep); await new Promise((r) => { const st = () => { r(i); return st }; st() }) } return made.map((f) => f() + f())',
  timers:
    'const order = []; setTimeout(() => order.push("b"), 20); setTimeout(() => order.push("a"), 10); setTimeout(() => order.push("c"), 20); const i = setInterval(() => { if (order.push("i") > 5) clearInterval(i) }, 8); await sleep(0.1); return [order, Date.now()]',
  printing:
    'console.log([1, { a: new Set([1]) }], new Error("x").message); console.table([{ a: 1 }]); return [new Intl.NumberFormat("en", { style: "currency", currency: "USD" }).format(5), new URL("http://a/b?c").href, Math.random(), crypto.randomUUID()]',
};

test.each(Object.entries(programs))('%s, stopped at every check', (_, code) => {
  const tools = { echo, fail };
  const whole = runJavaScript(code, { with: tools });
  expect(whole.outcome.kind).toBe('done');
  expect(seen(runJavaScript(code, { with: tools, fuel: () => 1 }))).toEqual(seen(whole));
  expect(seen(runJavaScript(code, { with: tools, fuel: (step) => 1 + ((step * 7919) % 61), onStop: hop }))).toEqual(seen(whole));
});

// With no value to return, the engine's compiler leaves that of the last call on what may be a full stack.
test('variables that closures took outlive a function that ends with a call', () => {
  const one = 'const made = [], keep = (n) => { const f = () => made.push(() => n); f() }; for (let i = 0; i < 5; i++) keep(i);';
  expect(resultOf(`${one} return made.map((f) => f())`)).toEqual([0, 1, 2, 3, 4]);
  const more = 'const made = [], keep = (n, m) => { const f = () => { made.push(() => [n++, m]); return f }; f() }; for (let i = 0; i < 3; i++) { keep(i); [i].forEach(keep) }';
  expect(resultOf(`${more} return made.map((f) => (f(), f().join()))`)).toEqual(['1,', '1,0', '2,', '2,0', '3,', '3,0']);
  const cycles = 'const mk = (n) => new Promise((r) => { const st = () => { r(n); return st }; st() }); let last; for (let i = 0; i < 5000; i++) last = mk(i);';
  expect(resultOf(`${cycles} return last`)).toBe(4999);
});

test('a stopped machine tells its line and its variables', () => {
  let looked: unknown;
  const ran = runJavaScript('function work(limit) {\n  let total = 0;\n  for (let i = 0; i < limit; i++) total += i;\n  return total;\n}\nwork(1000)', {
    fuel: (step) => (step === 0 ? 900 : 1e9),
    onStop: (machine) => {
      looked ??= { line: machine.position?.line, stack: machine.inspect().stack };
      return machine;
    },
  });
  expect(ran.outcome).toMatchObject({ value: 499500 });
  expect(looked).toMatchObject({
    line: 3,
    stack: [
      { file: 'main.js', line: 6, function: '' },
      { file: 'main.js', line: 3, function: 'work', locals: { limit: '1000', total: expect.any(String), i: expect.any(String) } },
    ],
  });
});

test('a program that waits tells the line of its await', () => {
  let line: number | undefined;
  runJavaScript('const a = 1;\nconst b = await tools.echo({ a });', {
    with: { echo },
    onStop: (machine) => {
      line = machine.position?.line;
      return machine;
    },
  });
  expect(line).toBe(2);
});

test('a trivial program that waits for a call fits in 8 KB', () => {
  let size = 0;
  runJavaScript('return await tools.echo({ a: 1 })', {
    with: { echo },
    onStop: (machine) => {
      size = machine.snapshot().length;
      return machine;
    },
  });
  expect(size).toBeLessThan(8192);
});

test('frames that a forged snapshot links in a circle do not keep the search for the line', () => {
  let snapshot: Uint8Array = new Uint8Array();
  runJavaScript('Array.prototype.reverse.call({ length: 20000 })', {
    fuel: (step) => (step === 0 ? 9000 : 1e9),
    onStop: (machine) => {
      snapshot = machine.snapshot();
      return machine;
    },
  });
  const body = new ByteReader(unpack(openContainer(snapshot, image.digest, { trust: true })));
  const [attachment, state] = [body.block(), body.block()];
  const { pages, stackPointer } = stateFromValue(decodeValue(state));
  const memory = new Uint8Array(pages * 65536);
  memory.set(image.base);
  readPages(body, memory);
  // Whatever looks like a frame on the stack: the one before it, then the function, which is an object.
  const view = new DataView(memory.buffer);
  const isFrame = (at: number) => at > 0 && at + 16 < memory.length && view.getUint32(at + 12, true) === 0xffffffff;
  let forged = 0;
  for (let at = stackPointer; at < 1_572_864; at += 8) {
    if (!isFrame(at) || !isFrame(view.getUint32(at, true))) continue;
    view.setUint32(at, at, true);
    forged++;
  }
  expect(forged).toBeGreaterThan(0);
  const writer = new ByteWriter(1 << 20);
  writer.block(attachment);
  writer.block(state);
  writePages(writer, memory, image.base, []);
  const began = performance.now();
  Machine.restore(image, closeContainer(pack(writer.finish()), image.digest), { trust: true });
  expect(performance.now() - began).toBeLessThan(5000);
});
