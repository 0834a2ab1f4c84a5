/** A tools file with MCP servers, OpenAPI documents and a policy, as each command uses it. */
import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Cli } from './cli.ts';

const EVERYTHING = fileURLToPath(new URL('../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url));
const cli = new Cli();
let service: Server;
const asked: (string | undefined)[] = [];
const TOOLS = 'conf/tools.mjs';

beforeAll(async () => {
  service = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers['x-key']}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"name":"Rex"}');
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  mkdirSync(join(cli.folder, 'conf'));
  cli.file(
    'conf/pets.yaml',
    'openapi: 3.0.3\ninfo: {title: pets, version: "1"}\npaths:\n  /pets/{petId}:\n    get:\n      operationId: getPet\n      summary: One pet\n      parameters: [{name: petId, in: path, required: true, schema: {type: integer}}]\n    delete: {operationId: removePet, parameters: [{name: petId, in: path, required: true, schema: {type: integer}}]}\n',
  );
  const file = (openapi: object, mcp = { demo: { command: process.execPath, args: [EVERYTHING] } }) =>
    `export default ${JSON.stringify({ tools: [], mcp, openapi, policy: [{ tool: 'pets.remove*', action: 'deny', reason: 'never' }] })};\n`;
  const openapi = { pets: { file: 'pets.yaml', baseUrl, auth: { apiKey: 's3cret', name: 'X-Key', in: 'header' } } };
  cli.file(TOOLS, file(openapi));
  cli.file('conf/no-policy.mjs', `import tools from './tools.mjs';\nexport default { mcp: tools.mcp, openapi: tools.openapi };\n`);
  cli.file('conf/broken-no-policy.mjs', `import tools from './broken.mjs';\nexport default { mcp: tools.mcp };\n`);
  cli.file('conf/broken.mjs', file(openapi, { demo: { command: 'no-such-command-here', args: [] } }));
});
afterAll(() => {
  service.close();
  cli[Symbol.dispose]();
});

const CODE = 'return [await tools.demo.echo({ message: "hi" }), await tools.pets.getPet({ petId: 7 })]';

test('run uses them, durably and in memory', async () => {
  expect(await cli.json(['run', '-l', 'javascript', '-t', TOOLS, '-e', CODE])).toMatchObject({ code: 0, result: { output: ['Echo: hi', { name: 'Rex' }] } });
  expect(
    await cli.json(['run', '--ephemeral', '-l', 'python', '-t', 'conf/no-policy.mjs', '-e', 'tools.pets.getPet(petId=8)["name"] + tools.demo.echo(message="!")']),
  ).toMatchObject({ code: 0, result: { output: 'RexEcho: !' } });
  expect(asked).toEqual(['GET /pets/7 s3cret', 'GET /pets/8 s3cret']);
});

test('the policy of the file holds, and is not ignored in memory', async () => {
  const code = 'await tools.pets.removePet({ petId: 1 })';
  expect(await cli.json(['run', '-l', 'javascript', '-t', TOOLS, '-e', code])).toMatchObject({ code: 1, error: { message: expect.stringContaining('denied: never') } });
  expect(await cli.run(['run', '--ephemeral', '-l', 'javascript', '-t', TOOLS, '-e', code])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('holds for tasks that are kept only'),
  });
});

test('tool list, stubs, sources and call know them', async () => {
  const { items } = await cli.json(['tool', 'list', '-t', TOOLS]);
  expect(items.find(({ name }: { name: string }) => name === 'demo.get_sum')).toMatchObject({ kind: 'mcp', source: 'demo', original_name: 'get-sum' });
  const { stubs } = await cli.json(['tool', 'stubs', 'typescript', '-t', TOOLS]);
  expect(stubs).toContain('/** One pet */\n    getPet(args: { petId: number }): Promise<any>;');
  expect((await cli.run(['tool', 'stubs', 'python', '-t', TOOLS])).stdout).toContain('def getPet(petId: int) -> Any:');
  expect(await cli.json(['tool', 'call', 'demo.get_sum', '-t', TOOLS, '--input', '{"a": 2, "b": 3}'])).toMatchObject({ code: 0, result: { output: expect.stringContaining('5') } });
  expect((await cli.run(['tool', 'sources', '-t', TOOLS])).stdout).toMatch(/demo +mcp +connected +\d+ tools\s*\npets +openapi +connected +2 tools/);
});

test('a source that cannot be used ends the command before anything is run; tool sources shows it', async () => {
  expect(await cli.json(['run', '-l', 'javascript', '-t', 'conf/broken.mjs', '-e', CODE])).toMatchObject({
    code: 3,
    error: { code: 'source_failed', message: expect.stringContaining('ENOENT') },
  });
  expect(await cli.run(['run', '--ephemeral', '-l', 'javascript', '-t', 'conf/broken-no-policy.mjs', '-e', CODE])).toMatchObject({ code: 3 });
  expect(await cli.json(['tool', 'sources', '-t', 'conf/broken.mjs'])).toMatchObject({
    code: 0,
    items: [
      { name: 'demo', state: 'failed' },
      { name: 'pets', state: 'connected' },
    ],
  });
});

test('a task that was paused goes on with the sources of its tools file', async () => {
  const code = 'const before = await tools.demo.echo({ message: "a" }); await sleep(5); return [before, await tools.demo.echo({ message: "b" })]';
  const paused = await cli.json(['run', '-l', 'javascript', '-t', TOOLS, '-e', code, '--pause-after', '1s']);
  expect(paused).toMatchObject({ code: 4, status: 'paused' });
  expect(await cli.json(['resume', paused.task_id])).toMatchObject({ code: 0, result: { output: ['Echo: a', 'Echo: b'] } });
});
