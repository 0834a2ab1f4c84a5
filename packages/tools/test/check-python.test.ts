/** The check of Python programs: what is told, where, and what is not told of programs that are right. */
import { describe, expect, test } from 'vitest';
import { checkProgram } from '../src/check/check.ts';
import type { CheckOptions } from '../src/check/check-options.ts';
import { defineTool } from '../src/tool.ts';

const LIBRARIES = ['importlib', 'json', 'math', 'os', 're', 'shutil', 'socket', 'subprocess', 'sys', 'xml'];
const add = defineTool({
  name: 'add',
  parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'], additionalProperties: false },
});
const tools = [
  { ...add, names: ['a', 'b'] },
  { name: 'crm.list-issues', names: ['q'] },
  { name: 'any', names: null },
];

async function found(code: string, options: Partial<CheckOptions> = {}): Promise<string[]> {
  const findings = await checkProgram(code, { language: 'python', libraries: LIBRARIES, ...options });
  return findings.map(({ rule, severity, line, column }) => `${severity} ${rule} ${line}:${column}`);
}
const messages = async (code: string, options: Partial<CheckOptions> = {}) =>
  (await checkProgram(code, { language: 'python', libraries: LIBRARIES, ...options })).map(({ message }) => message);

describe('allowed libraries', () => {
  test.each([
    ['import math\nimport os', '2:8'],
    ['import json, os.path as p', '1:14'],
    ['from os import path', '1:6'],
    ['def f():\n    import os', '2:12'],
    ["__import__('o' + 's')", '1:1'],
    ["name = 's'\n__import__('o' + name)", '2:1'],
    ["import builtins\ngetattr(builtins, '__imp' + 'ort__')('os')", '1:8'],
    ["import importlib as i\ni.import_module(''.join(['o', 's']))", '2:1'],
    ["from importlib import import_module as load\nload('os.path')", '2:1'],
    ["globals()['__builtins__'].__import__('os')", '1:1'],
    ['𝒾 = 1\nimport ｏｓ', '2:8'],
  ])('%j: an import that is not among them is an error at its place', async (code, place) => {
    expect(await found(code, { allowedLibraries: ['math', 'json', 'importlib'] })).toContain(`error library_not_allowed ${place}`);
  });

  test.each([
    'import math, json',
    'import xml.etree.ElementTree as E\nfrom xml import etree',
    'from fermata import tools\nfrom __future__ import annotations',
    'from . import sibling',
    'import own\nfrom own.part import x',
    "open('/work/made.py', 'w').write('x = 1')\nimport made",
    "text = 'import os'",
    '# import os',
    'load("os")',
  ])('%j: what is among them, in the program or in /work is no error', async (code) => {
    expect(await found(code, { allowedLibraries: ['math', 'json', 'xml.etree'], ownModules: ['own'] })).toEqual([]);
  });

  test('an import whose failure is caught is a warning, and the message says what there is', async () => {
    const code = 'try:\n    import numpy\nexcept ImportError:\n    numpy = None';
    expect(await found(code, { allowedLibraries: ['math'] })).toEqual(['warning library_not_allowed 2:12']);
    expect(await messages('import os', { allowedLibraries: ['math', 'json'] })).toEqual([
      "This program may not import 'os'; modules it may import: json, math: use one of those, or have a tool do it.",
    ]);
    expect(await messages('import os', { allowedLibraries: [] })).toEqual([
      "This program may not import 'os'; modules it may import: none: write it without imports, or have a tool do it.",
    ]);
  });
});

test('a library that is required and missing is an error that says what there is; one that is there, or in /work, is none', async () => {
  expect(await messages('1', { requiredLibraries: ['pandas', 'json', 'xml.etree', 'own'], ownModules: ['own'], libraries: ['_json', 'json', 'xml'] })).toEqual([
    "The image does not have 'pandas': write it without, or have a tool do it; there is json, xml.",
  ]);
  expect(await found('import pandas')).toEqual(['warning library_missing 1:8']);
});

describe('blocked commands', () => {
  test.each([
    'import os\nos.system("rm -rf x")',
    'import os\nos.system("cd /tmp && sudo /bin/rm x")',
    'import os as o\nrun = o.system\nrun(f"rm x")',
    'from os import popen as p\np("echo $(rm x)")',
    'import subprocess\nsubprocess.run(["rm", "-rf", "x"])',
    'import subprocess\nsubprocess.run(args=["/usr/bin/env", "rm"])',
    'import subprocess\nsubprocess.Popen("rm x", shell=True)',
    'import subprocess\nsubprocess.check_output(["sh", "-c", "true; \'rm\' x"])',
    'import subprocess\nsubprocess.call(["cp", "/bin/rm", "x"])',
    'import os\nos.execv("/bin/rm", ["rm", "x"])',
    'import os\nos.spawnlp(os.P_WAIT, "rm", "rm", "x")',
    "import os\ngetattr(os, 'sys' + 'tem')('r''m x')",
    'import asyncio\nasyncio.create_subprocess_exec("rm", "x")',
    'import shutil\nshutil.os.system("rm x")',
  ])('%j: starting one is an error, however it is written', async (code) => {
    const findings = await checkProgram(code, { language: 'python', libraries: LIBRARIES, blockedCommands: ['rm', '/usr/bin/curl'] });
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([
      expect.objectContaining({ rule: 'policy_violation', message: expect.stringMatching(/^The command "rm" is blocked, and no process can be started in this machine/) }),
    ]);
  });

  test.each(['import os\nos.system("ls; echo rm")', 'import subprocess\nsubprocess.run(command)', 'import os\nos.fork()'])('%j: any other process is a warning', async (code) => {
    expect(await found(code, { blockedCommands: ['rm'] })).toEqual(['warning no_processes 2:1']);
  });

  test.each(['rm = 1\nprint("rm -rf x")', 'def system(x): pass\nsystem("rm")', 'class os:\n    system = print\nos.system("rm")'])(
    '%j: what starts nothing is none',
    async (code) => {
      expect(await found(code, { blockedCommands: ['rm'] })).toEqual([]);
    },
  );
});

describe('strict', () => {
  test.each([
    ['import os', '1:8'],
    ['from sys import path', '1:6'],
    ['from shutil import os', '1:20'],
    ['import builtins', '1:8'],
    ['try:\n    import subprocess\nexcept ImportError: pass', '2:12'],
    ['import json\njson.codecs.sys', '2:1'],
    ['eval("1")', '1:1'],
    ['x = [exec]', '1:6'],
    ['e = compile\ne("1", "", "eval")', '1:5'],
    ["f = globals()['ev' + 'al']", '1:5'],
    ["getattr(__builtins__, 'eval')", '1:9'],
    ["vars(__builtins__)['exec']", '1:6'],
    ['().__class__.__base__.__subclasses__()', '1:23'],
    ['print.__self__.__dict__; (lambda: 0).__globals__', '1:38'],
    ["if 0:\n    eval = 1\neval('1')", '2:5'],
    ['x = (\neval("1")', '2:1'],
  ])('%j is an error', async (code, place) => {
    expect(await found(code, { strict: true })).toContain(`error policy_violation ${place}`);
  });

  test.each([
    'import re\nre.compile("a").match("a")',
    'from re import compile\ncompile("a")',
    'def compile(x):\n    return x\ncompile(1)',
    'model.eval()\ndf.eval("a + b")',
    'f(exec=1)',
    'import dataclasses, collections, json\ncollections.namedtuple("P", "x y")',
    'text = "eval(os.system)"',
    'evaluate = 1; recompile = 2',
  ])('%j is none', async (code) => {
    expect(await found(code, { strict: true, libraries: [...LIBRARIES, 'dataclasses', 'collections'] })).toEqual([]);
  });
});

describe('tools', () => {
  test.each([
    ['tools.ad(a=1, b=2)', "There is no tool named 'ad': did you mean 'add'?"],
    ['tools["subtract"](a=1)', "There is no tool named 'subtract': call one of add, crm.list-issues, any."],
    ['getattr(tools, "ad")(a=1, b=2)', "There is no tool named 'ad': did you mean 'add'?"],
    ['from fermata import tools as t\nt.ad(a=1, b=2)', "There is no tool named 'ad': did you mean 'add'?"],
    ['tools.crm(q=1)', "There is no tool named 'crm': did you mean 'crm.list-issues'?"],
    ['tools.add(a=1)', "tools.add needs 'b': add it; it takes a, b."],
    ['tools.add(a=1, bb=2)', "tools.add has no argument 'bb': did you mean 'b'?"],
    ['tools.add(a=1, b=2, colour=3)', "tools.add has no argument 'colour': leave it out; it takes a, b."],
    ['tools.add(a=x, b=y, colour=z)', "tools.add has no argument 'colour': leave it out; it takes a, b."],
    ['tools.add(a=x, b="two")', 'Invalid arguments for add: b must be number: correct that argument of tools.add.'],
    ['tools.add(1, 2, 3)', 'tools.add takes a, b, but 3 are given: leave out the rest.'],
    ['tools.add(1, a=2)', 'tools.add gets two values for a: give it once.'],
    ['tools.add({"a": 1})', "tools.add needs 'b': add it; it takes a, b."],
    ['with open("/work/a") as file:\n    tools.ad(a=1, b=2)', "There is no tool named 'ad': did you mean 'add'?"],
    ['tools.any("text")', 'tools.any takes keyword arguments, like tools.any(key=value).'],
  ])('%j is an error that says the fix', async (code, message) => {
    expect(await messages(code, { tools })).toEqual([message]);
    expect((await found(code, { tools }))[0]).toMatch(/^error (unknown_tool|invalid_arguments) /);
  });

  test.each([
    'tools.add(a=1, b=2)\ntools.add(1, 2)\ntools.add(1, b=x)\ntools.add({"a": 1, "b": 2})',
    'tools.add(**given)\ntools.add(*given)\ntools.add(given)\ntools.add({"a": 1, **rest})\ntools.add(a=1, **rest)',
    'given = {"a": 1}\ngiven["b"] = 2\ntools.add(given)',
    'tools.crm.list_issues(q="x")\ntools["crm.list-issues"](q="x")\ntools["crm"]["list-issues"](q="x")',
    'tools.any(a=1)\ntools.any({"a": 1})\ntools.any()',
    'class tools:\n    @staticmethod\n    def nothing(): pass\ntools.nothing()',
    'def f(tools):\n    tools.nothing()',
    'x = tools.nothing() if False else 1',
    'if False:\n    tools.nothing()',
  ])('%j is none', async (code) => {
    expect((await found(code, { tools })).filter((finding) => finding.startsWith('error'))).toEqual([]);
  });

  test.each([
    'try:\n    tools.ad(a=1)\nexcept Exception:\n    pass',
    'if hasattr(tools, "ad"):\n    tools.ad(a=1)',
    'def f():\n    tools.ad(a=1)\ntry:\n    f()\nexcept Exception:\n    pass',
    'from contextlib import suppress\nwith suppress(Exception):\n    tools.ad(a=1)',
  ])('%j: a call that the program is prepared to see fail is a warning', async (code) => {
    const findings = await checkProgram(code, { language: 'python', libraries: [...LIBRARIES, 'contextlib'], tools });
    expect(findings).toEqual([expect.objectContaining({ rule: 'unknown_tool', severity: 'warning' })]);
  });

  test.each([
    ['async def f():\n    tools.add(a=1, b=2)\n    return 1', ['warning not_awaited 2:5']],
    ['async def f():\n    return tools.add(a=1, b=2).total', ['warning not_awaited 2:12']],
    ['tools.add(a=1, b=2)\nawait tools.add(a=1, b=2)', ['warning not_awaited 1:1']],
    ['import asyncio\nasync def f():\n    return await asyncio.gather(tools.add(a=1, b=2), tools.add(a=1, b=2))', []],
    ['def f():\n    tools.add(a=1, b=2)', []],
    ['await x()\ntools.add(a=1, b=2)', []],
  ])('%j: a call inside a loop that nothing waits for is a warning', async (code, wanted) => {
    expect(await found(code, { tools, libraries: [...LIBRARIES, 'asyncio'] })).toEqual(wanted);
  });
});

test('what needs a network is a warning with what to do', async () => {
  const libraries = ['http', 'urllib'];
  expect(await messages('import urllib.request\nfrom http import client', { libraries })).toEqual([
    'urllib.request will find no network here: have a tool fetch it, or give the task network access to the host.',
    'http.client will find no network here: have a tool fetch it, or give the task network access to the host.',
  ]);
  expect(await found('import urllib.parse', { libraries })).toEqual([]);
  expect(await found('import urllib.request', { libraries, network: true })).toEqual([]);
});

test('what does not parse is told, and a program that is too long is not looked at', async () => {
  expect(await found('x = (1\ny = 2')).toContainEqual(expect.stringMatching(/^error syntax_error/));
  expect(await found('match x:\n    case {"a": 1}: pass\ntype X[T] = int\nprint(f"{x!r:>{w}} {"a" + f"{1}"}")\nlambda *, a: (yield)')).toEqual([]);
  const long = `import os\n${'x = 1\n'.repeat(50_000)}`;
  expect(await found(long, { allowedLibraries: [] })).toEqual(['warning policy_violation 1:1']);
  expect(await found(long, { strict: true })).toEqual(['error policy_violation 1:1']);
});

test('a program that is nested too deeply is not looked at, and of many findings a hundred are told, errors first', async () => {
  const deep = `${'tools.add('.repeat(2_000)}1${')'.repeat(2_000)}`;
  expect(await found(deep, { tools })).toEqual(['warning policy_violation 1:1']);
  expect(await found(deep, { tools, strict: true })).toEqual(['error policy_violation 1:1']);
  const many = await found(`${'import socket\n'.repeat(200)}tools.ad(a=1)`, { tools });
  expect([many.length, many.at(-1)]).toEqual([100, 'error unknown_tool 201:1']);
});

test('columns count characters, whatever stands before', async () => {
  expect(await found('"😀é"; import os', { allowedLibraries: [] })).toEqual(['error library_not_allowed 1:14']);
});
