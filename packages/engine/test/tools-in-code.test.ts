/** A program is told of the tools that its text shows, and of all where the text does not show them. */
import type { ToolName } from '@fermata/protocol';
import { expect, test } from 'vitest';
import { toolsInCode } from '../src/tools-in-code.ts';

const many: ToolName[] = [...Array(100).keys()].map((i) => ({ name: `other.tool_${i}`, parameters: null }));
const own: ToolName[] = ['crm.find', 'crm.list-all', 'crm', 'pay', 'deep.er.one', 'deep.er.two', 'search'].map((name) => ({ name, parameters: null }));
const names = [...many, ...own];
const told = (code: string) => {
  const found = toolsInCode(code, names);
  return found === names ? 'all' : found.map(({ name }) => name);
};

test.each([
  ['no tools', '1 + 1', []],
  ['one', 'tools.pay(cents=1)', ['pay']],
  ['several, each once', 'await tools.deep.er.one(); tools.pay(); tools.pay()', ['pay', 'deep.er.one']],
  ['a name with underscores', 'tools.crm.list_all()', ['crm.list-all']],
  ['a group that is handed on', 'const deep = tools.deep;', ['deep.er.one', 'deep.er.two']],
  ['a tool that is a group too', 'f(tools.crm)', ['crm.find', 'crm.list-all', 'crm']],
  ['what follows a tool', 'tools.pay.name', ['pay']],
  ['over several lines', 'tools\n  .deep\n  ?.er\n  .one({})', ['deep.er.one']],
  ['of the module', 'import fermata\nfermata.tools.pay()', ['pay']],
  ['an import of their name', 'from fermata import tools, step\ntools.pay()', ['pay']],
  ['built-in ones', "tools.search(query='x')", ['search']],
  ['a name that ends alike', 'mytools = 1; tools_of = 2', []],
])('%s', (_what, code, expected) => {
  expect(told(code)).toEqual(expected);
});

test.each([
  ['a computed name', 'tools[name]()'],
  ['tools handed on', 'f(tools)'],
  ['tools under another name', 'const t = tools;\nt.pay()'],
  ['an import under another name', 'from fermata import tools as t\nt.pay()'],
  ['a name that is no tool', 'tools.pya()'],
  ['a name that begins as a tool does', 'tools.payment()'],
  ['a name beyond ASCII', 'tools.payé()'],
  ['a group that is not there', 'tools.deep.no()'],
  ['code that is made as it runs', 'tools.pay(); eval(input)'],
  ['the global names', 'globalThis["to" + "ols"].pay()'],
  ['attributes by name', 'getattr(fermata, name).pay()'],
  ['a list of names', 'dir(tools)'],
])('%s: all', (_what, code) => {
  expect(told(code)).toBe('all');
});

test('of few tools a program is told in any case', () => {
  expect(toolsInCode('1', own)).toBe(own);
});
