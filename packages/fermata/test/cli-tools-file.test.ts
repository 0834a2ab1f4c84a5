/** A tools file that cannot be used is refused with its name, what is wrong with it, and where. */

import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Cli } from './cli.ts';
import { runNode } from './new-process.ts';

const cli = new Cli();
afterAll(() => cli[Symbol.dispose]());

const UNLOADABLE: [string, string, string, RegExp][] = [
  ['is broken', 'broken.mjs', 'export default [\n  { name: "a"\n    execute() {} },\n];', /SyntaxError: .*\(line 3\)/],
  ['is broken TypeScript', 'broken.ts', '\nexport default [{ name: "a", execute: (n: ) => 1 }];', /\(line 2\)/],
  ['throws', 'throws.mjs', '\n\nthrow new Error("no database");', /Error: no database \(line 3, column 7\)/],
  ['imports what a module does not have', 'imports.mjs', 'import { readFil } from "node:fs";', /readFil.*\(line 1\)/],
  ['imports what is not installed', 'needs.mjs', 'import x from "not-installed-here";', /not-installed-here/],
];
const NO_LIST: [string, string, string, RegExp][] = [
  ['no default', 'no-default.mjs', 'export const tools = [];', /has no default export/],
  ['a number', 'number.mjs', 'export default 5;', /must export an array of tools/],
  ['an unknown key', 'key.mjs', 'export default { tool: [] };', /no "tool"; did you mean "tools"/],
  ['a tool without a name', 'nameless.mjs', 'export default [{ name: "a", execute() {} }, { execute() {} }];', /has no name for tool 2/],
  ['what is no tool', 'null.mjs', 'export default [null];', /has no name for tool 1/],
  ['a tool without execute', 'idle.mjs', 'export default [{ name: "a" }];', /has no execute for the tool a/],
  ['a tool with a mistyped key', 'mistyped.mjs', 'export default [{ name: "a", exectue() {} }];', /tool a: .*"exectue"; did you mean "execute"/],
  ['a name that cannot be used', 'spaces.mjs', 'export default [{ name: "no good", execute() {} }];', /"no good" cannot be a tool's name/],
  ['two tools of one name', 'two.mjs', 'export default [{ name: "a", execute() {} }, { name: "a", execute() {} }];', /two tools have the name a/],
  ['a schema that is none', 'schema.mjs', 'export default [{ name: "a", parameters: { type: "thing" }, execute() {} }];', /parameters of a are not a JSON Schema/],
];
const SOURCES: [string, string, string, RegExp][] = [
  ['an MCP server of two kinds', 'both.mjs', 'export default { mcp: { a: { command: "x", url: "http://x" } } };', /the tools file both.mjs.mcp.a: give either command or url/],
  ['a mistyped key of a source', 'mistyped-source.mjs', 'export default { mcp: { a: { comand: "x" } } };', /did you mean "command"/],
  ['a source whose name cannot be written', 'source-name.mjs', 'export default { openapi: { "a-b": { file: "x" } } };', /cannot be the name of a tool source/],
  ['a rule that is none', 'rule.mjs', 'export default { policy: [{ tool: "a", action: "maybe" }] };', /policy: rule 1\.action/],
];
const FINE: [string, string][] = [
  ['list.mjs', 'export default [{ name: "a", execute() {} }];'],
  ['record.ts', 'const name: string = "a";\nexport default { tools: [{ name, execute() {} }] };'],
];

/** What came of loading each file, in a process of its own: the errors of Node's own loader are what counts here. */
let loaded: Record<string, { names?: string[]; code?: string; message?: string }>;
beforeAll(async () => {
  const files = [...[...UNLOADABLE, ...NO_LIST, ...SOURCES].map(([, name, text]) => cli.file(name, text)), ...FINE.map(([name, text]) => cli.file(name, text))];
  const { stdout, stderr } = await runNode([fileURLToPath(new URL('./load-tools.mjs', import.meta.url)), ...files], { cwd: cli.folder });
  if (!stdout) throw new Error(stderr);
  loaded = JSON.parse(stdout);
});

describe('a file that cannot be loaded', () => {
  test.each(UNLOADABLE)('because it %s is told with its place', (_why, name, _text, told) => {
    expect(loaded[name]).toMatchObject({ code: 'invalid_request', message: expect.stringContaining(`the tools file ${name} cannot be loaded: `) });
    expect(loaded[name]?.message).toMatch(told);
  });
});

describe('a file whose export is no list of tools', () => {
  test.each(NO_LIST)('but has %s is told by name', (_what, name, _text, told) => {
    expect(loaded[name]).toMatchObject({ code: 'invalid_request', message: expect.stringContaining(`the tools file ${name}`) });
    expect(loaded[name]?.message).toMatch(told);
  });
});

test.each(SOURCES)('sources and rules: %s is told by name', (_what, name, _text, told) => {
  expect(loaded[name]).toMatchObject({ code: 'invalid_request', message: expect.stringContaining(`the tools file ${name}`) });
  expect(loaded[name]?.message).toMatch(told);
});

test.each(FINE)('%s: a list of tools, alone or as `tools`, is taken', (name) => {
  expect(loaded[name]).toEqual({ names: ['a'] });
});

test('the command line exits with 2 and starts nothing', async () => {
  const tools = cli.file('broken.mjs', 'export default [\n  oops oops\n];');
  const args = ['run', '-l', 'python', '-e', 'print("begun")', '-t', tools];
  expect(await cli.run(args)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^fermata: the tools file broken\.mjs cannot be loaded: SyntaxError: .*\(line 2\)\n/),
  });
  expect(await cli.json(args)).toMatchObject({ code: 2, error: { code: 'invalid_request', message: expect.stringContaining('broken.mjs') } });
});
