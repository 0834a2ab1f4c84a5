/** `tools` and `fermata` as a Python program sees them. */
import { describe, expect, test } from 'vitest';
import { echo, errorOf, resultOf, runPython, type TestTool } from './run-python.ts';

const create: TestTool = { parameters: ['title', 'body'], call: (args) => args };
const tools = { 'crm.create': create, 'github.list-issues': echo, echo };
const failing = (name: string): Record<string, TestTool> => ({
  fail: {
    call: () => {
      throw Object.assign(new Error('there is none'), { name, data: { code: 7 } });
    },
  },
});

test.each([
  ['tools.crm.create(title="t", body="b")', { title: 't', body: 'b' }],
  ['tools.crm.create("t", "b")', { title: 't', body: 'b' }],
  ['tools.crm.create("t", body="b")', { title: 't', body: 'b' }],
  ['tools.crm.create({"title": "t"})', { title: 't' }],
  ['tools.crm.create({"other": "t"})', { title: { other: 't' } }],
  ['tools["crm.create"]("t")', { title: 't' }],
  ['tools["github.list-issues"](n=1)', { n: 1 }],
  ['tools.github.list_issues({"n": 1})', { n: 1 }],
  ['tools.github["list-issues"]()', {}],
  ['[hasattr(tools, "nope"), hasattr(tools.crm, "create"), repr(tools.crm.create)]', [false, true, '<tool crm.create(title, body)>']],
])('%s', (code, value) => {
  expect(resultOf(code, { with: tools })).toEqual(value);
});

test.each([
  ['tools.crm.create(1, 2, 3)', 'TypeError', 'tools.crm.create() takes 2 arguments (title, body) but 3 were given'],
  ['tools.crm.create(1, title=2)', 'TypeError', "tools.crm.create() got two values for 'title'"],
  ['tools.echo(1)', 'TypeError', 'tools.echo() takes keyword arguments, like tools.echo(key=value)'],
  ['tools.echo(when=[object()])', 'TypeError', 'args.when[0] is of type object, which cannot leave the machine'],
  ['tools.crm.creat()', 'UnknownToolError', "there is no tool named 'crm.creat'; there is crm.create"],
  ['tools.crm()', 'UnknownToolError', "there is no tool named 'crm'; there is crm.create"],
])('%s is refused before a call starts', (code, name, message) => {
  const ran = runPython(code, { with: tools });
  expect(ran.outcome).toMatchObject({ kind: 'failed', error: { name, line: 1, column: 1, message: expect.stringContaining(message) } });
  expect(ran.calls).toEqual([]);
});

describe('a tool that fails', () => {
  const caught = 'from fermata import ToolError\ntry: tools.fail()\nexcept ToolError as e: __result__ = [type(e).__name__, str(e), e.name, e.data]';

  test('raises a ToolError with its message, name and data', () => {
    expect(resultOf(caught, { with: failing('HttpError') })).toEqual(['ToolError', 'there is none', 'HttpError', { code: 7 }]);
  });

  test.each(['ValueError', 'KeyError', 'FileNotFoundError', 'TimeoutError', 'ZeroDivisionError'])('raises a %s as well', (name) => {
    expect(resultOf(caught, { with: failing(name) })).toEqual([name, 'there is none', name, { code: 7 }]);
    expect(resultOf(`try: tools.fail()\nexcept ${name} as e: __result__ = str(e)`, { with: failing(name) })).toBe('there is none');
  });

  test.each(['SystemExit', 'StopIteration', 'UnicodeDecodeError', 'print', 'BaseException', ''])('named %j is just a ToolError', (name) => {
    expect(resultOf(caught, { with: failing(name) })).toEqual(['ToolError', 'there is none', name, { code: 7 }]);
  });

  test('and is not caught is told as what it is', () => {
    expect(errorOf('tools.fail()', { with: failing('ValueError') })).toMatchObject({ name: 'ValueError', message: 'there is none', kind: 'tool_error', line: 1 });
    expect(errorOf('tools.nope', {})).toMatchObject({ name: 'UnknownToolError', kind: 'unknown_tool' });
  });
});

test('tools can be called wherever Python code runs', () => {
  const code = `
class Shown:
    def __init__(self, n): self.n = n
    def __repr__(self): return tools.echo(v="z")["v"] if self.n == 0 else f"<{Shown(self.n - 1)!r}>"
def keyed(n): return tools.echo(v=n)["v"] if n == 0 else sorted([1], key=lambda _: keyed(n - 1))[0]
[len(repr(Shown(100))), keyed(50), [x for x in map(lambda v: tools.echo(v=v)["v"], range(3))]]`;
  expect(resultOf(code, { with: tools })).toEqual([201, 1, [0, 1, 2]]);
});

test('a tool that would have to wait while an object ends is refused, and not started', () => {
  const code = `
class Ended:
    def __del__(self):
        try: tools.echo(v=1)
        except RuntimeError as e: seen.append(str(e))
class Sleeps:
    def __del__(self):
        try: time.sleep(1)
        except RuntimeError as e: seen.append(str(e))
def dropped():
    try: yield
    finally:
        try: tools.echo(v=2)
        except RuntimeError as e: seen.append(str(e)[:37])
import time
seen = []
Ended(); Sleeps(); next(dropped())
[*seen, tools.echo(v=3)["v"]]`;
  const ran = runPython(code, { with: tools });
  expect(ran.outcome).toMatchObject({
    kind: 'done',
    value: [
      'tools.echo was called while an object is destroyed (__del__, weakref callback, dropped generator), which cannot wait: call it before, or use a with block',
      'nothing can be waited for here: an object is being destroyed',
      'tools.echo was called while an object',
      3,
    ],
  });
  expect(ran.calls).toHaveLength(1);
});

test('an ended program starts no more calls', () => {
  const ran = runPython('import atexit\natexit.register(lambda: tools.echo(a=1))\nclass A:\n  def __del__(s): tools.echo(b=1)\na = A()', { with: tools });
  expect(ran.outcome.kind).toBe('done');
  expect(ran.calls).toEqual([]);
});

test('steps, progress and checkpoints are told', () => {
  const ran = runPython('import fermata\nfermata.step("load")\nv = fermata.step("sum", lambda: 1 + 2)\nfermata.progress(0.5)\nfermata.checkpoint()\nv');
  expect(ran.outcome).toMatchObject({ kind: 'done', value: 3 });
  expect(ran.notes).toEqual([
    { note: 'step', name: 'load' },
    { note: 'step', name: 'sum' },
    { note: 'step_result', name: 'sum', value: 3 },
    { note: 'progress', value: 0.5 },
    { note: 'checkpoint' },
  ]);
  expect(errorOf('import fermata\nfermata.progress(50)').message).toBe('progress is a number from 0 to 1, not 50');
});

test('the task input and standard input are there, and input() stays the builtin', () => {
  const code = 'import fermata, sys\n[task_input, fermata.input == task_input, input("? "), input(), sys.stdin.read()]';
  expect(resultOf(code, { input: { a: [1] }, stdin: 'one\ntwo\nthree' })).toEqual([{ a: [1] }, true, 'one', 'two', 'three']);
});
