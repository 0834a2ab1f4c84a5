/** Sources of a registry: what is known of them when they cannot be reached, and what their names may be. */
import { createToolSourceSchema } from '@fermata/protocol/wire';
import { afterEach, expect, test } from 'vitest';
import { createToolRegistry, type ToolRegistryOptions } from '../src/registry.ts';
import { documents } from './documents.ts';
import { httpTestServer } from './mcp-server.ts';

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
});
async function serverWith(names: string[], port = 0) {
  const server = await httpTestServer(names, port);
  const closable = { ...server, [Symbol.asyncDispose]: () => server.close() };
  opened.push(closable);
  return closable;
}
async function registryOf(options: ToolRegistryOptions) {
  const registry = createToolRegistry(options);
  opened.push(registry);
  await registry.connect(30_000);
  return registry;
}
const mcp = (name: string, url: string) => createToolSourceSchema.parse({ kind: 'mcp', name, url });
const network = { allowPrivate: true };

test('of a configured source that cannot be reached any more the tools are known, as long as it is configured alike', async () => {
  const server = await serverWith(['a', 'b']);
  const store = documents();
  const first = await registryOf({ store, sources: { mcp: { s: { url: server.url } } } });
  expect((await first.list('t')).map(({ tool }) => tool.name)).toEqual(['s.a', 's.b']);
  await server.close();
  const again = await registryOf({ store, sources: { mcp: { s: { url: server.url } } } });
  expect((await again.list('t')).map(({ tool }) => tool.name)).toEqual(['s.a', 's.b']);
  expect(await again.source('t', 's')).toMatchObject({ state: 'failed', createdAt: null, fault: { code: 'source_failed' } });
  const other = await registryOf({ store, sources: { mcp: { s: { url: `${server.url}/other` } } } });
  expect(await other.list('t')).toEqual([]);
});

test('the list is the same until something changes, and then another one', async () => {
  const server = await serverWith(['grow']);
  const registry = await registryOf({ store: documents(), network });
  await registry.addSource('t', mcp('s', server.url));
  const list = await registry.list('t');
  expect(await registry.list('t')).toBe(list);
  const [{ tool }] = list as [(typeof list)[0]];
  await (tool.execute as (args: object, info: object) => Promise<unknown>)({}, { signal: new AbortController().signal });
  await expect.poll(async () => (await registry.list('t')).length).toBe(2);
});

test('a tool and a source that are added at the same moment do not both get a name', async () => {
  const server = await serverWith(['a']);
  const registry = await registryOf({ store: documents(), network });
  const tool = { kind: 'client' as const, name: 's.x' };
  const both = await Promise.allSettled([registry.addSource('t', mcp('s', server.url)), registry.addSource('t', mcp('s', server.url)), registry.add('t', tool)]);
  expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('a configuration in which a source has the name of a tool is refused', () => {
  const sources = { mcp: { crm: { command: 'x' } } };
  expect(() => createToolRegistry({ store: documents(), sources, tools: [{ name: 'crm.find' }] })).toThrow(/cannot be named crm/);
  expect(() => createToolRegistry({ store: documents(), sources: { ...sources, openapi: { crm: { file: 'x' } } } })).toThrow(/two tool sources have the name crm/);
});
