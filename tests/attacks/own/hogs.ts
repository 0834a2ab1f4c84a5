/**
 * Time and depth spent where nobody looks: in imports, class bodies, finalizers, and in what runs when something is shown or
 * read. Processor time is limited, not wall time, so that a slow machine does not change the outcome.
 */
import { fails, succeeds } from '../outcome.ts';
import type { OwnAttack } from './attack.ts';

const limits = { cpu_ms: 500, timeout_ms: 120_000 };
const SLOWLY = { cpu_ms: 100_000, timeout_ms: 120_000 };
const spins = (why: string) => fails('cpu_limit', why);

interface Spin {
  id: string;
  why: string;
  program: string;
}

const PYTHON_SPINS: readonly Spin[] = [
  { id: 'import', why: 'a module is a program like any other', program: 'open("endless.py", "w").write("while True: pass")\nimport endless' },
  { id: 'class-body', why: 'so is a class body', program: 'class A:\n    while True:\n        pass' },
  { id: 'metaclass', why: 'so is a metaclass', program: 'class M(type):\n    def __prepare__(name, bases):\n        while True: pass\nclass A(metaclass=M): pass' },
  { id: 'del', why: 'so is __del__', program: 'class A:\n    def __del__(self):\n        while True: pass\nA()' },
  {
    id: 'del-at-the-end',
    why: 'and what runs when the program is over',
    program: 'class A:\n    def __del__(self):\n        while True: pass\na = A()\na.a = a\ndel a\nimport gc\ngc.collect()',
  },
  { id: 'finalizer', why: 'so is a finalizer', program: 'import weakref\nclass A: pass\na = A()\nweakref.finalize(a, lambda: [0 for _ in iter(int, 1)])\ndel a' },
  { id: 'finalizer-at-the-end', why: 'and one at the end', program: 'import weakref\nclass A: pass\na = A()\nweakref.finalize(a, lambda: [0 for _ in iter(int, 1)])' },
  { id: 'error-text', why: 'an error is shown by code of the program', program: 'class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E' },
  {
    id: 'excepthook',
    why: 'so is a hook',
    program: 'import sys\ndef hook(*_):\n    while True: pass\nsys.excepthook = sys.unraisablehook = hook\nclass A:\n    def __del__(self): raise ValueError\nA()',
  },
  {
    id: 'caught-for-ever',
    why: 'a stop is no exception',
    program: 'while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass\n    finally:\n        pass',
  },
  { id: 'trace', why: 'a trace function is a program like any other', program: 'import sys\ndef spin(*_):\n    while True: pass\nsys.settrace(spin)\n(lambda: 0)()' },
  { id: 'generator-close', why: 'so is the end of a generator', program: 'def g():\n    try: yield\n    finally:\n        while True: pass\nit = g()\nnext(it)\ndel it' },
  { id: 'getattr', why: 'so is a lookup', program: 'class A:\n    def __getattr__(self, name):\n        while True: pass\nA().x' },
  {
    id: 'hash-collisions',
    why: 'keys that all collide are compared for ever',
    program: 'class K:\n    def __hash__(self): return 1\n    def __eq__(self, other): return False\nd = {}\nwhile True: d[K()] = 1',
  },
  { id: 'c-iterators', why: 'a loop in C has fuel checks too', program: 'import itertools, collections\ncollections.deque(itertools.count(), maxlen=0)' },
  { id: 'sum-in-c', why: 'a loop in C has fuel checks too', program: 'import itertools\nsum(itertools.repeat(1))' },
  { id: 'regex', why: 'so does the matcher', program: 'import re\nre.match("(a*)*b", "a" * 40)' },
  {
    id: 'sql',
    why: 'a statement that reaches no fuel check is ended by the timeout of its turn',
    program: 'import sqlite3\nsqlite3.connect(":memory:").execute("with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n").fetchall()',
  },
  { id: 'big-number', why: 'so is one multiplication', program: 'x = 9 ** (9 ** 8)' },
  { id: 'big-digits', why: 'and a number that is shown', program: 'import sys\nsys.set_int_max_str_digits(0)\nlen(str(7 ** 10_000_000))' },
];

const JAVASCRIPT_SPINS: readonly Spin[] = [
  { id: 'class-body', why: 'a class body is a program like any other', program: 'class A { static { for (;;); } }' },
  { id: 'field', why: 'so is a field', program: 'class A { a = (() => { for (;;); })(); } new A();' },
  { id: 'result-getter', why: 'reading the result is a part of the program', program: 'return { get a() { for (;;); } }' },
  { id: 'result-to-json', why: 'so is its toJSON', program: 'return { toJSON() { for (;;); } }' },
  { id: 'result-proxy', why: 'and its traps', program: 'return new Proxy({}, { ownKeys() { for (;;); } })' },
  { id: 'result-then', why: 'and its then', program: 'return { then() { for (;;); } }' },
  {
    id: 'error-to-string',
    why: 'an error is shown by code of the program',
    program: 'throw { toString() { for (;;); }, get stack() { for (;;); }, get message() { for (;;); }, get name() { for (;;); } }',
  },
  {
    id: 'console-proxy',
    why: 'so is what it prints',
    program: 'console.log(new Proxy([], { get() { for (;;); }, ownKeys() { for (;;); } }), { get a() { for (;;); }, [Symbol.toPrimitive]() { for (;;); } }); for (;;);',
  },
  { id: 'finalizer', why: 'so is a finalizer', program: 'const r = new FinalizationRegistry(() => { for (;;); }); r.register({}, 1); await sleep(0.01); for (;;) await null;' },
  { id: 'arguments-getter', why: 'arguments are read by the program', program: 'await tools.ok({ get a() { for (;;); } })' },
  { id: 'every', why: 'a loop in C has fuel checks too', program: 'Array.prototype.every.call({ length: 2 ** 53 - 1 }, () => true)' },
  { id: 'iterator', why: 'a loop in C has fuel checks too', program: 'new Set({ *[Symbol.iterator]() { for (;;) yield 1; } })' },
  { id: 'index-of', why: 'a loop in C has fuel checks too', program: 'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)' },
  { id: 'thenables', why: 'jobs without end are a loop', program: 'const t = { then(f) { f(t); } }; await t;' },
  { id: 'reviver', why: 'so is a reviver', program: "JSON.parse('[1]', () => { for (;;); })" },
  { id: 'replacer', why: 'so is a replacer', program: 'String.prototype.replace.call("aa", /a/g, () => { for (;;); })' },
  { id: 'regex', why: 'the matcher has fuel checks', program: "/^(a+)+$/.test('a'.repeat(60) + 'b')" },
  { id: 'regex-ahead', why: 'the matcher has fuel checks', program: "/(?:(?=(a+))a+)*b/.test('a'.repeat(100))" },
  { id: 'big-number', why: 'large numbers take their time', program: 'const x = (1n << 500_000n) - 1n; for (;;) x * x;' },
  { id: 'caught-for-ever', why: 'a stop is no exception', program: 'for (;;) { try { for (;;); } catch {} finally { continue; } }' },
];

interface Deep {
  id: string;
  program: string;
  stdout: string;
  /** In MiB. */
  memory?: number;
}

const PYTHON_DEPTHS: readonly Deep[] = [
  { id: 'limit-raised', memory: 32, stdout: 'SystemError', program: 'import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()\nf()' },
  { id: 'repr', stdout: 'RecursionError', program: 'a = []\nfor _ in range(200_000): a = [a]\nrepr(a)' },
  { id: 'json', stdout: 'RecursionError', program: 'import json\na = []\nfor _ in range(200_000): a = [a]\njson.dumps(a)' },
  { id: 'json-parse', stdout: 'RecursionError', program: 'import json\njson.loads("[" * 200_000)' },
  { id: 'pickle', stdout: 'RecursionError', program: 'import pickle\na = []\nfor _ in range(200_000): a = [a]\npickle.dumps(a)' },
  { id: 'deepcopy', stdout: 'RecursionError', program: 'import copy\na = []\nfor _ in range(200_000): a = [a]\ncopy.deepcopy(a)' },
  { id: 'compare', stdout: 'RecursionError', program: 'a, b = [], []\nfor _ in range(200_000): a, b = [a], [b]\na == b' },
  { id: 'hash', stdout: '', program: 'a = ()\nfor _ in range(200_000): a = (a,)\nhash(a)' },
  { id: 'isinstance', stdout: 'RecursionError', program: 'a = (int,)\nfor _ in range(200_000): a = (a,)\nisinstance("", a)' },
  { id: 'parentheses', stdout: 'MemoryError', program: 'eval("(" * 50_000 + ")" * 50_000)' },
  { id: 'unary', stdout: 'MemoryError', program: 'eval("-" * 200_000 + "1")' },
  { id: 'attributes', stdout: 'RecursionError', program: 'compile("a" + ".b" * 200_000, "", "eval")' },
  { id: 'regex', stdout: 'RecursionError', program: 'import re\nre.compile("(" * 50_000 + ")" * 50_000)' },
  {
    id: 'dealloc',
    stdout: 'done',
    program:
      'a = None\nclass N:\n    def __init__(self, n): self.n = n\nfor _ in range(300_000): a = N(a)\ndel a\nb = []\nfor _ in range(300_000): b = [b]\ndel b\nprint("done", end="")',
  },
  {
    id: 'partial',
    stdout: 'RecursionError',
    program: 'import functools\nclass P(functools.partial): pass\np = P(int)\nfor _ in range(100_000):\n    q = P(int)\n    q.__setstate__((p, (), {}, {}))\n    p = q\nrepr(p)',
  },
  { id: 'bases', stdout: 'RecursionError', program: 'class A: pass\nfor _ in range(500): A = type("A", (A,), {})\ndef f(): f()\nf()' },
  { id: 'generators', stdout: 'RecursionError', program: 'def g(n): yield from g(n + 1)\nlist(g(0))' },
  { id: 'format', stdout: 'ValueError', program: '("{:" + "{" * 1000 + "}" * 1000 + "}").format(*range(2000))' },
  { id: 'xml', stdout: 'RecursionError', program: 'import xml.etree.ElementTree as E\ne = E.fromstring("<a>" * 50_000 + "</a>" * 50_000)\nE.tostring(e)' },
  { id: 'literal', stdout: 'MemoryError', program: 'import ast\nast.literal_eval("[" * 90 + "-" * 100_000 + "1" + "]" * 90)' },
];

const JAVASCRIPT_DEPTHS: readonly Deep[] = [
  { id: 'call', stdout: 'RangeError', program: 'const f = () => f() + 1; f();' },
  { id: 'proxy', stdout: 'RangeError', program: 'const p = new Proxy({}, { get: (_, key, me) => me[key] }); p.x;' },
  { id: 'proxy-chain', stdout: 'RangeError', program: 'let p = {}; for (let i = 0; i < 200_000; i++) p = new Proxy(p, {}); p.x;' },
  { id: 'bound', stdout: 'InternalError', program: 'let f = () => 1; for (let i = 0; i < 20_000; i++) f = f.bind(null); f();' },
  { id: 'json', stdout: 'RangeError', program: 'let a = []; for (let i = 0; i < 200_000; i++) a = [a]; JSON.stringify(a);' },
  { id: 'json-parse', stdout: 'RangeError', program: "JSON.parse('['.repeat(200_000) + ']'.repeat(200_000));" },
  { id: 'join', stdout: 'RangeError', program: 'let a = []; for (let i = 0; i < 200_000; i++) a = [a]; String(a);' },
  { id: 'flat', stdout: 'RangeError', program: 'let a = []; for (let i = 0; i < 200_000; i++) a = [a]; a.flat(Infinity);' },
  { id: 'regex', stdout: 'SyntaxError', program: "new RegExp('('.repeat(60_000) + ')'.repeat(60_000));" },
  { id: 'parse', stdout: 'RangeError', program: "new Function('return ' + '['.repeat(100_000) + ']'.repeat(100_000));" },
  { id: 'console', stdout: 'done', program: "let a = {}; for (let i = 0; i < 200_000; i++) a = { a }; console.error(a); console.log('done');" },
  { id: 'clone', stdout: 'RangeError', program: 'let a = {}; for (let i = 0; i < 200_000; i++) a = { a }; structuredClone(a);' },
  { id: 'causes', stdout: 'done', program: "let e = new Error('0'); for (let i = 0; i < 100_000; i++) e = new Error('x', { cause: e }); console.error(e); console.log('done');" },
  { id: 'freed', stdout: 'done', program: "let a = null; for (let i = 0; i < 500_000; i++) a = { a }; a = null; console.log('done');" },
  { id: 'promises', stdout: 'done', program: "let p = Promise.resolve(); for (let i = 0; i < 200_000; i++) p = p.then(() => {}); await p; console.log('done');" },
  {
    id: 'closures',
    stdout: 'done',
    program: "const table = []; for (let i = 0; i < 300_000; i++) table.push(() => i); let s = 0; for (const f of table) s += f(); console.log('done');",
  },
  {
    id: 'functions',
    stdout: 'done',
    program: "const f = new Function(Array.from({ length: 50_000 }, (_, i) => `function f${i}() { return ${i} }`).join(';') + '; return f49999()'); f(); console.log('done');",
  },
  { id: 'many-arguments', stdout: 'RangeError', program: 'Math.max(...new Array(1_000_000).fill(1));' },
  { id: 'prototypes', stdout: 'done', program: "let o = {}; for (let i = 0; i < 200_000; i++) o = Object.create(o); o.x; console.log('done');" },
];

const caught = {
  python: (program: string) => `try:\n    exec(${JSON.stringify(program)})\nexcept Exception as e:\n    print(type(e).__name__)`,
  javascript: (program: string) => `try {\n${program}\n} catch (e) { console.log(e.name); }`,
};
const NAMES = { python: 'py', javascript: 'js' } as const;

const spinning = (language: 'python' | 'javascript', list: readonly Spin[]) =>
  list.map(({ id, why, program }): OwnAttack => ({ id: `own-${NAMES[language]}-spin-${id}`, language, program, limits, tools: { ok: { returns: 1 } }, outcome: spins(why) }));
const deep = (language: 'python' | 'javascript', list: readonly Deep[]) =>
  list.map(
    ({ id, program, stdout, memory }): OwnAttack => ({
      id: `own-${NAMES[language]}-deep-${id}`,
      language,
      program: caught[language](program),
      limits: { ...SLOWLY, memory_mb: memory ?? 256 },
      outcome: succeeds('what is nested too deeply is refused by an exception that can be caught, or works', { stdout }),
    }),
  );

export const HOGS: readonly OwnAttack[] = [
  ...spinning('python', PYTHON_SPINS),
  ...spinning('javascript', JAVASCRIPT_SPINS),
  ...deep('python', PYTHON_DEPTHS),
  ...deep('javascript', JAVASCRIPT_DEPTHS),
];
