/** Tool sources over the REST API: added, shown, used, kept across a restart, removed; what is refused. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttp, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient, type FermataClient } from '@fermata/client';
import { createKeyStore, createServer, type FermataServer } from '@fermata/server';
import { type OpenEngineOptions, openEngine } from 'fermata';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

const EVERYTHING = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fermata-sources-'));
let server: FermataServer;
let client: FermataClient;
let stranger: FermataClient;
let key: string;
let foreignKey: string;
let mcp: { process: ChildProcess; port: number };
let service: Server;
const asked: { url: string | undefined; token: string | undefined }[] = [];

const PRIVATE = { allowPrivate: ['127.0.0.1'] };
async function start(options: OpenEngineOptions = {}): Promise<void> {
  const opened = await openEngine({
    folder,
    network: PRIVATE,
    secret: (tenant, name) => (tenant === 'ours' && name === 'pets_token' ? 't0ken' : undefined),
    tools: [{ name: 'crm.find', execute: () => 1 }],
    ...options,
  });
  const { engine, store, registry, policy, close } = opened;
  server = createServer({ engine, store, tools: registry, policy, close, onError: () => {} });
  const url = await server.listen({ port: 0 });
  const keys = createKeyStore(store);
  key ??= (await keys.create({ tenant: 'ours', scopes: ['admin'] })).key;
  foreignKey ??= (await keys.create({ tenant: 'theirs', scopes: ['admin'] })).key;
  [client, stranger] = [key, foreignKey].map((one) => createClient({ url, key: one })) as [FermataClient, FermataClient];
}
async function restart(options: OpenEngineOptions = {}): Promise<void> {
  await server.close({ drainMs: 1000 });
  await start(options);
}

async function freePort(): Promise<number> {
  const tcp = createTcp();
  await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
  const { port } = tcp.address() as AddressInfo;
  await new Promise((resolve) => tcp.close(resolve));
  return port;
}
/** The server that MCP's own project publishes, over streamable HTTP; resolves when it listens. */
async function startMcp(port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], { env: { ...process.env, PORT: String(port) }, stdio: ['ignore', 'ignore', 'pipe'] });
  await new Promise<void>((resolve) => child.stderr?.on('data', (chunk: Buffer) => String(chunk).includes('listening') && resolve()));
  return child;
}
async function stopMcp(): Promise<void> {
  const ended = new Promise((resolve) => mcp.process.once('exit', resolve));
  mcp.process.kill('SIGKILL');
  await ended;
}

const petsDocument = (url: string) => ({
  openapi: '3.1.0',
  info: { title: 'pets', version: '1' },
  servers: [{ url }],
  paths: { '/pets/{petId}': { get: { operationId: 'get-pet', parameters: [{ name: 'petId', in: 'path', required: true, schema: { type: 'integer' } }] } } },
});
let serviceUrl: string;

beforeAll(async () => {
  const port = await freePort();
  mcp = { port, process: await startMcp(port) };
  service = createHttp((request, response) => {
    asked.push({ url: request.url, token: request.headers.authorization });
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(request.url === '/openapi.json' ? petsDocument(serviceUrl) : { name: 'Rex' }));
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  serviceUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  await start();
});
afterAll(async () => {
  await server.close({ drainMs: 0 });
  mcp.process.kill('SIGKILL');
  service.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  asked.length = 0;
});

const run = (code: string, more = {}) => client.tasks.create({ language: 'javascript', code, wait_seconds: 60, ...more });
const outputOf = async (code: string) => {
  const task = await run(code);
  expect(task).toMatchObject({ status: 'succeeded' });
  return task.status === 'succeeded' ? task.result.output : undefined;
};
const mcpUrl = () => `http://127.0.0.1:${mcp.port}/mcp`;

test('an MCP server is added by its address; its tools are there, for this tenant', async () => {
  const added = await client.toolSources.add({ kind: 'mcp', name: 'demo', url: mcpUrl() });
  expect(added).toMatchObject({ name: 'demo', kind: 'mcp', state: 'connected', error: null, created_at: expect.any(String) });
  expect(added.tools).toContainEqual({ name: 'demo.get_sum', original_name: 'get-sum' });
  expect(await outputOf(`return [await tools.demo.echo({ message: 'hi' }), (await Promise.all([1, 2].map((a) => tools.demo.get_sum({ a, b: 1 })))).map((s) => s.at(-2))]`)).toEqual(
    ['Echo: hi', ['2', '3']],
  );
  expect((await client.tools.list()).items.find(({ name }) => name === 'demo.get_sum')).toMatchObject({ kind: 'mcp', source: 'demo', original_name: 'get-sum' });
  expect((await stranger.toolSources.list()).items).toEqual([]);
  expect((await stranger.tools.list()).items.map(({ name }) => name)).toEqual(['crm.find']);
});

test('an OpenAPI document is added by its address or whole; secrets are added by the host', async () => {
  const auth = { bearer: { secret: 'pets_token' } };
  expect(await client.toolSources.add({ kind: 'openapi', name: 'pets', url: `${serviceUrl}/openapi.json`, auth })).toMatchObject({
    state: 'connected',
    tools: [{ name: 'pets.get_pet', original_name: 'get-pet' }],
  });
  expect(await client.toolSources.add({ kind: 'openapi', name: 'pets2', document: petsDocument('https://example.com/'), base_url: serviceUrl })).toMatchObject({ tool_count: 1 });
  expect(await outputOf('return [await tools.pets.get_pet({ petId: 7 }), await tools.pets2.get_pet({ petId: 8 })]')).toEqual([{ name: 'Rex' }, { name: 'Rex' }]);
  expect(asked).toEqual([
    { url: '/openapi.json', token: undefined },
    { url: '/pets/7', token: 'Bearer t0ken' },
    { url: '/pets/8', token: undefined },
  ]);
  expect(JSON.stringify([await client.toolSources.get('pets'), await client.tools.list()])).not.toContain('t0ken');
});

test('names clash with nothing: tools, groups of tools, other sources, built-in tools', async () => {
  const add = (name: string) => client.toolSources.add({ kind: 'openapi', name, document: petsDocument(serviceUrl) });
  for (const name of ['demo', 'crm', 'search']) await expect(add(name)).rejects.toMatchObject({ status: 409, code: 'conflict' });
  for (const name of ['demo', 'demo.mine']) await expect(client.tools.add({ kind: 'client', name })).rejects.toMatchObject({ status: 409 });
  await expect(client.tools.remove('demo.echo')).rejects.toMatchObject({ status: 409 });
  for (const name of ['a-b', '1a', 'a.b']) await expect(add(name)).rejects.toMatchObject({ status: 422 });
  expect((await client.toolSources.list()).items.map(({ name }) => name)).toEqual(['demo', 'pets', 'pets2']);
});

test('what cannot be reached, or may not be, is not added', async () => {
  const refused = (source: Parameters<FermataClient['toolSources']['add']>[0]) =>
    client.toolSources.add(source).then(
      () => 'added',
      ({ status, code, message }) => ({ status, code, message }),
    );
  expect(await refused({ kind: 'mcp', name: 'none', url: `http://127.0.0.1:${await freePort()}/mcp` })).toMatchObject({
    status: 502,
    code: 'source_failed',
    message: expect.stringContaining('ECONNREFUSED'),
  });
  expect(await refused({ kind: 'mcp', name: 'inside', url: 'http://10.0.0.1/mcp' })).toMatchObject({ status: 502, message: expect.stringContaining('not a public address') });
  expect(await refused({ kind: 'openapi', name: 'inside', url: 'http://169.254.169.254/' })).toMatchObject({
    status: 502,
    message: expect.stringContaining('not a public address'),
  });
  expect(await refused({ kind: 'mcp', name: 'local', command: process.execPath, args: ['-e', '0'] })).toMatchObject({ status: 403, code: 'forbidden' });
  expect(await refused({ kind: 'openapi', name: 'bad', document: { openapi: '2.0', paths: {} } })).toMatchObject({ status: 422 });
  expect(await refused({ kind: 'mcp', name: 'both', url: mcpUrl(), command: 'x' })).toMatchObject({ status: 422 });
  expect((await client.toolSources.list()).items).toHaveLength(3);
});

test('they are there after a restart, and a program that waits goes on with them', async () => {
  await client.tools.add({ kind: 'client', name: 'ask' });
  const waiting = await run(
    `const before = await tools.demo.echo({ message: 'a' }); const answer = await tools.ask({}); return [before, await tools.demo.echo({ message: answer }), await tools.pets.get_pet({ petId: 1 })]`,
  );
  expect(waiting).toMatchObject({ status: 'waiting' });
  await restart();
  await client.answerTools(waiting.task_id, { ask: () => 'b' });
  const { items } = await client.toolSources.list();
  expect(items.map(({ name, state }) => [name, state])).toEqual(['demo', 'pets', 'pets2'].map((name) => [name, 'connected']));
  expect(await client.tasks.wait(waiting.task_id)).toMatchObject({ status: 'succeeded', result: { output: ['Echo: a', 'Echo: b', { name: 'Rex' }] } });
});

test('a server that is gone does not keep ours from starting; its calls fail, and succeed once it is back', async () => {
  await stopMcp();
  await restart();
  await expect.poll(async () => (await client.toolSources.get('demo')).state).toBe('failed');
  const source = await client.toolSources.get('demo');
  expect(source.error).toContain('ECONNREFUSED');
  expect(source.tools).toContainEqual({ name: 'demo.echo', original_name: 'echo' });
  const code = `return await tools.demo.echo({ message: 'x' }).catch((error) => [error.toolErrorName, error.message])`;
  expect(await outputOf(code)).toEqual(['SourceUnavailable', expect.stringContaining('the tool source demo cannot be reached')]);
  mcp.process = await startMcp(mcp.port);
  expect(await outputOf(code)).toBe('Echo: x');
  await expect.poll(async () => (await client.toolSources.get('demo')).state).toBe('connected');
});

test('commands and sources of the configuration, where these are allowed; a configured one that fails is shown', async () => {
  const sources = { mcp: { fixed: { command: process.execPath, args: [EVERYTHING] }, broken: { command: 'no-such-command-here' } } };
  await restart({ sources, allowSourceCommands: true });
  const { items } = await client.toolSources.list();
  expect(items.find(({ name }) => name === 'fixed')).toMatchObject({ state: 'connected', created_at: null });
  expect(items.find(({ name }) => name === 'broken')).toMatchObject({ state: 'failed', error: expect.stringContaining('ENOENT'), tool_count: 0 });
  await expect(client.toolSources.remove('fixed')).rejects.toMatchObject({ status: 409 });
  await expect(client.toolSources.add({ kind: 'mcp', name: 'fixed', url: mcpUrl() })).rejects.toMatchObject({ status: 409 });
  await client.toolSources.add({ kind: 'mcp', name: 'mine', command: process.execPath, args: [EVERYTHING], env: { ONLY: 'this' } });
  const environment = JSON.parse((await outputOf('return await tools.mine.get_env({})')) as string);
  expect(Object.keys(environment).sort()).toEqual(['ONLY', 'PATH']);
});

test('a source that is removed takes its tools with it', async () => {
  for (const name of ['demo', 'mine', 'pets', 'pets2']) await client.toolSources.remove(name);
  await expect(client.toolSources.get('demo')).rejects.toMatchObject({ status: 404 });
  await expect(client.toolSources.remove('demo')).rejects.toMatchObject({ status: 404 });
  expect(await outputOf(`return await tools.demo.echo({ message: 'x' }).catch((error) => error.toolErrorName)`)).toBe('unknown_tool');
  await restart();
  expect((await client.toolSources.list()).items).toEqual([]);
});
