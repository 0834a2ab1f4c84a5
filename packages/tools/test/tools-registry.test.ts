/** The registry: tools of each tenant, durable, with names that are taken once. */
import { createToolSchema } from '@fermata/protocol/wire';
import { expect, test } from 'vitest';
import { createToolRegistry } from '../src/registry.ts';
import { pythonStubs } from '../src/stubs/python.ts';
import { typescriptStubs } from '../src/stubs/typescript.ts';
import { defineTool } from '../src/tool.ts';
import { documents } from './documents.ts';

const fixed = defineTool({ name: 'crm.find', execute: () => 1 });
const client = (name: string) => createToolSchema.parse({ kind: 'client', name });
const names = (tools: readonly { tool: { name: string } }[]) => tools.map(({ tool }) => tool.name);

test('tools are of their tenant, and those of the configuration are of all', async () => {
  const registry = createToolRegistry({ store: documents(), tools: [fixed] });
  await registry.add('a', client('mine'));
  expect(names(await registry.list('a'))).toEqual(['crm.find', 'mine']);
  expect(names(await registry.list('b'))).toEqual(['crm.find']);
  expect(await registry.lookup('b', 'mine')).toBeUndefined();
  await registry.add('b', client('mine'));
  await registry.remove('a', 'mine');
  expect(await registry.lookup('b', 'mine')).toMatchObject({ kind: 'client', tool: { execute: undefined } });
});

test('a name is taken once, also by two at the same moment, and the configuration cannot be changed', async () => {
  const store = documents();
  const registry = createToolRegistry({ store, tools: [fixed] });
  const both = await Promise.allSettled([registry.add('a', client('one')), registry.add('a', client('one'))]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await expect(registry.add('a', client('one'))).rejects.toMatchObject({ code: 'conflict' });
  await expect(registry.add('a', client('crm.find'))).rejects.toMatchObject({ code: 'conflict' });
  await expect(registry.remove('a', 'crm.find')).rejects.toMatchObject({ code: 'conflict' });
  await expect(registry.remove('a', 'none')).rejects.toMatchObject({ code: 'not_found' });
});

test('tools survive a restart, with all that they are', async () => {
  const store = documents();
  const code = createToolSchema.parse({
    ...{ kind: 'code', name: 'twice', language: 'python', code: 'input["n"] * 2', description: 'Doubles', requires_approval: true },
    tool_constraints: { timeout_seconds: 5, allowed_libraries: ['math'] },
  });
  await createToolRegistry({ store, now: () => 5 }).add('a', code);
  await createToolRegistry({ store }).add('a', createToolSchema.parse({ kind: 'http', name: 'web', url: 'https://example.com/' }));
  const after = createToolRegistry({ store });
  expect(names(await after.list('a'))).toEqual(['twice', 'web']);
  expect(await after.lookup('a', 'twice')).toMatchObject({
    ...{ kind: 'code', createdAt: 5, tool: { description: 'Doubles', requiresApproval: true, execute: undefined } },
    program: { language: 'python', code: 'input["n"] * 2', limits: { timeoutMs: 5000 }, allowedLibraries: ['math'] },
  });
});

test('what cannot work leaves nothing', async () => {
  const store = documents();
  await expect(createToolRegistry({ store }).add('a', client('a b'))).rejects.toMatchObject({ code: 'invalid_request' });
  expect(store.rows.size).toBe(0);
});

test('stubs say what a program can call, in groups', () => {
  const tools = [
    defineTool({
      name: 'crm.find',
      description: 'Finds */ one\n  customer',
      parameters: {
        type: 'object',
        properties: { limit: { type: 'integer' }, id: { enum: ['a', 1, null] }, tags: { type: 'array', items: { type: ['string', 'null'] } } },
        required: ['id'],
      },
      execute: () => 1,
    }),
    defineTool({ name: 'crm.all-of', parameters: { type: 'object', properties: {} }, execute: () => 1 }),
    defineTool({ name: 'any', execute: () => 1 }),
  ];
  expect(typescriptStubs(tools)).toBe(`declare const tools: {
  any(args?: { [key: string]: any }): Promise<any>;
  crm: {
    /** Finds * / one customer */
    find(args: { limit?: number; id: "a" | 1 | null; tags?: (string | null)[] }): Promise<any>;
    "all-of"(args?: {}): Promise<any>;
  };
};
`);
  expect(pythonStubs(tools)).toBe(`from typing import Any, Literal

class tools:
    @staticmethod
    def any(**arguments: Any) -> Any: ...

    class crm:
        @staticmethod
        def find(*, id: Literal["a", 1, None], limit: int = ..., tags: list[str | None] = ...) -> Any:
            """Finds */ one customer"""

        @staticmethod
        def all_of() -> Any: ...
`);
});

test('a pattern that would take for ever is refused by an error that says so, and one that is none where the tool is made', async () => {
  const { defineTool } = await import('../src/index.ts');
  const evil = defineTool({ name: 'evil', parameters: { type: 'object', properties: { s: { type: 'string', pattern: '^(a+)+$' } } } });
  expect(() => evil.check({ s: `${'a'.repeat(60)}b` })).toThrow(/invalid arguments for evil: the tool's JSON Schema is too slow/);
  expect(evil.check({ s: 'aaa' })).toEqual({ s: 'aaa' });
  expect(() => defineTool({ name: 'none', parameters: { type: 'object', properties: { s: { pattern: '(' } } } })).toThrow(/not a JSON Schema/);
});
