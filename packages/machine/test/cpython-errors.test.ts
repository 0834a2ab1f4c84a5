/** How a Python program ends: its result, or an error that says where. */
import { describe, expect, test } from 'vitest';
import { Machine } from '../src/wasm/machine.ts';
import { errorOf, image, resultOf, runPython } from './run-python.ts';

test.each([
  ['1 + 1', 2],
  ['x = 5', null],
  ['__result__ = 3\n4', 3],
  ['"only a string"', 'only a string'],
  ['if True:\n    1', null],
  ['import sys\n__result__ = 5\nsys.exit()', 5],
  ['import sys\nsys.exit(0)', null],
  ['```python\nx = 1\nx\n```', 1],
  ['\n```\n7\n```\n\n', 7],
])('%j has its result', (code, value) => {
  expect(resultOf(code)).toBe(value);
});

test.each([
  ['x = 1\ny = = 2', 'SyntaxError', 2, 5],
  ['x = 1\n```\ny', 'SyntaxError', 2, 1],
  ['```py\nx = 1\n1/0\n```', 'ZeroDivisionError', 3, 1],
  ['def f(n):\n    é = "ü"; return 1 / n\nf(0)', 'ZeroDivisionError', 2, 21],
  ['import json\njson.loads("{")', 'JSONDecodeError', 2, 1],
  ['import sys\nsys.exit(3)', 'SystemExit', 2, 1],
  ['import sys\nsys.exit("gone wrong")', 'SystemExit', 2, 1],
  ['exec("x = ")', 'SyntaxError', 1, 1],
  ['raise KeyboardInterrupt', 'KeyboardInterrupt', 1, 1],
])('%j fails at its place', (code, name, line, column) => {
  expect(errorOf(code)).toMatchObject({ name, line, column });
});

test('a syntax error shows the source, and says so if it is a Markdown fence', () => {
  expect(errorOf('x = 1\ny = = 2')).toMatchObject({ kind: 'syntax_error', traceback: '  File "main.py", line 2\n    y = = 2\n        ^\nSyntaxError: invalid syntax\n' });
  expect(errorOf('Here it is:\n```\n1\n```').message).toMatch(/invalid syntax|Markdown fence/);
  expect(errorOf('1\n```').message).toBe('a Markdown fence (```) inside the program: give only the code itself');
});

test('a traceback reads like that of CPython, without what lies around the program', () => {
  const code = 'import asyncio, json\nasync def inner():\n    json.loads("{")\nasync def main():\n    await asyncio.gather(inner())\nasyncio.run(main())';
  const { traceback } = errorOf(code);
  expect(traceback).toContain('Traceback (most recent call last):\n  File "main.py", line 6, in <module>\n    asyncio.run(main())\n');
  expect(traceback).toContain('  File "main.py", line 3, in inner\n    json.loads("{")\n');
  expect(traceback).toContain('python3.13/json/decoder.py"');
  expect(traceback).not.toMatch(/fermata|runners|base_events/);
});

test('a program has the file name that it was given', () => {
  const code = 'import sys\ndef f(): return [__file__, *sys.argv, f.__code__.co_filename]\nfound = f()\nif task_input: raise ValueError(found)\nfound';
  expect(resultOf(code, { file: 'report.py' })).toEqual(['report.py', 'report.py', 'report.py']);
  expect(resultOf(code)).toEqual(['main.py', 'main.py', 'main.py']);
  const failed = errorOf(code, { file: 'größe 1.py', input: true });
  expect(failed).toMatchObject({ line: 4, column: 16 });
  expect(failed.traceback).toContain('  File "größe 1.py", line 4, in <module>\n    if task_input: raise ValueError(found)\n');
});

test('a program that aborts its process, or breaks its interpreter, has ended itself', () => {
  const aborted = { name: 'SystemExit', message: 'the program aborted its process: by os.abort(), or by a fatal error of its interpreter, which stderr tells' };
  expect(errorOf('import os\ntry:\n    os.abort()\nfinally:\n    print("never")')).toMatchObject(aborted);
  expect(errorOf('import signal\nsignal.raise_signal(signal.SIGABRT)')).toMatchObject(aborted);
  expect(errorOf('import os\nos._exit(5)')).toMatchObject({ name: 'SystemExit', message: 'the program ended its process with code 5' });
});

test('causes are shown, and a deep recursion is short', () => {
  expect(errorOf('try:\n    1/0\nexcept ZeroDivisionError as e:\n    raise ValueError("bad") from e').traceback).toMatch(
    /ZeroDivisionError: division by zero\n\nThe above exception was the direct cause[\s\S]*ValueError: bad\n$/,
  );
  const deep = errorOf('def a(n): return b(n)\ndef b(n): return a(n)\na(0)');
  expect(deep.name).toBe('RecursionError');
  expect(deep.traceback).toMatch(/\n {2}\.\.\. \d+ frames left out \.\.\.\n/);
  expect(deep.traceback.split('\n').length).toBeLessThan(110);
});

describe('nothing a program does keeps it from telling how it ended', () => {
  test.each([
    ['class E(Exception):\n  def __str__(self): raise SystemExit(9)\nraise E()', 'E'],
    ['class M(type):\n  @property\n  def __name__(c): raise ValueError\nclass E(BaseException, metaclass=M): pass\nraise E()', 'E'],
    ['class E(Exception):\n  def __getattribute__(s, n): raise KeyboardInterrupt\nraise E()', 'E'],
    ['import builtins\nfor n in ("len", "isinstance", "str", "print", "open", "type", "repr", "exec", "Exception"): setattr(builtins, n, None)\n1/0', 'ZeroDivisionError'],
    [
      'import traceback, linecache, sys\nlinecache.cache.clear(); traceback.format_exception = traceback.TracebackException = None\nsys.stdout = sys.stderr = sys.excepthook = None\n1/0',
      'ZeroDivisionError',
    ],
    ['import sys\nsys.stdout.close(); sys.setrecursionlimit(60); sys.settrace(lambda *a: 1/0)\n1/0', 'ZeroDivisionError'],
    ['import sys\nsys.modules.clear()\n1/0', 'ZeroDivisionError'],
    ['import sys\nsys.setprofile(lambda *a: 1/0)\nlen(())', 'ZeroDivisionError'],
    ['e = ValueError("loop"); e.__cause__ = e; e.__context__ = e\nraise e', 'ValueError'],
  ])('%j', (code, name) => {
    expect(errorOf(code)).toMatchObject({ name });
  });
});

test('output arrives in order and as it was, also without a newline and of odd characters', () => {
  const ran = runPython('import sys, os\nprint("a", end="")\nprint("b", file=sys.stderr)\nos.write(1, b"c")\nprint("\\ud800é😀")\nsys.stdout.write("end")');
  expect(ran.stdout.replace('c', '').length).toBe('ab'.length - 1 + '\\ud800é😀\nend'.length);
  expect(ran.stderr).toBe('b\n');
  expect(runPython('import io, sys\nsys.stdout = io.StringIO(); print("kept")\n__result__ = sys.stdout.getvalue()').outcome).toMatchObject({ value: 'kept\n' });
});

test('files are closed at the end, and what they held is there', () => {
  const { machine, outcome } = runPython('f = open("out.txt", "w")\nf.write("not flushed")');
  expect(outcome).toMatchObject({ kind: 'done', value: 11 });
  expect(Buffer.from(machine.readFile('/work/out.txt') ?? []).toString()).toBe('not flushed');
});

test('running out of memory is a MemoryError that can be caught, and else the limit', () => {
  const catching = 'try:\n    x = []\n    while True: x.append(bytearray(10**6))\nexcept MemoryError:\n    n = len(x); del x\nn > 10';
  expect(resultOf(catching)).toBe(true);
  expect(runPython('x = []\nwhile True: x.append(bytearray(10**6))').outcome).toMatchObject({ kind: 'limit', limit: 'memory', error: { name: 'MemoryError', line: 2 } });
  expect(runPython('x = []\nwhile True: x.append((x, len(x)))').outcome).toMatchObject({ kind: 'limit', limit: 'memory' });
});

test('an answer that does not fit into memory is a MemoryError at its call', () => {
  const big = { call: () => new Uint8Array(40 << 20) };
  const small = () => Machine.fresh(image, { maxMemoryBytes: 16 << 20 });
  expect(runPython('tools.big()', { with: { big }, machine: small() }).outcome).toMatchObject({ kind: 'limit', limit: 'memory', error: { name: 'MemoryError', line: 1 } });
  expect(runPython('try: tools.big()\nexcept MemoryError: __result__ = "no room"', { with: { big }, machine: small() }).outcome).toMatchObject({ kind: 'done', value: 'no room' });
});

test('one machine runs program after program, sharing globals where that is asked for', () => {
  const first = runPython('import sys\nx = 41\ndef f(): return x\nsys.stdout = None\nx', { shared: true });
  const second = runPython('x += 1\nprint("again")\nf()', { shared: true, machine: first.machine });
  expect(second).toMatchObject({ stdout: 'again\n', outcome: { kind: 'done', value: 42 } });
  const failed = runPython('y = 1\n1/0', { shared: true, machine: second.machine });
  expect(failed.outcome.kind).toBe('failed');
  expect(resultOf('[x, y]', { shared: true, machine: failed.machine })).toEqual([42, 1]);
  expect(errorOf('x', { machine: failed.machine }).name).toBe('NameError');
});

test('a stopped program can be looked into', () => {
  let stack: unknown;
  const code = 'class Odd:\n    def __repr__(self): 1/0\ndef f(numbers):\n    odd = Odd(); long = "x" * 1000\n    return tools.echo()\nf([1, 2])';
  runPython(code, {
    with: { echo: { call: () => null } },
    onStop: (machine) => {
      stack = machine.inspect().stack;
      return machine;
    },
  });
  expect(stack).toEqual([
    { file: 'main.py', line: 6, function: '<module>', locals: { Odd: expect.any(String), f: expect.stringContaining('<function f'), task_input: 'None' } },
    { file: 'main.py', line: 5, function: 'f', locals: { numbers: '[1, 2]', odd: expect.stringContaining('Odd'), long: expect.stringMatching(/^'x+\.\.\.x+'$/) } },
  ]);
});
