/** Stubs say what schemas say, as TypeScript that compiles strictly and as Python; that this parses is shown in tests/sources. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { foreignTool } from '../src/sources/foreign-tool.ts';
import { pythonStubs } from '../src/stubs/python.ts';
import { typescriptStubs } from '../src/stubs/typescript.ts';
import type { Tool } from '../src/tool.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fermata-stubs-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const toolOf = (name: string, parameters: Record<string, unknown>, description = ''): Tool =>
  foreignTool({ name, description, parameters, idempotent: false, requiresApproval: false, execute: async () => null });
const withField = (schema: unknown, more = {}) => toolOf('t', { type: 'object', properties: { a: schema }, required: ['a'], ...more });

/** What a field becomes: its type in TypeScript and in Python. */
function typesOf(schema: unknown, more = {}): [string, string] {
  const tool = withField(schema, more);
  const [, typescript] = /t\(args: \{ a: (.*) \}\): Promise/.exec(typescriptStubs([tool])) ?? [];
  const [, python] = /def t\(a: (.*)\) -> Any/.exec(pythonStubs([tool])) ?? [];
  return [typescript ?? '', python ?? ''];
}

test.each<[string, unknown, string, string]>([
  ['a string', { type: 'string' }, 'string', 'str'],
  ['a number', { type: 'number' }, 'number', 'float'],
  ['an integer', { type: 'integer' }, 'number', 'int'],
  ['nothing', {}, 'any', 'Any'],
  ['bytes', { format: 'binary' }, 'Uint8Array | string', 'bytes | str'],
  ['a choice', { enum: ['a', 1, true, null] }, '"a" | 1 | true | null', 'Literal["a", 1, True, None]'],
  ['a constant', { const: 'x' }, '"x"', 'Literal["x"]'],
  ['several types', { type: ['string', 'null'] }, 'string | null', 'str | None'],
  ['a list', { type: 'array', items: { type: 'string' } }, 'string[]', 'list[str]'],
  ['a list of a union', { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } }, '(string | number)[]', 'list[str | int]'],
  ['a list of lists', { type: 'array', items: { type: 'array', items: { type: 'boolean' } } }, 'boolean[][]', 'list[list[bool]]'],
  ['a tuple', { prefixItems: [{ type: 'string' }, { type: 'integer' }] }, '[string, number]', 'list[str | int]'],
  ['a union', { oneOf: [{ type: 'string' }, { type: 'array', items: {} }] }, 'string | any[]', 'str | list[Any]'],
  ['a union of anything', { anyOf: [{ type: 'string' }, {}] }, 'any', 'Any'],
  ['a map', { type: 'object', additionalProperties: { type: 'integer' } }, '{ [key: string]: number }', 'dict[str, int]'],
  ['any record', { type: 'object' }, '{ [key: string]: any }', 'dict[str, Any]'],
  ['a record', { type: 'object', properties: { x: { type: 'string' }, y: {} }, required: ['x'] }, '{ x: string; y?: any }', 'TA'],
  ['an open record', { properties: { x: {} }, additionalProperties: true }, '{ x?: any; [key: string]: any }', 'TA'],
  ['all of records', { allOf: [{ properties: { x: {} } }, { properties: { y: {} } }] }, '{ x?: any } & { y?: any }', 'TA'],
  ['a union beside fields', { properties: { x: {} }, anyOf: [{ required: ['x'] }, { required: [] }] }, '{ x?: any }', 'TA'],
  ['a union of records', { properties: { x: {} }, oneOf: [{ properties: { y: {} } }, { properties: { z: {} } }] }, '{ x?: any } & ({ y?: any } | { z?: any })', 'TA'],
])('%s', (_what, schema, typescript, python) => {
  expect(typesOf(schema)).toEqual([typescript, python]);
});

test('fields of records in Python have names, which say what may be left out', () => {
  const schema = {
    type: 'object',
    properties: { x: { type: 'string' }, y: { type: 'array', items: { type: 'object', properties: { 'a-b': { type: 'integer' } } } } },
    required: ['x'],
  };
  expect(pythonStubs([withField(schema)])).toBe(`from __future__ import annotations
from typing import Any, Literal, NotRequired, TypedDict

class TA(TypedDict):
    x: str
    y: NotRequired[list[TAYItem]]
TAYItem = TypedDict("TAYItem", {"a-b": "NotRequired[int]"})

class tools:
    @staticmethod
    def t(a: TA) -> Any: ...
`);
});

test('formats and defaults are told', () => {
  const tool = toolOf('t', {
    type: 'object',
    properties: {
      n: { type: 'integer', default: 10 },
      on: { type: 'string', format: 'date', default: 'today' },
      flag: { type: 'boolean', default: false },
      list: { type: 'array', default: [] },
    },
  });
  expect(typescriptStubs([tool])).toContain('t(args?: { n?: number /* = 10 */; on?: string /* date = "today" */; flag?: boolean /* = false */; list?: any[] }): Promise<any>;');
  expect(pythonStubs([tool])).toContain('def t(n: int = 10, on: str = "today", flag: bool = False, list: list[Any] = ...) -> Any: ...');
});

test('what a $ref leads to is said once, however many tools use it, and may hold itself', () => {
  const node = { type: 'object', properties: { value: { $ref: '#/$defs/json' }, next: { $ref: '#/$defs/node' } } };
  const json = { anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#/$defs/json' } }, { type: 'object', additionalProperties: { $ref: '#/$defs/json' } }] };
  const parameters = () => ({ type: 'object', properties: { root: { $ref: '#/$defs/node' } }, $defs: structuredClone({ node, json }) });
  const tools = [toolOf('a.x', parameters()), toolOf('a.y', parameters())];
  const typescript = typescriptStubs(tools);
  expect(typescript).toContain('  type Node = { value?: tools.Json; next?: tools.Node };\n  type Json = string | tools.Json[] | { [key: string]: tools.Json };\n');
  expect(typescript.match(/type Node/g)).toHaveLength(1);
  expect(pythonStubs(tools)).toContain('Json = "str | list[Json] | dict[str, Json]"\nclass Node(TypedDict):\n    value: NotRequired[Json]\n    next: NotRequired[Node]\n');
});

test('definitions of one name that say different things stay apart; one that is nothing but itself is any value', () => {
  const of = (schema: unknown) => toolOf(`t${JSON.stringify(schema).length}`, { type: 'object', properties: { a: { $ref: '#/$defs/Thing' } }, $defs: { Thing: schema } });
  const stubs = typescriptStubs([
    of({ type: 'object', properties: { x: {} } }),
    of({ type: 'object', properties: { yy: {} } }),
    of({ anyOf: [{ $ref: '#/$defs/Thing' }, { type: 'null' }] }),
  ]);
  expect(stubs).toContain('type Thing = { x?: any };\n  type Thing2 = { yy?: any };\n  type Thing3 = any;');
});

test('names that a language cannot write are called in the ways that work', () => {
  const tools = [
    toolOf('crm.class', { type: 'object', properties: {} }),
    toolOf('crm', { type: 'object', properties: { from: { type: 'string' } } }),
    toolOf('crm.a-b', { type: 'object', properties: { Record: { $ref: '#/definitions/Record' } }, definitions: { Record: { type: 'object', properties: { x: {} } } } }),
  ];
  expect(pythonStubs(tools)).toContain('def class_() -> Any:\n            """Called as tools["crm.class"]."""');
  expect(pythonStubs(tools)).toContain('def crm(arguments: CrmArguments) -> Any');
  const typescript = typescriptStubs(tools);
  expect(typescript).toContain('crm: ((args?: { from?: string }) => Promise<any>) & {');
  expect(typescript).toContain('type Record2 = ');
});

test('TypeScript that uses them compiles strictly, and what does not fit is found', () => {
  const parameters = {
    type: 'object',
    properties: {
      id: { type: 'integer' },
      kind: { enum: ['a', 'b'], default: 'a' },
      tree: { $ref: '#/$defs/Tree' },
      both: { allOf: [{ $ref: '#/$defs/Tree' }, { type: 'object', properties: { extra: { type: ['number', 'null'] } } }] },
      'odd-name': { oneOf: [{ type: 'string' }, { type: 'object', properties: { deep: { type: 'array', items: { $ref: '#/$defs/Tree' } } } }] },
    },
    required: ['id', 'tree'],
    $defs: {
      Tree: { type: 'object', properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/Tree' } } }, required: ['name'] },
      Event: { type: 'string' },
    },
  };
  const tools = [toolOf('api.make', parameters, 'Makes """a" thing */ \\ with\nlines'), toolOf('api', { type: 'object' }), toolOf('class.def', parameters)];
  writeFileSync(join(folder, 'stubs.ts'), typescriptStubs(tools));
  const use = (args: string) => `export const result: Promise<unknown> = tools.api.make(${args});\n`;
  const fitting = use("{ id: 1, tree: { name: 'a', children: [{ name: 'b' }] }, both: { name: 'c', extra: null }, 'odd-name': { deep: [{ name: 'd' }] } }");
  const wrong = [
    '{ id: "x", tree: { name: "a" } }',
    '{ id: 1 }',
    '{ id: 1, tree: { name: "a", children: [{}] } }',
    '{ id: 1, tree: { name: "a" }, kind: "c" }',
    '{ id: 1, tree: { name: "a" }, other: 1 }',
  ];
  const compiled = (text: string) => {
    writeFileSync(join(folder, 'use.ts'), text);
    const tsc = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url));
    return spawnSync(process.execPath, [tsc, '--strict', '--noEmit', '--ignoreConfig', '--target', 'es2023', 'stubs.ts', 'use.ts'], { cwd: folder, encoding: 'utf8' }).stdout;
  };
  expect(compiled(fitting)).toBe('');
  const found = compiled(wrong.map((args, i) => use(args).replace('result', `result${i}`)).join(''));
  for (const i of wrong.keys()) expect(found, wrong[i]).toContain(`use.ts(${i + 1},`);
});

test('a tool that says what it returns has it as the type of its result', () => {
  const tree = { $ref: '#/$defs/node', $defs: { node: { type: 'object', properties: { below: { type: 'array', items: { $ref: '#/$defs/node' } } }, required: ['below'] } } };
  const tools = [
    { ...toolOf('a', { type: 'object' }), result: { type: ['integer', 'null'] } },
    { ...toolOf('b', { type: 'object' }), result: tree },
  ];
  const typescript = typescriptStubs(tools);
  expect(typescript).toContain('Promise<number | null>');
  expect(typescript).toContain('type Node = { below: tools.Node[] };');
  expect(typescript).toContain('Promise<tools.Node>');
  const python = pythonStubs(tools);
  expect(python).toContain('-> int | None');
  expect(python).toContain('-> Node');
  expect(python).toContain('class Node(TypedDict):\n    below: list[Node]');
});

test('a schema that asks for very much in few words, or is no good, takes no more time than another', () => {
  // Six branches on each of thirty levels; a place to look up for each of many names; what cannot be decoded.
  const branches = Array.from({ length: 30 }).reduce<object>((inner) => ({ type: Array(6).fill('object'), properties: { a: inner } }), {});
  const numbers = Array.from({ length: 20_000 }, (_, i) => i);
  const $defs = Object.fromEntries(numbers.map((i) => [`d${i}`, { t: { type: 'object', properties: { x: { type: 'string' } } } }]));
  const references = { type: 'object', properties: Object.fromEntries(numbers.map((i) => [`p${i}`, { $ref: `#/$defs/d${i}/t` }])), $defs };
  for (const stubs of [typescriptStubs, pythonStubs]) {
    expect(stubs([toolOf('many', { type: 'object', properties: { b: branches } })])).toContain('many');
    expect(stubs([toolOf('names', references)]).length).toBeLessThan(2_000_000);
    expect(stubs([withField({ $ref: '#/%' })])).toContain('t(');
    expect(stubs([withField({ $ref: '#/$defs/50%' }, { $defs: { '50%': { type: 'string' } } })])).toMatch(/str/);
  }
});
