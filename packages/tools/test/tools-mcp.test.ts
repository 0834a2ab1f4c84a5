/** Tool sources that are MCP servers: what they tell, what their calls give, and what happens when they change, hang or die. */
import { fileURLToPath } from 'node:url';
import type { Value } from '@fermata/protocol';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openToolSources } from '../src/open-tool-sources.ts';
import type { McpSourceOptions } from '../src/sources/source-options.ts';
import type { Tool } from '../src/tool.ts';
import { httpTestServer } from './mcp-server.ts';

const script = fileURLToPath(new URL('./mcp-server.ts', import.meta.url));
const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

async function open(options: McpSourceOptions, network = {}) {
  const sources = await openToolSources({ mcp: { s: options }, network });
  opened.push(sources);
  const tool = (name: string) => sources.tools.find((tool) => tool.name === `s.${name}`) as Tool;
  const told: unknown[] = [];
  const call = (name: string, args: Record<string, Value> = {}, signal = new AbortController().signal): Promise<Value> => {
    const { check, execute } = tool(name);
    return (execute as (args: unknown, info: object) => Promise<Value>)(check(args), {
      taskId: 'a',
      callId: 1,
      idempotencyKey: 'k',
      signal,
      progress: (one: unknown) => told.push(one),
    });
  };
  return { sources, tool, call, told };
}
const stdio = (names: string[], more: McpSourceOptions = {}) => open({ command: process.execPath, args: [script, ...names], ...more });
async function http(names: string[], more: McpSourceOptions = {}) {
  const server = await httpTestServer(names);
  opened.push({ [Symbol.asyncDispose]: () => server.close() });
  return { server, ...(await open({ url: server.url, ...more })) };
}

test('all pages of the list are read, and names become identifiers of both languages', async () => {
  const { sources, call } = await stdio(['get-env', 'from', 'a.b/c', '2x', 'plain', 'then', 'é']);
  expect(sources.tools.map(({ name }) => name)).toEqual(['s.get_env', 's.from_', 's.a_b_c', 's.n_2x', 's.plain', 's.then_', 's._']);
  expect(await call('get_env', { n: 1 })).toBe('get-env 1');
});

test('two tools whose names become the same are refused by name', async () => {
  await expect(stdio(['a-b', 'a_b'])).rejects.toMatchObject({ code: 'invalid_request', message: expect.stringContaining('"a-b" and "a_b", which both become a_b') });
});

test('hints say what needs approval and what may be repeated', async () => {
  const { tool } = await stdio(['plain', 'read', 'wipe', 'mail']);
  const hints = ['plain', 'read', 'wipe', 'mail'].map((name) => [tool(name).requiresApproval, tool(name).idempotent]);
  expect(hints).toEqual([
    [false, false],
    [false, true],
    [true, false],
    [true, true],
  ]);
});

test('results come as values: text, structured content, bytes, resources, nothing', async () => {
  const { call } = await stdio(['structured', 'mixed', 'nothing', 'text']);
  expect(await call('text', { n: 3 })).toBe('text 3');
  expect(await call('structured', { n: 2 })).toEqual({ a: 1, n: 2 });
  expect(await call('nothing')).toBeNull();
  expect(await call('mixed')).toEqual([
    'a sound',
    { type: 'audio', mimeType: 'audio/wav', data: new Uint8Array([1, 2, 3]) },
    { type: 'resource', uri: 'test://x', mimeType: 'text/plain', text: 'inside' },
    { type: 'resource_link', uri: 'test://y', name: 'y' },
  ]);
});

test('isError is an error with its text; arguments that do not fit never reach the server', async () => {
  const { call, tool } = await stdio(['fail']);
  await expect(call('fail')).rejects.toMatchObject({ name: 'ToolError', message: 'no such thing', data: { content: ['no such thing'] } });
  expect(() => tool('fail').check({ n: 'x' })).toThrow(/invalid arguments for s.fail: n must be integer/);
});

test('a process has what is configured in its environment, and PATH', async () => {
  vi.stubEnv('SECRET_OF_THE_HOST', 'x');
  const { call } = await stdio(['env'], { env: { TOKEN: 't' } });
  vi.unstubAllEnvs();
  const { PATH, TOKEN, ...rest } = JSON.parse((await call('env')) as string);
  expect([PATH, TOKEN]).toEqual([process.env.PATH, 't']);
  expect(Object.keys(rest).filter((name) => name !== '__CF_USER_TEXT_ENCODING' && name !== 'SYSTEMROOT' && name !== 'PATHEXT')).toEqual([]);
});

describe.each([['stdio' as const], ['http' as const]])('over %s', (transport) => {
  const start = async (names: string[], more: McpSourceOptions = {}) => (transport === 'stdio' ? stdio(names, more) : http(names, more));

  test('a changed list is read anew', async () => {
    const { sources, call } = await start(['grow', 'a', 'b']);
    expect(sources.tools).toHaveLength(3);
    await call('grow');
    await expect.poll(() => sources.tools.map(({ name }) => name)).toContain('s.grown');
    expect(await call('grown')).toBe('grown');
  });

  test('a call without an answer ends after its timeout, and the server is there for the next one', async () => {
    const { call } = await start(['hang', 'ok'], { timeoutMs: 1000 });
    await expect(call('hang')).rejects.toMatchObject({ name: 'Timeout', message: 's.hang: no answer within 1000 ms' });
    expect(await call('ok')).toBe('ok');
  });

  test('progress begins the timeout anew', async () => {
    const { call, told } = await start(['slow'], { timeoutMs: 2000 });
    expect(await call('slow')).toBe('done');
    expect(told.slice(0, 2)).toEqual([
      { progress: 1, total: 6 },
      { progress: 2, total: 6 },
    ]);
  });

  test('a call that is given up ends at once', async () => {
    const { call } = await start(['hang']);
    const controller = new AbortController();
    const asked = call('hang', {}, controller.signal);
    setTimeout(() => controller.abort(), 100);
    await expect(asked).rejects.toMatchObject({ name: 'Aborted' });
  });

  test('calls overlap', async () => {
    const { call } = await start(['hang', 'a', 'b'], { timeoutMs: 3000 });
    const hanging = call('hang').catch((error: Error) => error.name);
    expect(await Promise.all([call('a'), call('b', { n: 2 })])).toEqual(['a', 'b 2']);
    expect(await hanging).toBe('Timeout');
  });
});

test('a server that dies fails its calls by an error that says so; the next call starts it anew', async () => {
  const { call } = await stdio(['die', 'pid', 'hang']);
  const before = await call('pid');
  const other = expect(call('hang')).rejects.toMatchObject({ name: 'SourceUnavailable' });
  await expect(call('die')).rejects.toMatchObject({ name: 'SourceUnavailable', message: expect.stringContaining('whether the call was carried out is not known') });
  await other;
  const after = await call('pid');
  expect(after).not.toBe(before);
});

test('a server that cannot be started is told with what it wrote last', async () => {
  const failing = open({ command: process.execPath, args: ['-e', 'console.error("no config here"); process.exit(3)'] });
  await expect(failing).rejects.toMatchObject({ code: 'source_failed', message: expect.stringContaining('no config here') });
  await expect(open({ command: 'no-such-command-here' })).rejects.toMatchObject({ code: 'source_failed', message: expect.stringContaining('ENOENT') });
  await expect(open({ command: process.execPath, args: ['-e', 'setTimeout(() => {}, 60000)'], connectTimeoutMs: 200 })).rejects.toMatchObject({ code: 'source_failed' });
});

test('a server over HTTP that was started anew is connected again within the call', async () => {
  const { server, call } = await http(['a', 'hang']);
  await call('a');
  server.restart();
  expect(await call('a', { n: 1 })).toBe('a 1');
  const controller = new AbortController();
  const asked = call('hang', {}, controller.signal).catch(() => {});
  await expect.poll(() => server.told.calls).toContain('hang');
  controller.abort();
  await asked;
  await expect.poll(() => server.told.cancelled).toEqual(['hang']);
});

test('a server over HTTP that is gone is an error of the call; when it is back, calls succeed', async () => {
  const { server, call } = await http(['a']);
  await server.close();
  await expect(call('a')).rejects.toMatchObject({ name: 'SourceUnavailable', message: expect.stringContaining('ECONNREFUSED') });
  const again = await httpTestServer(['a'], Number(new URL(server.url).port));
  opened.push({ [Symbol.asyncDispose]: () => again.close() });
  expect(await call('a')).toBe('a');
});

test('headers are sent with every request, secrets by their values', async () => {
  const server = await httpTestServer(['a']);
  opened.push({ [Symbol.asyncDispose]: () => server.close() });
  const mcp = { s: { url: server.url, headers: { 'X-Plain': 'y', Authorization: { secret: 'token', prefix: 'Bearer ' } } } };
  opened.push(await openToolSources({ mcp, secret: (name) => (name === 'token' ? 's3cret' : undefined) }));
  for (const headers of server.told.headers) expect(headers).toMatchObject({ 'x-plain': 'y', authorization: 'Bearer s3cret' });
  await expect(openToolSources({ mcp })).rejects.toMatchObject({ code: 'source_failed', message: expect.stringContaining('no secret "token"') });
});

test.each([
  [{ command: 'a', url: 'http://x' }, /mcp.s: give either command or url/],
  [{}, /give either command or url/],
  [{ url: 'ftp://x' }, /begins with http/],
  [{ url: 'http://x', args: [] }, /go with command/],
  [{ command: 'a', headers: {} }, /headers go with url/],
  [{ comand: 'a' }, /did you mean "command"/],
  [{ url: 'http://x', headers: { Host: 'a' } }, /header Host/],
])('what cannot be a source is refused: %j', async (options, message) => {
  await expect(openToolSources({ mcp: { s: options as McpSourceOptions } })).rejects.toThrow(message);
});
test('a name that programs could not write is refused', async () => {
  await expect(openToolSources({ mcp: { 'a-b': { command: 'x' } } })).rejects.toThrow(/cannot be the name of a tool source/);
});

test('closing does not wait for a server that does not answer', async () => {
  const { createToolRegistry } = await import('../src/registry.ts');
  const { documents } = await import('./documents.ts');
  const silent = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 60000)'], connectTimeoutMs: 600_000 };
  const registry = createToolRegistry({ store: documents(), sources: { mcp: { silent } } });
  await registry.connect(500);
  expect(await registry.source('t', 'silent')).toMatchObject({ state: 'connecting', tools: [] });
  await registry.close();
  expect(await registry.source('t', 'silent')).toMatchObject({ state: 'failed' });
});

test('a server over HTTP that dies during a call fails it long before its timeout', async () => {
  const { server, call } = await http(['hang']);
  const asked = expect(call('hang')).rejects.toMatchObject({ name: 'SourceUnavailable' });
  await expect.poll(() => server.told.calls).toEqual(['hang']);
  await server.close();
  await asked;
});
