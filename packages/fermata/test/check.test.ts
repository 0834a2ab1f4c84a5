/** The constraints of a task's code: a program that keeps to them, and programs that break them, before they run and while they do. */
import { createFermata, defineTool, type Language, type StartOptions, type TaskEvent } from 'fermata';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const PRINTS = { python: 'print("RAN")\n', javascript: 'console.log("RAN");\n', typescript: 'console.log("RAN");\n' } as const;
const add = defineTool({
  name: 'add',
  parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'], additionalProperties: false },
  execute: ({ a, b }) => a + b,
});
const fermata = createFermata({ tools: [add] });
beforeAll(() => fermata.prepare());
afterAll(() => fermata.close());

type Constraints = Pick<StartOptions & { language: Language }, 'limits'> & {
  allowedLibraries?: string[];
  requiredLibraries?: string[];
  blockedCommands?: string[];
  strict?: boolean;
};

describe('a program that keeps to its constraints runs', () => {
  test.each<[Language, string, Constraints, unknown]>([
    ['python', 'import math, json\njson.dumps(math.floor(2.5))', { allowedLibraries: ['math', 'json'] }, '2'],
    ['python', 'from fermata import tools\ntools.add(1, 2)', { allowedLibraries: [] }, 3],
    ['python', 'import json\nlen(json.dumps([1]))', { requiredLibraries: ['json', 'math'] }, 3],
    ['python', 'print("rm -rf x")\n1', { blockedCommands: ['rm'] }, 1],
    [
      'python',
      'import dataclasses, collections, re, json\nP = collections.namedtuple("P", "x")\n@dataclasses.dataclass\nclass D:\n    x: int\n[P(1).x, D(2).x, re.compile("a").pattern]',
      { strict: true },
      [1, 2, 'a'],
    ],
    ['javascript', 'return 1 + 1', { allowedLibraries: [], blockedCommands: ['rm'], strict: true }, 2],
    ['javascript', 'const f = () => 1;\nreturn [f instanceof Function, typeof Function, await tools.add(1, 2)]', { strict: true }, [true, 'function', 3]],
    ['javascript', '"use strict";\nreturn (function () { return this === undefined })()', { strict: true }, true],
    ['typescript', 'enum E { A = 1 }\nconst x: number = E.A;\nx', { strict: true }, 1],
  ])('%s: %j with %j', async (language, code, constraints, output) => {
    expect(await fermata.run({ language, code, ...constraints })).toMatchObject({ status: 'succeeded', output });
    expect(await fermata.check({ language, code, ...constraints })).toEqual({ ok: true, findings: [] });
  });
});

describe('a program that breaks them does not begin', () => {
  test.each<[Language, string, Constraints, string, number]>([
    ['python', 'import os', { allowedLibraries: ['math'] }, 'library_not_allowed', 2],
    ['python', 'def later():\n    __import__("o" + "s")', { allowedLibraries: ['math'] }, 'library_not_allowed', 3],
    ['javascript', 'const fs = require("fs");', { allowedLibraries: ['lodash'] }, 'library_not_allowed', 2],
    ['javascript', 'import fs from "fs";', { allowedLibraries: [] }, 'library_not_allowed', 2],
    ['python', '1', { requiredLibraries: ['pandas'] }, 'library_missing', 1],
    ['javascript', '1', { requiredLibraries: ['lodash'] }, 'library_missing', 1],
    ['python', 'import os\nos.system("rm x")', { blockedCommands: ['rm'] }, 'policy_violation', 3],
    ['javascript', 'require("child_process").exec("/bin/rm x")', { blockedCommands: ['rm'] }, 'policy_violation', 2],
    ['python', 'eval("1")', { strict: true }, 'policy_violation', 2],
    ['javascript', 'new Function("return 1")()', { strict: true }, 'policy_violation', 2],
    ['typescript', 'const f: any = eval;', { strict: true }, 'policy_violation', 2],
    ['typescript', 'enum E { A }\nconst x: number = 1;\neval("1")', { strict: true }, 'policy_violation', 4],
    ['python', 'tools.ad(a=1, b=2)', {}, 'unknown_tool', 2],
    ['javascript', 'await tools.ad({ a: 1, b: 2 })', {}, 'unknown_tool', 2],
    ['python', 'tools.add(a=1)', {}, 'invalid_arguments', 2],
    ['javascript', 'await tools.add({ a: 1, b: "2" })', {}, 'invalid_arguments', 2],
    ['typescript', 'const n: string = "2";\nawait tools.add({ a: 1, b: n })', {}, 'invalid_arguments', 3],
  ])('%s: %j with %j is %s', async (language, code, constraints, errorCode, line) => {
    const program = { language, code: PRINTS[language] + code, ...constraints };
    const result = await fermata.run(program);
    expect(result).toMatchObject({ status: 'failed', stdout: '', error: { code: errorCode, line, column: expect.any(Number) } });
    const report = await fermata.check(program);
    expect(report.ok).toBe(false);
    expect(report.findings).toContainEqual(expect.objectContaining({ rule: errorCode, severity: 'error', line, message: result.error?.message }));
  });
});

describe('what the check cannot see is refused while the program runs', () => {
  test.each<[Language, string, Constraints, string]>([
    ['python', 'for name in ["o" + "s"]:\n    __import__(name)', { allowedLibraries: ['math'] }, 'library_not_allowed'],
    ['python', 'import importlib\nimportlib.import_module(chr(111) + "s")', { allowedLibraries: ['importlib'] }, 'library_not_allowed'],
    ['python', 'exec("imp" + "ort os")', { allowedLibraries: ['math'] }, 'library_not_allowed'],
    ['python', 'for name in ["__imp" + "ort__"]:\n    getattr(__builtins__, name)("os")', { allowedLibraries: ['math'] }, 'library_not_allowed'],
    ['python', 'import os\nfor name in ["system"]:\n    getattr(os, name)("rm x")', { blockedCommands: ['rm'] }, 'guest_error'],
    ['javascript', 'const key = ["ev", "al"].concat().join("");\nglobalThis[key]("1")', { strict: true }, 'policy_violation'],
    ['javascript', 'const key = ["constr", "uctor"].concat().join("");\n(() => 1)[key]("return 1")()', { strict: true }, 'policy_violation'],
    ['javascript', 'const key = ["constr", "uctor"].concat().join("");\n(async function* () {})[key]("return 1")', { strict: true }, 'policy_violation'],
    ['javascript', 'Reflect.get(Function.prototype, ["constr", "uctor"].concat().join(""))("return 1")', { strict: true }, 'policy_violation'],
    ['typescript', 'enum E { A }\nconst key: string = ["ev", "al"].concat().join("");\n(globalThis as any)[key]("1")', { strict: true }, 'policy_violation'],
  ])('%s: %j with %j is %s', async (language, code, constraints, errorCode) => {
    const result = await fermata.run({ language, code: PRINTS[language] + code, ...constraints });
    const lines = code.split('\n').length + 1;
    expect(result).toMatchObject({ status: 'failed', stdout: 'RAN\n', error: { code: errorCode, line: lines } });
  });

  test('a strict program in Python imports none of the modules that reach around the check; its libraries do', async () => {
    const hidden = 'import timeit\ntimeit.timeit("imp" + "ort MODULE", number=1, globals={})';
    for (const module of ['os', 'sys', 'subprocess', 'importlib', 'builtins', 'posix']) {
      const { error } = await fermata.run({ language: 'python', code: hidden.replace('MODULE', module), strict: true });
      expect(error).toMatchObject({ code: 'library_not_allowed', line: 2, message: `ImportError: this program may not import '${module}': its task is strict` });
    }
    expect(await fermata.run({ language: 'python', code: hidden.replace('MODULE', 'json'), strict: true })).toMatchObject({ status: 'succeeded' });
  });

  test('errors of a strict program name its own lines and columns', async () => {
    const { error } = await fermata.run({ language: 'javascript', code: 'const x = 1; throw new RangeError("far")', strict: true });
    const { error: plain } = await fermata.run({ language: 'javascript', code: 'const x = 1; throw new RangeError("far")' });
    expect(error).toEqual(plain);
  });
});

describe('limits and the network', () => {
  test.each<[Language, string, Constraints, Record<string, unknown>]>([
    ['python', 'sum(range(10))', { limits: { timeoutMs: 60_000, maxMemoryBytes: 64 << 20 } }, { status: 'succeeded', output: 45 }],
    ['javascript', 'return 45', { limits: { timeoutMs: 60_000, maxMemoryBytes: 64 << 20 } }, { status: 'succeeded', output: 45 }],
    ['python', 'while True: pass', { limits: { timeoutMs: 200 } }, { error: { code: 'timeout' } }],
    ['javascript', 'for (;;);', { limits: { timeoutMs: 200 } }, { error: { code: 'timeout' } }],
    ['python', 'import time\ntime.sleep(60)', { limits: { timeoutMs: 200 } }, { error: { code: 'timeout' } }],
    ['javascript', 'await new Promise((done) => setTimeout(done, 60_000))', { limits: { timeoutMs: 200 } }, { error: { code: 'timeout' } }],
    ['python', 'x = [0] * 10\nwhile True: x = x + x', { limits: { maxMemoryBytes: 16 << 20 } }, { error: { code: 'memory_limit' } }],
    ['javascript', 'const x = [];\nfor (;;) x.push(new Uint8Array(1 << 20))', { limits: { maxMemoryBytes: 16 << 20 } }, { error: { code: 'memory_limit' } }],
    ['python', 'import socket\nsocket.create_connection(("example.com", 80))', {}, { error: { code: 'guest_error', hint: expect.stringContaining('no network') } }],
    ['python', 'import urllib.request\nurllib.request.urlopen("http://example.com")', {}, { error: { code: 'guest_error', hint: expect.stringContaining('no network') } }],
    ['javascript', 'await fetch("http://example.com")', {}, { error: { code: 'guest_error', hint: expect.stringContaining('no network') } }],
  ])('%s: %j with %j', async (language, code, constraints, ended) => {
    const events: TaskEvent[] = [];
    expect(await fermata.run({ language, code, ...constraints, onEvent: (event) => events.push(event) })).toMatchObject(ended);
    const findings = events.flatMap((event) => (event.type === 'finding' ? [event.rule] : []));
    expect(findings).toEqual(/fetch|socket|urllib/.test(code) ? ['no_network'] : []);
  });
});

test('a warning is told as an event, and the program runs', async () => {
  const events: TaskEvent[] = [];
  const code = 'try:\n    tools.ad(a=1)\nexcept Exception:\n    pass\n7';
  expect(await fermata.run({ language: 'python', code, onEvent: (event) => events.push(event) })).toMatchObject({ output: 7 });
  expect(events).toContainEqual({ type: 'finding', rule: 'unknown_tool', severity: 'warning', line: 2, column: 5, message: "There is no tool named 'ad': did you mean 'add'?" });
});

test('constraints go along in a snapshot of a task that has not begun', async () => {
  await using task = await fermata.start({ language: 'python', code: 'print("RAN")\nimport os', strict: true, tools: [] });
  await using restored = await fermata.restore(await task.snapshot(), { trust: true });
  expect(await restored.run()).toMatchObject({ status: 'failed', stdout: '', error: { code: 'policy_violation', line: 2 } });
});

test.each<[string, number, number, RegExp]>([
  ['x = 1\ndef f(:\n  pass', 2, 7, /^SyntaxError: invalid syntax/],
  ['return 1', 1, 1, /^SyntaxError: 'return' outside function/],
  ['x = (1,\ny = 2', 1, 5, /^SyntaxError: '\(' was never closed/],
])('check: Python itself says what does not parse in %j', async (code, line, column, message) => {
  expect(await fermata.check({ language: 'python', code })).toEqual({
    ok: false,
    findings: [{ rule: 'syntax_error', severity: 'error', line, column, message: expect.stringMatching(message) }],
  });
});

test('check: what does not parse in JavaScript and TypeScript, and a program in a Markdown fence', async () => {
  expect(await fermata.check({ language: 'javascript', code: 'let x = 1;\nlet = = 3;' })).toMatchObject({ ok: false, findings: [{ rule: 'syntax_error', line: 2 }] });
  expect(await fermata.check({ language: 'typescript', code: 'let x: number = 1;\nlet y: = 3;' })).toMatchObject({ ok: false, findings: [{ rule: 'syntax_error', line: 2 }] });
  expect(await fermata.check({ language: 'python', code: '```python\nimport os\n```', allowedLibraries: [] })).toMatchObject({
    findings: [{ rule: 'library_not_allowed', line: 2 }],
  });
  await expect(fermata.check({ language: 'python', code: '1', colour: 1 } as never)).rejects.toMatchObject({ code: 'invalid_request' });
});
