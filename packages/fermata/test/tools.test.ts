/** Tools: arguments are checked before the tool sees them, and what cannot cross is said, never bent. */
import { createFermata, defineTool } from 'fermata';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

const seen: unknown[] = [];
const remember = (args: unknown) => {
  seen.push(args);
  return 'done';
};
const byZod = defineTool({
  name: 'zod.order',
  parameters: z.object({ item: z.string().min(1), count: z.number().int().positive().default(1) }),
  execute: ({ item, count }) => remember([item, count]),
});
const byJsonSchema = defineTool({
  name: 'json-order',
  parameters: { type: 'object', properties: { item: { type: 'string' }, count: { type: 'integer', minimum: 1 } }, required: ['item'], additionalProperties: false },
  execute: remember,
});
const strange = {
  name: 'strange',
  execute: ({ what }: { what?: unknown }) => ({ function: () => 1, symbol: Symbol('s'), map: new WeakMap(), promise: { late: Promise.resolve(1) } })[what as string],
};
const fermata = createFermata({ tools: [byZod, byJsonSchema, strange] });
afterAll(() => fermata.close());

test('a zod schema fills in defaults, a JSON schema lets through what fits', async () => {
  seen.length = 0;
  await fermata.run({ language: 'javascript', code: 'await tools.zod.order({ item: "tea" }); await tools["json-order"]({ item: "milk", count: 2 });' });
  expect(seen).toEqual([['tea', 1], { item: 'milk', count: 2 }]);
});

test('Python calls tools by keyword, by one dict, and by position', async () => {
  seen.length = 0;
  await fermata.run({ language: 'python', code: 'tools.json_order(item="a", count=1)\ntools["json-order"]({"item": "b"})\ntools.zod.order("c", 3)' });
  expect(seen).toEqual([{ item: 'a', count: 1 }, { item: 'b' }, ['c', 3]]);
});

describe('bad arguments are an error that the program can catch, and the tool does not see them', () => {
  test.each([
    [
      'javascript',
      'const out = [];\nfor (const call of [() => tools.zod.order({ item: "", count: 1 }), () => tools["json-order"]({ item: "x", count: 0 }), () => tools["json-order"]({})]) {\n  try { await call(); } catch (e) { out.push(e.message); }\n}\nout',
    ],
    [
      'python',
      'out = []\nfor call in (lambda: tools.zod.order(item="", count=1), lambda: tools.json_order(item="x", count=0), lambda: tools.json_order()):\n    try:\n        call()\n    except Exception as e:\n        out.append(str(e))\nout',
    ],
  ] as const)('in %s', async (language, code) => {
    seen.length = 0;
    const { output } = await fermata.run({ language, code });
    expect(output).toEqual([expect.stringMatching(/zod\.order.*item/), expect.stringMatching(/json-order.*count/), expect.stringMatching(/json-order.*item/)]);
    expect(seen).toEqual([]);
  });
});

test.each(['function', 'symbol', 'map', 'promise'])('a result that is or holds a %s fails loudly', async (what) => {
  const { output } = await fermata.run({ language: 'javascript', code: 'try { await tools.strange({ what: input }); } catch (e) { return e.message; }', input: what });
  expect(output).toMatch(/result of strange.*(cannot be passed on)/);
});

test('a name with dots and dashes is reached by name and by attribute', async () => {
  const tool = { name: 'git-hub.list-issues', execute: () => 3 };
  expect(await fermata.run({ language: 'javascript', code: 'await tools["git-hub.list-issues"]({}) + await tools["git-hub"]["list-issues"]({})', tools: [tool] })).toMatchObject({
    output: 6,
  });
  expect(await fermata.run({ language: 'python', code: 'tools["git-hub.list-issues"]() + tools.git_hub.list_issues()', tools: [tool] })).toMatchObject({ output: 6 });
});

test('arguments with names like __proto__ and toString arrive as plain keys, and nothing is polluted', async () => {
  const taken: object[] = [];
  const take = { name: 'take', execute: (given: object) => taken.push(given) };
  await fermata.run({ language: 'javascript', code: 'await tools.take(JSON.parse(\'{"__proto__": {"polluted": 1}, "toString": 2}\'))', tools: [take] });
  expect(taken.map(Object.keys)).toEqual([['__proto__', 'toString']]);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

test('a tool is told whose call it is, with a key that is the same for every try', async () => {
  const infos: unknown[] = [];
  const tell = {
    name: 'tell',
    execute: (_: unknown, { taskId, callId, idempotencyKey }: { taskId: string; callId: string | number; idempotencyKey: string }) => infos.push([taskId, callId, idempotencyKey]),
  };
  await fermata.run({ language: 'python', code: 'tools.tell()\ntools.tell()', tools: [tell], taskId: 't-1' });
  expect(infos).toEqual([
    ['t-1', 1, 't-1:1'],
    ['t-1', 2, 't-1:2'],
  ]);
});

test.each([
  ['javascript', 'await Promise.all([1, 2, 3, 4].map((n) => tools.meet({ n })))'],
  ['python', 'import asyncio\nasync def main():\n    return await asyncio.gather(*(tools.meet(n=n) for n in range(1, 5)))\nasyncio.run(main())'],
] as const)('parallel calls in %s overlap: each is answered only when all have come', async (language, code) => {
  const waiting: (() => void)[] = [];
  const meet = {
    name: 'meet',
    execute: async ({ n }: { n?: unknown }) => {
      const all = new Promise<void>((resolve) => waiting.push(resolve));
      if (waiting.length === 4) for (const go of waiting) go();
      await all;
      return n;
    },
  };
  expect(await fermata.run({ language, code, tools: [meet], limits: { timeoutMs: 60_000 } })).toMatchObject({ output: [1, 2, 3, 4] });
});
