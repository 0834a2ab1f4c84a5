/** The check of JavaScript programs: what is told, where, and what is not told of programs that are right. */
import { describe, expect, test } from 'vitest';
import { checkProgram } from '../src/check/check.ts';
import type { CheckOptions } from '../src/check/check-options.ts';
import { defineTool } from '../src/tool.ts';

const add = defineTool({
  name: 'add',
  parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'], additionalProperties: false },
});
const tools = [
  { ...add, names: ['a', 'b'] },
  { name: 'crm.list-issues', names: ['q'] },
  { name: 'any', names: null },
];

const checked = (code: string, options: Partial<CheckOptions> = {}) => checkProgram(code, { language: 'javascript', libraries: [], ...options });
const found = async (code: string, options: Partial<CheckOptions> = {}) =>
  (await checked(code, options)).map(({ rule, severity, line, column }) => `${severity} ${rule} ${line}:${column}`);
const messages = async (code: string, options: Partial<CheckOptions> = {}) => (await checked(code, options)).map(({ message }) => message);

test.each([
  ["import fs from 'fs';", '1:1'],
  ["const fs = require('f' + 's');", '1:12'],
  ["const name = 'fs';\nawait import(`node:${name}`);", '2:7'],
  ["try { require('fs') } catch {}", '1:7'],
])('%j: an import that is not allowed is an error at its place', async (code, place) => {
  expect(await found(code, { allowedLibraries: ['lodash'] })).toContain(`error library_not_allowed ${place}`);
});

test('there are no modules: an import statement does not parse, any other is a warning', async () => {
  expect(await messages("import fs from 'fs';")).toContainEqual(expect.stringMatching(/^SyntaxError: import is not available here: use the globals/));
  expect(await found("const fs = require('fs');")).toEqual(['warning library_missing 1:12']);
  expect(await messages('1', { requiredLibraries: ['lodash'] })).toEqual(["The image does not have 'lodash': write it without, or have a tool do it; the image has no libraries."]);
  expect(await found("const require = (name) => name; require('fs')")).toEqual([]);
});

test.each([
  "require('child_process').execSync('rm -rf x')",
  "const { exec: run } = require('node:child_process');\nrun('cd /tmp; /bin/rm x')",
  "const { spawn } = await import('child_process');\nspawn('rm', ['x'])",
  "require('child_process')['exec' + 'Sync'](`rm x`)",
  "require('child_process').spawnSync('sh', ['-c', 'rm x'])",
])('%j: starting a blocked command is an error', async (code) => {
  const errors = (await checked(code, { blockedCommands: ['rm'] })).filter(({ severity }) => severity === 'error');
  expect(errors).toEqual([expect.objectContaining({ rule: 'policy_violation', message: expect.stringMatching(/^The command "rm" is blocked, and no process/) })]);
  expect(await found(code, { blockedCommands: ['curl'] })).toContainEqual(expect.stringMatching(/^warning no_processes/));
});

describe('strict', () => {
  test.each([
    "eval('1')",
    "(0, eval)('1')",
    "new Function('return 1')",
    "globalThis['ev' + 'al']('1')",
    "const g = globalThis;\ng.Function('return 1')",
    "(() => {}).constructor('return 1')()",
    "[].constructor.constructor('return 1')()",
    "Reflect.get(Function.prototype, 'constructor')('return 1')",
    "await import('x')",
    'const e = eval;',
  ])('%j is an error', async (code) => {
    const findings = await found(code, { strict: true });
    // Reflect.get is only seen at run time.
    if (!code.startsWith('Reflect')) expect(findings).toContainEqual(expect.stringMatching(/^error policy_violation/));
  });

  test.each([
    'const evaluate = (x) => x; evaluate({ eval: 1 }).eval',
    'x instanceof Function && typeof x === "function"',
    'Function.prototype.toString.call(x)',
    'class A { constructor() { this.kind = this.constructor.name } }',
    'function f(Function) { return Function }',
  ])('%j is none', async (code) => {
    expect(await found(code, { strict: true })).toEqual([]);
  });
});

describe('tools', () => {
  test.each([
    ['await tools.ad({ a: 1, b: 2 })', "There is no tool named 'ad': did you mean 'add'?"],
    ['const crm = tools.crm;\nawait crm.list({ q: 1 })', "There is no tool named 'crm.list': did you mean 'crm.list-issues'?"],
    ['await tools.add({ a: 1 })', "tools.add needs 'b': add it; it takes a, b."],
    ['await tools.add({ a: 1, b: "2" })', 'Invalid arguments for add: b must be number: correct that argument of tools.add.'],
    ['await tools.add({ a: x, b: "2" })', 'Invalid arguments for add: b must be number: correct that argument of tools.add.'],
    ['await tools.add({ a: x, c: y })', "tools.add has no argument 'c': did you mean 'b'?"],
    ['await tools.add(1, 2, 3)', 'tools.add takes a, b, but 3 are given: leave out the rest.'],
    ['await tools.any("text")', 'tools.any takes one object with its arguments: await tools.any({ ... }).'],
  ])('%j is an error that says the fix', async (code, message) => {
    expect(await messages(code, { tools })).toEqual([message]);
  });

  test.each([
    'await tools.add({ a: 1, b: 2 });\nawait tools.add(1, 2);\nawait tools.add({ ...rest, a: 1 });\nawait tools.add(given);\nawait tools.add({ a, b });',
    'const given = { a: 1 };\ngiven.b = 2;\nawait tools.add(given);',
    'await tools.crm["list-issues"]({ q: 1 });\nawait tools["crm.list-issues"]({ q: 1 });\nawait tools.crm.list_issues({ q: 1 });',
    'const tools = { nothing() {} };\ntools.nothing();',
    'await tools.add.call(null, { a: 1, b: 2 })',
    'if (false) await tools.nothing({});',
  ])('%j is none', async (code) => {
    expect((await found(code, { tools })).filter((finding) => finding.startsWith('error'))).toEqual([]);
  });

  test.each([
    'try { await tools.ad({}) } catch (error) { return 1 }',
    'await tools.ad({}).catch(() => 1)',
    'await Promise.allSettled([tools.ad({})])',
    'if (tools.ad) await tools.ad({})',
    'const f = async () => tools.ad({});\nawait f().catch(() => 1)',
  ])('%j: a call that the program is prepared to see fail is a warning', async (code) => {
    expect((await checked(code, { tools })).map(({ rule, severity }) => `${severity} ${rule}`)).toEqual(['warning unknown_tool']);
  });

  test.each([
    ['tools.add({ a: 1, b: 2 });\nreturn 1', ['warning not_awaited 1:1']],
    ['return tools.add({ a: 1, b: 2 }).total', ['warning not_awaited 1:8']],
    ['if (tools.add({ a: 1, b: 2 })) return 1', ['warning not_awaited 1:5']],
    ['return `${tools.add({ a: 1, b: 2 })}`', ['warning not_awaited 1:11']],
    ['await Promise.all([tools.add({ a: 1, b: 2 })]);\nconst p = tools.add({ a: 1, b: 2 });\nawait p;\nreturn tools.add({ a: 1, b: 2 }).then((x) => x)', []],
    ['tools.add({ a: 1, b: 2 })', []],
  ])('%j: a call that nothing waits for is a warning', async (code, wanted) => {
    expect(await found(code, { tools })).toEqual(wanted);
  });
});

test('what needs a network is a warning with what to do', async () => {
  expect(await messages("await fetch('https://example.com')")).toEqual(['fetch will find no network here: have a tool fetch it, or give the task network access to the host.']);
  expect(await found("const fetch = () => 1; fetch(); ({ fetch: 1 }).fetch; typeof WebSocket === 'undefined'")).toEqual([]);
});

test('what does not parse is told with its place, and what is nested too deeply is not looked at', async () => {
  expect(await checked('const x = 1;\nconst x = 2;')).toEqual([expect.objectContaining({ rule: 'syntax_error', severity: 'error', line: 2, column: 7 })]);
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  expect(await found(deep)).toEqual(['warning policy_violation 1:1']);
  expect(await found(deep, { strict: true })).toEqual(['error policy_violation 1:1']);
  expect(await found(`1${' + await tools.add({ a: 1, b: 2 })'.repeat(2_000)}`, { tools })).toEqual(['warning policy_violation 1:1']);
});
