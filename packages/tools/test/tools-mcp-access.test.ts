/** MCP servers that ask who is there: what is shown to whom, what is told where that is not enough. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openToolSources } from '../src/open-tool-sources.ts';
import { createToolRegistry } from '../src/registry.ts';
import type { McpSourceOptions } from '../src/sources/source-options.ts';
import { documents } from './documents.ts';
import { type HttpTestServer, httpTestServer } from './mcp-server.ts';

let mcp: HttpTestServer;
let authority: Server;
let issuer: string;
/** Which authorization server the MCP server tells of. */
let toldIssuer: string;
let valid: Set<string>;
let asked: { url: string; headers: IncomingMessage['headers']; body: string }[];
/** What the authorization server answers in the place of its own. */
let astray: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
const opened: AsyncDisposable[] = [];

const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

beforeEach(async () => {
  [valid, asked, astray] = [new Set(['static']), [], undefined];
  authority = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      asked.push({ url: request.url ?? '', headers: request.headers, body });
      if (astray?.(request, response)) return;
      if (request.url === '/.well-known/oauth-authorization-server')
        return json(response, 200, { issuer, token_endpoint: `${issuer}/token`, authorization_endpoint: `${issuer}/authorize`, response_types_supported: ['code'] });
      if (request.url !== '/token') return json(response, 404, {});
      const [id, secret] = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64')
        .toString()
        .split(':');
      const fields = new URLSearchParams(body);
      if (id !== 'me' || secret !== 's3cret' || fields.get('grant_type') !== 'client_credentials')
        return json(response, 401, { error: 'invalid_client', error_description: 'who are you' });
      const token = `token-${asked.length}`;
      valid.add(token);
      return json(response, 200, { access_token: token, token_type: 'Bearer', expires_in: 3600, scope: fields.get('scope') ?? '' });
    });
  });
  await new Promise<void>((resolve) => authority.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(authority.address() as AddressInfo).port}`;
  toldIssuer = issuer;
  mcp = await httpTestServer(['a', 'b'], 0, (request, response) => {
    const origin = `http://${request.headers.host}`;
    if (request.url?.startsWith('/.well-known/oauth-protected-resource')) {
      json(response, 200, { resource: `${origin}/mcp`, authorization_servers: [toldIssuer] });
      return false;
    }
    if (valid.has((request.headers.authorization ?? '').replace('Bearer ', ''))) return true;
    json(response, 401, { error: 'no' }, { 'www-authenticate': `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"` });
    return false;
  });
});
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
  await mcp.close();
  authority.closeAllConnections();
  await new Promise((resolve) => authority.close(resolve));
});

const secrets = (name: string) => ({ id: 's3cret', token: 'static', wrong: 'guess', key: 'k3y' })[name];
async function open(options: McpSourceOptions) {
  const sources = await openToolSources({ mcp: { s: { url: mcp.url, ...options } }, secret: secrets });
  opened.push(sources);
  const info = { taskId: 'a', callId: 1, idempotencyKey: 'k', signal: new AbortController().signal };
  return (name: string) => sources.tools.find((tool) => tool.name === `s.${name}`)?.execute?.({} as never, info) as Promise<unknown>;
}
const oauth = (secret = 'id') => ({ issuer, clientId: 'me', clientSecret: { secret }, scope: 'tools' });

test('a token from a secret lets the host in', async () => {
  const call = await open({ headers: { Authorization: { secret: 'token', prefix: 'Bearer ' } } });
  expect(await call('a')).toBe('a');
  expect(asked).toEqual([]);
});

test('without credentials, or with wrong ones, the error says what to configure', async () => {
  await expect(open({})).rejects.toMatchObject({
    ...{ code: 'source_failed', message: 'the server of the tool source s asks for credentials (401)' },
    hint: expect.stringMatching(/headers, \{ Authorization: .*oauth: \{ issuer, clientId/),
  });
  const wrong = open({ headers: { Authorization: { secret: 'wrong', prefix: 'Bearer ' } } });
  await expect(wrong).rejects.toMatchObject({ message: 'the server of the tool source s does not take its credentials (401)', hint: expect.stringContaining('token') });
  await expect(wrong.catch((error: Error) => JSON.stringify([error.message, String(error.stack)]))).resolves.not.toContain('guess');
  const call = await open({ headers: { Authorization: { secret: 'token', prefix: 'Bearer ' } } });
  valid.clear();
  await expect(call('a')).rejects.toMatchObject({ name: 'SourceUnavailable', message: 's.a: the server of the tool source s does not take its credentials (401)' });
});

test('the host signs in by the client credentials grant, and again when its token is not taken any more', async () => {
  const call = await open({ oauth: oauth(), headers: { 'X-Key': { secret: 'key' } } });
  expect(await call('a')).toBe('a');
  const tokens = () => asked.filter(({ url }) => url === '/token');
  expect(tokens()).toMatchObject([{ body: expect.stringContaining('scope=tools') }]);
  valid.clear();
  expect(await call('b')).toBe('b');
  expect(tokens()).toHaveLength(2);
  // What the source sends to its own server is not shown to the other.
  expect(mcp.told.headers.at(-1)).toMatchObject({ 'x-key': 'k3y' });
  for (const { headers } of asked) expect(headers['x-key']).toBeUndefined();
});

test('credentials that are refused are told as such, and not themselves', async () => {
  const refused = await open({ oauth: oauth('wrong') }).catch((error: unknown) => error as Error & { hint: string });
  expect(refused).toMatchObject({
    code: 'source_failed',
    message: expect.stringMatching(`the tool source s cannot sign in at ${issuer}: .*who are you`),
    hint: expect.stringContaining('clientSecret'),
  });
  expect(JSON.stringify([(refused as Error).message, (refused as Error).stack])).not.toContain('guess');
});

test('credentials go to the authorization server of the configuration, whichever the server tells of', async () => {
  toldIssuer = issuer.replace('127.0.0.1', 'localhost');
  await expect(open({ oauth: oauth() })).rejects.toMatchObject({ message: expect.stringContaining('cannot sign in at') });
  expect(asked.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
});

test.each(['/.well-known/oauth-authorization-server', '/token'])('a redirect of %s to another place is not followed', async (path) => {
  const elsewhere: string[] = [];
  const other = createServer((request, response) => {
    elsewhere.push(request.url ?? '');
    response.end('{}');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  astray = (request, response) => {
    if (request.url !== path) return false;
    response.writeHead(307, { location: `http://127.0.0.1:${(other.address() as AddressInfo).port}/token` }).end();
    return true;
  };
  // Where nothing is told, the token is asked for at the usual place of the same server.
  await open({ oauth: oauth() }).catch((error) => expect(error).toMatchObject({ code: 'source_failed' }));
  expect(asked.some(({ url }) => url === path)).toBe(true);
  expect(elsewhere).toEqual([]);
  other.close();
});

test('a source of a tenant reaches no private authorization server, and none that its server tells of', async () => {
  const registry = createToolRegistry({ store: documents(), network: { allowPrivate: ['127.0.0.1'] }, secret: (_, name) => secrets(name) });
  opened.push(registry);
  toldIssuer = 'http://[::1]:9/';
  const source = { kind: 'mcp' as const, name: 's', url: mcp.url, timeout_seconds: 5, oauth: { issuer: toldIssuer, client_id: 'me', client_secret: { secret: 'id' } } };
  await expect(registry.addSource('acme', source)).rejects.toMatchObject({ code: 'source_failed', message: expect.stringContaining('not a public address') });
  toldIssuer = issuer;
  const listed = await registry.addSource('acme', { ...source, oauth: { ...source.oauth, issuer } });
  expect(listed.tools.map(({ tool }) => tool.name)).toEqual(['s.a', 's.b']);
});

test('credentials are given in one way', async () => {
  await expect(open({ oauth: oauth(), headers: { authorization: 'x' } })).rejects.toThrow('give either oauth or the header Authorization');
  await expect(openToolSources({ mcp: { s: { command: 'x', oauth: oauth() } } })).rejects.toThrow('oauth goes with url');
});
