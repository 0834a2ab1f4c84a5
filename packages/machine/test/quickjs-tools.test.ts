/** tools, step and sessions as a JavaScript program sees them. */
import { describe, expect, test } from 'vitest';
import { echo, errorOf, resultOf, runJavaScript, type TestTool } from './run-javascript.ts';

const create: TestTool = { parameters: ['title', 'body'], call: (args) => args };
const fail: TestTool = {
  call: () => {
    throw Object.assign(new Error('there is none'), { name: 'NotFound', data: { code: 7 } });
  },
};
const tools = { 'crm.create': create, 'github.list-issues': echo, echo, fail };

test.each([
  ["tools.crm.create({ title: 't', body: 'b' })", { title: 't', body: 'b' }],
  ["tools.crm.create('t', 'b')", { title: 't', body: 'b' }],
  ["tools.crm.create('t')", { title: 't' }],
  ["tools['crm.create']('t')", { title: 't' }],
  ["tools['github.list-issues']({ n: 1 })", { n: 1 }],
  ["tools.github['list-issues']()", {}],
  ['tools.github.list_issues({ n: 2 })', { n: 2 }],
  ["[Object.keys(tools), typeof tools.echo, 'nope' in tools]", [['crm.create', 'crm', 'github.list-issues', 'github', 'echo', 'fail'], 'function', false]],
])('%s', (code, value) => {
  expect(resultOf(code, { with: tools })).toEqual(value);
});

test.each([
  ['await tools.crm.create(1, 2, 3)', 'TypeError', 'tools.crm.create takes { title, body }, but 3 were given'],
  ['await tools.echo(1)', 'TypeError', 'tools.echo takes one object with its arguments'],
  ['await tools.crm.creat({})', 'ToolError', 'there is no tool "crm.creat". Did you mean "crm.create"?'],
  ['await tools["no.such.tool"]({})', 'ToolError', 'no.such.tool'],
])('%s is refused before a call starts', (code, name, message) => {
  const ran = runJavaScript(code, { with: tools });
  expect(ran.outcome).toMatchObject({ kind: 'failed', error: { name, message: expect.stringContaining(message) } });
  expect(ran.calls).toEqual([]);
});

test('an unknown tool can be caught where it is called', () => {
  expect(resultOf('try { await tools.no_such_tool({}) } catch (e) { return [e instanceof ToolError, e.message.includes("no_such_tool")] }', { with: tools })).toEqual([true, true]);
  expect(errorOf('await tools.no_such_tool({})', { with: tools })).toMatchObject({ kind: 'unknown_tool' });
});

test('a failure is a ToolError with the message, the name and the data of the tool', () => {
  const code = 'try {\n  await tools.fail({})\n} catch (e) { return [e instanceof ToolError, e instanceof Error, e.name, e.message, e.tool, e.toolErrorName, e.data, e.stack] }';
  expect(resultOf(code, { with: tools })).toEqual([true, true, 'ToolError', 'there is none', 'fail', 'NotFound', { code: 7 }, 'ToolError: there is none\n    at main.js:2:15']);
  expect(errorOf('\n  await tools.fail({})', { with: tools })).toMatchObject({ name: 'ToolError', line: 2, kind: 'tool_error', message: 'there is none' });
});

test('calls overlap, and every answer reaches its own call', () => {
  const code = 'return (await Promise.all([...Array(20).keys()].map((n) => tools.echo({ n })))).map(({ n }) => n)';
  expect(resultOf(code, { with: tools })).toEqual([...Array(20).keys()]);
});

test('nothing a program does to Promise, JSON or prototypes changes an answer', () => {
  const code = `
    const real = Promise;
    Promise.prototype.then = function () { throw new Error('no') }; globalThis.Promise = class { static resolve() { return 'forged' } };
    Object.prototype.error = { message: 'forged' }; Object.prototype.ok = 'forged'; JSON.parse = () => 'forged';
    Object.defineProperty(Object.prototype, 'a', { set() { throw new Error('no') }, configurable: true });
    Object.defineProperty(real, Symbol.species, { value: function () { throw new Error('no') } });
    const answer = await tools.echo({ n: 1, list: [{ ['a']: 2 }] });
    return [answer.n, Object.getOwnPropertyDescriptor(answer.list[0], 'a').value];`;
  expect(resultOf(code, { with: tools })).toEqual([1, 2]);
});

describe('the end of a program', () => {
  test('waits for calls that have started, and says which were not awaited', () => {
    const ran = runJavaScript('\ntools.echo({ n: 1 }); "done"', { with: tools });
    expect(ran.outcome).toMatchObject({ kind: 'done', value: 'done' });
    expect(ran.notes).toEqual([{ note: 'finding', message: expect.stringContaining('tools.echo(...) was not awaited'), line: 2 }]);
  });
  test('lets no new call start', () => {
    const ran = runJavaScript('tools.echo({}).then(() => tools.echo({ second: true })).catch((e) => console.log(e.message)); 1', { with: tools });
    expect(ran.calls).toHaveLength(1);
    expect(ran.stdout).toContain('the program has ended');
  });
  test('reports a rejection that nobody handled, without failing', () => {
    const ran = runJavaScript('Promise.reject(new RangeError("lost")); Promise.reject(1).catch(() => {}); 1');
    expect(ran.outcome.kind).toBe('done');
    expect(ran.stderr).toBe('Unhandled promise rejection: RangeError: lost\n');
    expect(ran.notes).toEqual([{ note: 'finding', message: 'Unhandled promise rejection: RangeError: lost', line: 1 }]);
  });
});

test('step, progress and checkpoint are notes', () => {
  const ran = runJavaScript('const x = await step("load", async () => 5); await step("next"); progress(0.5); await checkpoint(); return x');
  expect(ran.outcome).toMatchObject({ value: 5 });
  expect(ran.notes).toEqual([
    { note: 'step', name: 'load' },
    { note: 'step_result', name: 'load', value: 5 },
    { note: 'step', name: 'next' },
    { note: 'progress', value: 0.5 },
    { note: 'checkpoint' },
  ]);
});

test('a session keeps its globals, and they may be declared again', () => {
  const first = runJavaScript('const a = 1; let b = 2; function f() { return a + b } class C {}; var v = 3; f()', { shared: true });
  expect(first.outcome).toMatchObject({ kind: 'done', value: 3 });
  const second = runJavaScript('const a = 10; let v = 4; return [a, b, f(), typeof C, v]', { shared: true, machine: first.machine });
  expect(second.outcome).toMatchObject({ kind: 'done', value: [10, 2, 12, 'function', 4] });
  expect(resultOf('typeof a')).toBe('undefined');
});
