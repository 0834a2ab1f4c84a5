/** A Python program that is stopped, stored and restored anywhere does what it would have done without. */
import { describe, expect, test } from 'vitest';
import { createThreadHost } from '../src/hosts/thread-host.ts';
import { Machine } from '../src/wasm/machine.ts';
import { echo, image, lateEcho, type Ran, runPython, START_MS } from './run-python.ts';

const programs: Record<string, string> = {
  'finalizers, weak references and the garbage collector': `
import gc, weakref
class D:
    def __init__(s, n): s.n, s.me = n, s
    def __del__(s): total.append(sum(i * s.n for i in range(20)))
class E:
    def __del__(s): [x for x in range(9)]; total.append(1)
total, refs = [], []
for i in range(60): D(i); E(); o = E(); refs.append(weakref.ref(o, lambda r: total.append(len([*range(5)])))); del o
gc.collect()
sum(total)`,
  'callbacks inside of C functions': `
import re, json, functools, itertools, sqlite3
class K:
    def __init__(s, v): s.v = v
    def __lt__(s, o): return sum([s.v, 1]) < o.v + 1
    def __hash__(s): return len([*range(s.v % 7)])
    def __eq__(s, o): return all(x == y for x, y in [(s.v, o.v)])
db = sqlite3.connect("/work/a.db"); db.execute("create table t(a)"); db.executemany("insert into t values (?)", [(i,) for i in range(50)])
db.create_function("py", 1, lambda v: v * 2 + len(str(v)))
[[k.v for k in sorted(map(K, range(40, 0, -1)))][:3], len({K(i % 20) for i in range(60)}),
 re.sub(r"(\\w)(\\d)", lambda m: m[2] + m[1], "a1b2" * 9), json.dumps({"b": {1, 2}}, default=lambda s: [*s]),
 functools.reduce(lambda a, b: a * b % 1009, range(1, 90)), [*itertools.accumulate(range(9), lambda a, b: a + b)][-1],
 db.execute("select sum(py(a)) from t").fetchone()[0], max([3, 1, 2], key=lambda v: -v), str(7 ** 3000 % 10 ** 9)]`,
  'generators, exceptions, files and coroutines with calls': `
import asyncio, contextlib
@contextlib.contextmanager
def opened(path):
    with open(path, "w") as f:
        try: yield f
        finally: print("closed", path)
def walk(n):
    if n: yield from walk(n - 1); yield n
class R:
    def __init__(s, n): s.n = n
    def __repr__(s): return tools.echo(v="z")["v"] if s.n == 0 else f"<{R(s.n - 1)!r}>"
with opened("/work/x") as f:
    for n in walk(40): f.write(f"{n}\\n")
async def one(i):
    await asyncio.sleep(i % 3)
    return (await (tools.late if i % 2 else tools.echo)(i=i))["i"]
async def main():
    q = asyncio.Queue(1)
    async def put():
        for i in range(5): await q.put(i)
    t = asyncio.create_task(put())
    return [await asyncio.gather(*map(one, range(6))), [await q.get() for _ in range(5)]]
caught = 0
for i in range(30):
    try: [][i]
    except IndexError as e: caught += len(str(e))
print(sum(int(line) for line in open("/work/x")), caught, repr(R(30)))
asyncio.run(main())`,
};

/** Everything that must not depend on stops. */
const traces = ({ outcome, stdout, stderr, notes, calls, machine }: Ran) => ({
  outcome: { ...outcome, emitted: [] },
  stdout,
  stderr,
  notes,
  calls,
  fuel: machine.fuel,
  hash: machine.hash(),
});
const tools = { echo, late: lateEcho };

describe.each(Object.entries(programs))('%s', (_, code) => {
  const undisturbed = traces(runPython(code, { with: tools }));

  test('ends well', () => {
    expect(undisturbed.outcome.kind).toBe('done');
  });

  test.each([1, 2, 3])('restored at many places (seed %i)', (seed) => {
    let state = seed;
    const random = () => {
      state = (state * 1103515245 + 12345) % 2 ** 31;
      return state / 2 ** 31;
    };
    const mean = undisturbed.fuel / 40;
    const onStop = (machine: Machine) => Machine.restore(image, machine.snapshot(), { trust: true });
    const fuel = (step: number) => 1 + (step < 20 ? step % 3 : Math.floor(random() * 2 * mean));
    expect(traces(runPython(code, { with: tools, fuel, onStop }))).toEqual(undisturbed);
  });
});

test('a stop at the deepest legal recursion is restored, on the stack that a Worker has', async () => {
  const code = `
import sqlite3, sys
sys.setrecursionlimit(10**6)
class B:
    def __repr__(s):
        deepest[0] += 1
        return repr(s)
db, deepest = sqlite3.connect(":memory:"), [0]
def f():
    deepest[0] += 1
    return db.execute("select f()").fetchone()[0]
db.create_function("f", 0, f)
out = []
for go in (lambda: repr(B()), f, lambda: deep(10000)):
    try: go()
    except (RecursionError, sqlite3.OperationalError, NameError) as e: out.append([type(e).__name__, deepest[0] > 1000])
def deep(n): return n and 1 + deep(n - 1)
[out, deep(30000)]`;
  const host = createThreadHost({ threads: 1 });
  try {
    let machine = await host.create('cpython', {});
    const budget = { wallMs: 120_000, cpuMs: 120_000 };
    let input: Parameters<typeof machine.advance>[0] = { kind: 'start', program: { language: 'python', code }, seed: new Uint8Array(32), nowMs: START_MS };
    for (let stops = 0; ; stops++) {
      const advanced = machine.advance(input, budget, () => {});
      if (stops < 20) machine.stop();
      const outcome = await advanced;
      if (outcome.kind !== 'slice-used') {
        expect(outcome).toMatchObject({
          kind: 'done',
          value: [
            [
              ['RecursionError', true],
              ['OperationalError', true],
              ['NameError', true],
            ],
            30000,
          ],
        });
        return;
      }
      const snapshot = await machine.snapshot();
      machine.dispose();
      ({ machine } = await host.restore(snapshot, { trust: true }));
      input = { kind: 'go' };
    }
  } finally {
    await host.close();
  }
});

test('a program that waits at a call fits in a few kilobytes', () => {
  let bytes = 0;
  runPython('tools.echo()', {
    with: tools,
    onStop: (machine) => {
      bytes = machine.snapshot().length;
      return machine;
    },
  });
  expect(bytes).toBeLessThan(20_000);
});

test('the line is known wherever a program stops', () => {
  const seen: number[] = [];
  runPython('def f(n):\n  t = 0\n  for i in range(n):\n    t += i\n  return t\n\nf(20000)\nsorted(range(99), key=lambda v:\n  sum(x for x in range(v)))', {
    fuel: () => 500,
    onStop: (machine) => {
      seen.push(machine.position?.line ?? 0);
      return machine;
    },
  });
  // Before and after there is no line: the program is parsed, and its objects end.
  const running = seen.slice(
    seen.findIndex((line) => line > 0),
    seen.findLastIndex((line) => line > 0) + 1,
  );
  for (const line of running) expect([3, 4, 8, 9]).toContain(line);
  expect(running).toContain(9);
});

test.each([
  'sum(range(10**6))',
  'import collections, itertools\nlen(collections.deque(itertools.islice(itertools.count(), 10**5)))',
  'import re\nre.match("(a+)+$", "a" * 18 + "b")',
  '3 ** 30000 % 7 ** 9000 % 97',
  'max(range(10**6))',
  'sorted([(i * 7919 % 10007, str(i)) for i in range(20000)])[0]',
  'import sqlite3\nsqlite3.connect(":memory:").execute("with recursive r(i) as (select 1 union all select i + 1 from r where i < 100000) select sum(i) from r").fetchone()',
  'import zlib\nlen(zlib.compress(bytes(range(256)) * 4000, 9))',
  'import bz2\nlen(bz2.compress(bytes(range(256)) * 1000))',
  'import lzma\nlen(lzma.compress(bytes(range(256)) * 1000))',
  'import json\nlen(json.loads("[" + "[1, 2.5, \'x\'], ".replace("\'", chr(34)) * 20000 + "0]"))',
  'import ast\nlen(ast.parse("x = [1, 2, 3]\\n" * 3000).body)',
  'import decimal\ndecimal.getcontext().prec = 3000\nlen(str(decimal.Decimal(2).sqrt().exp()))',
])('%s can be stopped inside of its C loop', (code) => {
  let stops = 0;
  runPython(code, {
    fuel: () => 2000,
    onStop: (machine) => {
      stops++;
      return machine;
    },
  });
  expect(stops).toBeGreaterThan(3);
});

test.each([
  ['nothing else', 'for n in range(200000):\n    total += n % 7'],
  ['a branch that is never taken', 'for n in range(200000):\n    if n == -1:\n        pass\n    total += n % 7'],
  ['objects that end', 'for n in range(100000):\n    total += len([n, str(n)])'],
  ['dicts and strings', 'kept = {}\nfor n in range(100000):\n    kept[n % 50] = "x" + str(n)\n    total += 1'],
])('a slice ends soon after its fuel in a loop with %s', (_what, loop) => {
  const machine = Machine.fresh(image);
  const program = { language: 'python' as const, code: `total = 0\n${loop}\ntotal` };
  let slices = 1;
  let outcome = machine.advance({ kind: 'start', program, seed: new Uint8Array(32), nowMs: START_MS }, 5000);
  for (; outcome.kind === 'slice-used'; slices++) outcome = machine.advance({ kind: 'go' }, 5000);
  expect(outcome.kind).toBe('done');
  expect(machine.fuel / slices).toBeLessThan(2 * 5000);
});
