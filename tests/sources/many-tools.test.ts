/** A thousand tools: a program is told of those that it means, and finds the others. */
import { createFermata, openEngine } from 'fermata';
import { expect, test } from 'vitest';

const tools = [...Array(1000).keys()].map((i) => ({ name: `group${i % 20}.tool_${i}`, description: `does thing number ${i}`, execute: () => i }));

/** As the wire makes it of a `tool_call`. */
const CALL = 'return await tools[input.name](input.arguments);';

test('what a durable program is told of does not grow with what there is', async () => {
  await using opened = await openEngine({ tools });
  const run = async (request: object) => {
    const { taskId } = await opened.engine.submit('t', { language: 'javascript', code: '', limits: {}, ...request });
    const view = await opened.engine.wait({ tenant: 't', taskId }, 60_000);
    const begun = (await opened.engine.journal({ tenant: 't', taskId })).find(({ kind }) => kind === 'begun');
    return { output: view.output, error: view.error, told: (JSON.parse(begun?.body ?? '{}').tools ?? []).length };
  };
  expect(await run({ code: 'return 1' })).toMatchObject({ output: 1, told: 0 });
  expect(await run({ code: 'return await tools.group7.tool_27({})' })).toMatchObject({ output: 27, told: 1 });
  expect(await run({ language: 'python', code: 'from fermata import tools\ntools.group7.tool_27() + tools.group1.tool_1()' })).toMatchObject({ output: 28, told: 2 });
  expect(await run({ code: CALL, toolCall: { name: 'group7.tool_27', arguments: {} } })).toMatchObject({ output: 27, told: 1 });
  const found = await run({ code: `const [{ name }] = await tools.search({ query: 'number 999' }); return [name, await tools[name]({})]` });
  expect(found).toMatchObject({ output: ['group19.tool_999', 999], told: 1003 });
  expect((await run({ code: 'await tools.group7.tool_28({})' })).error?.message).toMatch(/no tool .*group7\.tool_28.* did you mean/i);
});

test('programs in memory likewise', async () => {
  await using fermata = createFermata({ tools });
  expect(await fermata.run({ language: 'python', code: 'tools.group7.tool_27()' })).toMatchObject({ status: 'succeeded', output: 27 });
  expect(await fermata.run({ language: 'javascript', code: 'return Object.keys(tools).length > 1000 && tools["group7.tool_27"]({})' })).toMatchObject({ output: 27 });
  expect(await fermata.run({ toolCall: { name: 'group7.tool_27' } })).toMatchObject({ output: 27 });
});

const CUSTOMERS = [
  { name: 'crm.find', description: 'find a customer', parameters: { type: 'object', properties: { id: { type: 'integer' } } }, execute: () => 1 },
  { name: 'crm.create', description: 'create a customer', execute: () => 2 },
  { name: 'secret', description: 'of no customer', execute: () => 3 },
];
const LOOK = {
  python: `
found = [tool["name"] for tool in tools.search("finding customers", limit=1)]
try:
    tools.describe("crm.fnd")
except Exception as error:
    found.append(str(error))
found + [tools.describe(found[0])["parameters"], tools.search("secret")]`,
  javascript: `
const found = (await tools.search({ query: 'finding customers', limit: 1 })).map(({ name }) => name);
await tools.describe({ name: 'crm.fnd' }).catch((error) => found.push(error.message));
return [...found, (await tools.describe({ name: found[0] })).parameters, await tools.search({ query: 'secret' })]`,
} as const;
const FOUND = ['crm.find', expect.stringContaining('there is no tool crm.fnd'), CUSTOMERS[0]?.parameters];

test.each(['python', 'javascript'] as const)('a program finds its tools, and no others, and is told what they take, durable or in memory: %s', async (language) => {
  await using opened = await openEngine({ tools: CUSTOMERS, policy: [{ tool: '*', action: 'deny' }] });
  const { taskId } = await opened.engine.submit('t', { language, code: LOOK[language], tools: ['crm.*'] });
  expect((await opened.engine.wait({ tenant: 't', taskId }, 60_000)).output).toEqual([...FOUND, []]);
  await using fermata = createFermata({ tools: CUSTOMERS.slice(0, 2) });
  expect(await fermata.run({ language, code: LOOK[language] })).toMatchObject({ status: 'succeeded', output: [...FOUND, []] });
});

test('a tool named search takes its place, and one that waits is restored with what finds it', async () => {
  const search = { name: 'search', execute: () => 'mine' };
  await using fermata = createFermata({ tools: [search] });
  expect(await fermata.run({ language: 'javascript', code: 'return await tools.search({ query: "x" })' })).toMatchObject({ output: 'mine' });
  const asked = [{ name: 'ask' }];
  await using task = await fermata.start({ language: 'python', code: '[tools.ask(), tools.describe("ask")["name"]]', tools: asked });
  await task.run();
  await using again = await fermata.restore(await task.snapshot(), { trust: true, tools: asked });
  again.answer(1, 'yes');
  expect(await again.run()).toMatchObject({ output: ['yes', 'ask'] });
});
