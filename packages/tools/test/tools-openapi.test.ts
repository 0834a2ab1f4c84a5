/** Tool sources that are OpenAPI documents: what becomes of operations, where arguments go, and what comes back. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Value } from '@fermata/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openToolSources } from '../src/open-tool-sources.ts';
import type { OpenApiSourceOptions } from '../src/sources/source-options.ts';
import { pythonStubs } from '../src/stubs/python.ts';
import { typescriptStubs } from '../src/stubs/typescript.ts';
import type { Tool } from '../src/tool.ts';

let server: Server;
let url: string;
let answer: { status: number; headers?: Record<string, string>; body?: string };
const got: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      got.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
beforeEach(() => {
  got.length = 0;
  answer = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"ok":true}' };
});

type Parts = Record<string, unknown>;
const documentOf = (paths: Parts, more: Parts = {}): Parts => ({ openapi: '3.1.0', info: { title: 't', version: '1' }, paths, ...more });

async function open(document: Parts | string, options: OpenApiSourceOptions = {}, secret?: (name: string) => string | undefined) {
  const { tools } = await openToolSources({ openapi: { s: { document, baseUrl: url, ...options } }, ...(secret ? { secret } : {}) });
  const tool = (name: string) => tools.find((tool) => tool.name === `s.${name}`) as Tool;
  const call = (name: string, args: Record<string, Value> = {}): Promise<Value> => {
    const { check, execute } = tool(name);
    return (execute as (args: unknown, info: object) => Promise<Value>)(check(args), { taskId: 'a', callId: 1, idempotencyKey: 'key-1', signal: new AbortController().signal });
  };
  return { tools, tool, call };
}
/** One operation, called once; what the service was asked. */
async function asked(operation: Parts, args: Record<string, Value>, { method = 'get', path = '/x', options = {} as OpenApiSourceOptions, document = {} as Parts } = {}) {
  const { call } = await open(documentOf({ [path]: { [method]: { operationId: 'op', ...operation } } }, document), options);
  await call('op', args);
  return got.at(-1) as (typeof got)[number];
}
const parameter = (name: string, where: string, more: Parts = {}) => ({ name, in: where, schema: {}, ...more });

test('operations are named by operationId, else by method and path; the original is kept', async () => {
  const { tools } = await open(documentOf({ '/users/{id}': { get: { operationId: 'users/get-one' }, delete: {} }, '/a.b/c-d': { post: { operationId: '' } } }));
  expect(tools.map(({ name }) => name)).toEqual(['s.users_get_one', 's.delete_users_id', 's.post_a_b_c_d']);
});

test('GET, HEAD, PUT and DELETE may be repeated; POST and PATCH have a key that is the same for each try', async () => {
  const methods = ['get', 'head', 'put', 'delete', 'post', 'patch'];
  const { tool, call } = await open(documentOf({ '/x': Object.fromEntries(methods.map((method) => [method, { operationId: method }])) }));
  expect(methods.map((method) => tool(method).idempotent)).toEqual([true, true, true, true, false, false]);
  for (const method of methods) await call(method);
  expect(got.map(({ method, headers }) => [method, headers['idempotency-key']])).toEqual([
    ...[['GET'], ['HEAD'], ['PUT'], ['DELETE']].map(([method]) => [method, undefined]),
    ['POST', 'key-1'],
    ['PATCH', 'key-1'],
  ]);
});

describe('parameters', () => {
  const list = [3, 'a b', 'x,y'];
  const record = { a: 1, b: 'c d' };
  test.each<[string, Parts, Value, string]>([
    ['form', {}, list, '/x?p=3&p=a%20b&p=x%2Cy'],
    ['form without explode', { explode: false }, list, '/x?p=3,a%20b,x%2Cy'],
    ['form of a record', {}, record, '/x?a=1&b=c%20d'],
    ['form of a record without explode', { explode: false }, record, '/x?p=a,1,b,c%20d'],
    ['deepObject', { style: 'deepObject', explode: true }, { a: { b: 1 }, c: [1, 2] }, '/x?p[a][b]=1&p[c]=1&p[c]=2'],
    ['spaceDelimited', { style: 'spaceDelimited', explode: false }, list, '/x?p=3%20a%20b%20x%2Cy'],
    ['pipeDelimited', { style: 'pipeDelimited', explode: false }, [1, 2], '/x?p=1%7C2'],
    ['JSON', { schema: undefined, content: { 'application/json': { schema: {} } } }, record, `/x?p=${encodeURIComponent('{"a":1,"b":"c d"}')}`],
    ['a text', {}, 'ä&=?', '/x?p=%C3%A4%26%3D%3F'],
    ['a truth value', {}, true, '/x?p=true'],
    ['null', {}, null, '/x'],
  ])('query: %s', async (_style, more, value, expected) => {
    expect((await asked({ parameters: [parameter('p', 'query', more)] }, { p: value })).url).toBe(expected);
  });

  test.each<[string, Parts, Value, string]>([
    ['simple', {}, 'a/b?c', '/x/a%2Fb%3Fc/y'],
    ['simple list', {}, [1, 2], '/x/1,2/y'],
    ['simple record', {}, { a: 1, b: 2 }, '/x/a,1,b,2/y'],
    ['simple record with explode', { explode: true }, { a: 1, b: 2 }, '/x/a=1,b=2/y'],
    ['label', { style: 'label' }, 5, '/x/.5/y'],
    ['matrix', { style: 'matrix' }, 5, '/x/;p=5/y'],
    ['matrix list with explode', { style: 'matrix', explode: true }, [1, 2], '/x/;p=1;p=2/y'],
  ])('path: %s', async (_style, more, value, expected) => {
    expect((await asked({ parameters: [parameter('p', 'path', { required: true, ...more })] }, { p: value }, { path: '/x/{p}/y' })).url).toBe(expected);
  });

  test('header and cookie; names that are no identifiers have one', async () => {
    const parameters = [
      parameter('X-Trace-Id', 'header'),
      parameter('$filter', 'query'),
      parameter('from', 'query'),
      parameter('sid', 'cookie'),
      parameter('Authorization', 'header'),
    ];
    const { url, headers } = await asked({ parameters }, { X_Trace_Id: [1, 2], _filter: 'f', from_: 'x', sid: 'a b' });
    expect(url).toBe('/x?%24filter=f&from=x');
    expect(headers).toMatchObject({ 'x-trace-id': '1,2', cookie: 'sid=a%20b' });
    expect(headers.authorization).toBeUndefined();
  });

  test('of the path and of the operation come together, the same name at several places stays apart', async () => {
    const document = documentOf({
      '/x/{id}': {
        parameters: [parameter('id', 'path'), parameter('q', 'query', { schema: { type: 'string' } })],
        get: { operationId: 'op', parameters: [parameter('q', 'query', { schema: { type: 'integer' } }), parameter('id', 'query')] },
      },
    });
    const { call, tool } = await open(document);
    expect(tool('op').parameters).toMatchObject({ properties: { id: {}, q: { type: 'integer' }, id_query: {} }, required: ['id'], additionalProperties: false });
    await call('op', { id: 1, id_query: 2, q: 3 });
    expect(got.at(-1)?.url).toBe('/x/1?q=3&id=2');
  });

  test('an argument cannot lead to another path, or add a header', async () => {
    const { call } = await open(documentOf({ '/x/{id}/y': { get: { operationId: 'op', parameters: [parameter('id', 'path'), parameter('h', 'header')] } } }));
    for (const id of ['..', '.', '']) await expect(call('op', { id })).rejects.toMatchObject({ name: 'InvalidArguments' });
    await expect(call('op', { id: 1, h: 'a\r\nb: c' })).rejects.toMatchObject({ name: 'InvalidArguments' });
    expect(() => call('op', { id: 1, other: 2 })).toThrow(/must NOT have additional properties: other/);
    expect(got).toEqual([]);
  });
});

test('the keys of a record are not other parameters, those of the host included', async () => {
  const parameters = [parameter('filter', 'query'), parameter('limit', 'query'), parameter('prefs', 'cookie')];
  const document = documentOf({ '/x?v=1': { get: { operationId: 'op', parameters } } });
  const { call } = await open(document, { auth: { apiKey: 'k', name: 'api_key', in: 'query' } });
  for (const filter of [{ limit: 1000 }, { api_key: 'mine' }, { v: 2 }])
    await expect(call('op', { filter })).rejects.toMatchObject({
      name: 'InvalidArguments',
      message: expect.stringMatching(/^s.op: filter cannot say "(limit|api_key|v)", which is a parameter/),
    });
  const cookie = await open(document, { auth: { apiKey: 'k', name: 'session', in: 'cookie' } });
  await expect(cookie.call('op', { prefs: { session: 'mine' } })).rejects.toMatchObject({ name: 'InvalidArguments' });
  expect(got).toEqual([]);
  await call('op', { filter: { name: 'a' }, limit: 1 });
  expect(got.map(({ url }) => url)).toEqual(['/x?v=1&name=a&limit=1&api_key=k']);
});

test('headers of the connection, and cookies as a whole, are no parameters', async () => {
  const names = ['Host', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Cookie', 'Proxy-Authorization', 'X-Own'];
  const { tool } = await open(documentOf({ '/x': { get: { operationId: 'op', parameters: names.map((name) => parameter(name, 'header')) } } }));
  expect(Object.keys(tool('op').parameters.properties as object)).toEqual(['X_Own']);
});

describe('bodies', () => {
  const body = (type: string, schema: Parts = { type: 'object' }) => ({ requestBody: { required: true, content: { [type]: { schema } } } });
  const post = (operation: Parts, value: Value) => asked(operation, { body: value }, { method: 'post' });

  test('JSON, also of a type of its own', async () => {
    const { headers, body: sent } = await post(body('application/vnd.api+json'), { a: [1, null], when: new Date(0) });
    expect([headers['content-type'], JSON.parse(sent)]).toEqual(['application/vnd.api+json', { a: [1, null], when: '1970-01-01T00:00:00.000Z' }]);
  });
  test('a form', async () => {
    const { headers, body: sent } = await post(body('application/x-www-form-urlencoded'), { a: 'x y', list: [1, 2], deep: { b: 1 }, none: null });
    expect([headers['content-type'], sent]).toEqual(['application/x-www-form-urlencoded', 'a=x%20y&list=1&list=2&deep=%7B%22b%22%3A1%7D']);
  });
  test('multipart, with files as bytes', async () => {
    const schema = { type: 'object', properties: { name: { type: 'string' }, file: { type: 'string', format: 'binary' } }, required: ['file'] };
    const { headers, body: sent } = await post(body('multipart/form-data', schema), { name: 'n', file: new Uint8Array([104, 105]) });
    expect(headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(sent).toMatch(/name="name"\r\n\r\nn\r\n/);
    expect(sent).toMatch(/name="file"; filename="file"\r\nContent-Type: application\/octet-stream\r\n\r\nhi\r\n/);
  });
  test('text and bytes', async () => {
    expect(await post(body('text/plain', { type: 'string' }), 'hello')).toMatchObject({ body: 'hello', headers: { 'content-type': 'text/plain' } });
    expect(await post(body('image/png', { type: 'string', format: 'binary' }), new Uint8Array([65]))).toMatchObject({ body: 'A', headers: { 'content-type': 'image/png' } });
  });
  test('of several types JSON is taken; an optional body may be left out', async () => {
    const requestBody = { content: { 'text/plain': { schema: {} }, 'application/json': { schema: {} } } };
    expect(await asked({ requestBody }, {}, { method: 'post' })).toMatchObject({ body: '' });
    expect(await asked({ requestBody }, { body: [1] }, { method: 'post' })).toMatchObject({ body: '[1]' });
  });
});

describe('schemas', () => {
  test('a $ref leads inside of the document, recursively too', async () => {
    const schemas = {
      Node: { type: 'object', properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/components/schemas/Node' } } }, required: ['name'] },
    };
    const operation = { operationId: 'op', requestBody: { $ref: '#/components/requestBodies/Tree' } };
    const { call, tool } = await open(
      documentOf(
        { '/x': { post: operation } },
        { components: { schemas, requestBodies: { Tree: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Node' } } } } } } },
      ),
    );
    expect(tool('op').parameters).toMatchObject({
      properties: { body: { $ref: '#/$defs/Node' } },
      $defs: { Node: { properties: { children: { items: { $ref: '#/$defs/Node' } } } } },
    });
    await call('op', { body: { name: 'a', children: [{ name: 'b' }] } });
    expect(() => call('op', { body: { name: 'a', children: [{ nam: 'b' }] } })).toThrow(/body.children.0 must have required property 'name'/);
  });

  test('what 3.0 says in its own way is understood', async () => {
    const schema = {
      type: 'object',
      properties: {
        id: { type: 'integer', readOnly: true },
        name: { type: 'string', nullable: true },
        kind: { type: 'string', enum: ['a'], nullable: true },
        n: { type: 'number', minimum: 1, exclusiveMinimum: true },
        ref: { allOf: [{ type: 'object' }], nullable: true },
      },
      required: ['id', 'name'],
    };
    const { call, tool } = await open({ ...documentOf({ '/x': { post: { operationId: 'op', requestBody: { content: { 'application/json': { schema } } } } } }), openapi: '3.0.3' });
    const { properties, required } = (tool('op').parameters as { properties: { body: Parts } }).properties.body;
    expect([Object.keys(properties as Parts), required]).toEqual([['name', 'kind', 'n', 'ref'], ['name']]);
    await call('op', { body: { name: null, kind: null, n: 1.5, ref: null } });
    expect(() => call('op', { body: { name: 'x', n: 1 } })).toThrow(/body.n must be > 1/);
  });

  test('a pattern that takes for ever is refused by an error that says so', async () => {
    const parameters = [parameter('q', 'query', { schema: { type: 'string', pattern: '^(a+)+$' } }), parameter('r', 'query', { schema: { type: 'string', pattern: '^b$' } })];
    const { call } = await open(documentOf({ '/x': { get: { operationId: 'op', parameters } } }));
    expect(() => call('op', { q: `${'a'.repeat(5000)}!`, r: 'b' })).toThrow(/invalid arguments for \S+: the tool's JSON Schema is too slow/);
    expect(() => call('op', { r: 'a' })).toThrow(/r must match pattern/);
    expect(() => call('op', { q: 'b' })).toThrow(/must match pattern/);
  });

  test.each([
    ['other.yaml#/Pet', /leads out of its document/],
    ['#/components/schemas/Missing', /leads nowhere/],
  ])('the $ref %s is refused', async ($ref, message) => {
    const paths = { '/x': { post: { requestBody: { content: { 'application/json': { schema: { $ref } } } } } } };
    await expect(open(documentOf(paths))).rejects.toThrow(message);
  });
});

describe('authentication', () => {
  const secret = (name: string) => (name === 'key' ? 's3cret' : undefined);
  const components = { securitySchemes: { k: { type: 'apiKey', name: 'X-Key', in: 'header' } } };
  const paths = { '/x': { get: { operationId: 'op', parameters: [parameter('X-Key', 'header'), parameter('k', 'query')] }, post: { operationId: 'free', security: [] } } };

  test.each<[string, OpenApiSourceOptions['auth'], Parts]>([
    ['bearer', { bearer: { secret: 'key' } }, { headers: { authorization: 'Bearer s3cret' } }],
    ['basic', { basic: { username: 'ann', password: { secret: 'key' } } }, { headers: { authorization: `Basic ${Buffer.from('ann:s3cret').toString('base64')}` } }],
    ['a key where the document says', { apiKey: { secret: 'key' } }, { headers: { 'x-key': 's3cret' } }],
    ['a key in the query', { apiKey: 's&t', name: 'k', in: 'query' }, { url: '/x?k=s%26t' }],
    ['a key in a cookie', { apiKey: 's', name: 'c', in: 'cookie' }, { headers: { cookie: 'c=s' } }],
  ])('%s is added by the host', async (_kind, auth, expected) => {
    const { call, tool } = await open(documentOf(paths, { components }), { ...(auth ? { auth } : {}) }, secret);
    await call('op');
    expect(got.at(-1)).toMatchObject(expected);
    expect(JSON.stringify(tool('op').parameters)).not.toContain('s3cret');
    await call('free');
    expect(JSON.stringify(got.at(-1))).not.toContain('s3cret');
  });

  test('a parameter that the host sets is not one of the program', async () => {
    const { tool, call } = await open(documentOf(paths, { components }), { auth: { apiKey: 's' } });
    expect(Object.keys((tool('op').parameters as { properties: Parts }).properties)).toEqual(['k']);
    expect(() => call('op', { X_Key: 'mine' })).toThrow(/X_Key/);
  });

  test('a secret that is not there, and a document that does not say where a key goes, are errors', async () => {
    const { call } = await open(documentOf(paths), { auth: { bearer: { secret: 'other' } } }, secret);
    await expect(call('op')).rejects.toMatchObject({ name: 'SecretMissing' });
    await expect(open(documentOf(paths), { auth: { apiKey: 'x' } })).rejects.toThrow(/where an API key goes/);
  });
});

test('answers are JSON or text; what is no success is an error with status and body, bounded', async () => {
  const { call } = await open(documentOf({ '/x': { get: { operationId: 'op' } } }), { maxResponseBytes: 10_000 });
  expect(await call('op')).toEqual({ ok: true });
  answer = { status: 200, headers: { 'content-type': 'text/csv' }, body: 'a,b' };
  expect(await call('op')).toBe('a,b');
  answer = { status: 204 };
  expect(await call('op')).toBeNull();
  answer = { status: 422, headers: { 'content-type': 'application/json' }, body: `{"why":"${'x'.repeat(9000)}"}` };
  const error = (await call('op').catch((error: unknown) => error)) as { name: string; message: string; data: { status: number; body: string } };
  expect([error.name, error.message, error.data.status, error.data.body.length]).toEqual(['HttpError', 's.op: the service answered 422', 422, 4000]);
  answer = { status: 200, body: 'x'.repeat(20_000) };
  await expect(call('op')).rejects.toMatchObject({ name: 'ResponseTooLarge' });
});

test('servers: of the operation, of the path, of the document, with variables; relative ones need an address', async () => {
  const at = (path: string) => [{ url: `${url}${path}` }];
  const paths = { '/a': { servers: at('/path'), get: { operationId: 'a' }, post: { operationId: 'b', servers: at('/op/') } }, '/c': { get: { operationId: 'c' } } };
  const servers = [{ url: '{host}/v{n}', variables: { host: { default: url }, n: { default: '2' } } }];
  const { tools } = await openToolSources({ openapi: { s: { document: documentOf(paths, { servers }) } }, network: { allowPrivate: true } });
  for (const { check, execute } of tools) await (execute as (args: unknown, info: object) => unknown)(check({}), { idempotencyKey: 'k' });
  expect(got.map(({ url }) => url)).toEqual(['/path/a', '/op/a', '/v2/c']);
  await expect(openToolSources({ openapi: { s: { document: documentOf(paths, { servers: [{ url: '/v1' }] }) } } })).rejects.toThrow(/at which address the service is/);
});

test('private addresses that the configuration does not name itself are refused', async () => {
  const document = documentOf({ '/x': { get: { operationId: 'op' } } }, { servers: [{ url }] });
  const { tools } = await openToolSources({ openapi: { s: { document } } });
  const [{ check, execute }] = tools as [Tool];
  await expect((execute as (args: unknown, info: object) => Promise<unknown>)(check({}), {})).rejects.toMatchObject({ name: 'AddressRefused' });
  expect(got).toEqual([]);
});

test('a document may be YAML, and may be on the web', async () => {
  answer = { status: 200, body: 'openapi: 3.0.0\ninfo: {title: t, version: "1"}\nservers: [{url: /api}]\npaths:\n  /x:\n    get: {operationId: op}\n' };
  const { tools } = await openToolSources({ openapi: { s: { url: `${url}/docs/openapi.yaml` } } });
  expect(tools.map(({ name }) => name)).toEqual(['s.op']);
  const [{ check, execute }] = tools as [Tool];
  await (execute as (args: unknown, info: object) => Promise<unknown>)(check({}), {});
  expect(got.map(({ url }) => url)).toEqual(['/docs/openapi.yaml', '/api/x']);
  answer = { status: 404 };
  await expect(openToolSources({ openapi: { s: { url } } })).rejects.toMatchObject({ code: 'source_failed', message: expect.stringContaining('answered 404') });
});

test.each<[string, Parts | string, RegExp]>([
  ['Swagger 2.0', { swagger: '2.0', paths: {} }, /Swagger 2.0/],
  ['another version', { openapi: '4.0.0', paths: {} }, /not of OpenAPI 3.0 or 3.1/],
  ['no paths', { openapi: '3.1.0' }, /has no paths/],
  ['no JSON', '{"openapi": ', /neither JSON nor YAML/],
  ['a list', '- a', /not a record/],
  ['two operations of one name', documentOf({ '/a': { get: { operationId: 'x-y' }, post: { operationId: 'x_y' } } }), /"x-y" and "x_y", which both become x_y/],
  ['a circle of $ref', { ...documentOf({ '/a': { $ref: '#/components/pathItems/a' } }), components: { pathItems: { a: { $ref: '#/components/pathItems/a' } } } }, /in a circle/],
])('a document with %s is refused', async (_what, document, message) => {
  await expect(open(document)).rejects.toThrow(message);
});

test('what an operation answers is known to stubs: that of the first success, with what only the service sets', async () => {
  const user = {
    type: 'object',
    properties: { id: { type: 'integer', readOnly: true }, name: { type: 'string' }, password: { type: 'string', writeOnly: true } },
    required: ['id', 'name'],
  };
  const responses = { 404: { content: { 'application/json': { schema: { type: 'string' } } } }, 201: { $ref: '#/components/responses/made' } };
  const components = {
    schemas: { user },
    responses: { made: { description: 'made', content: { 'application/json; charset=utf-8': { schema: { $ref: '#/components/schemas/user' } } } } },
  };
  const body = { content: { 'application/json': { schema: { $ref: '#/components/schemas/user' } } } };
  const { tools, call } = await open(
    documentOf({ '/x': { post: { operationId: 'make', requestBody: body, responses }, get: { operationId: 'none', responses: { 204: {} } } } }, { components }),
  );
  const stubs = typescriptStubs(tools);
  expect(stubs).toMatch(/type User2? = \{ name: string; password\?: string \}/);
  expect(stubs).toMatch(/type User2? = \{ id: number; name: string \}/);
  expect(stubs).toMatch(/make\(args\?: \{ body\?: tools\.User2? \}\): Promise<tools\.User2?>/);
  expect(stubs).toContain('none(args?: {}): Promise<any>');
  expect(pythonStubs(tools)).toMatch(/def make\(body: User2? = \.\.\.\) -> User2?/);
  // A service that answers something else is taken as it is.
  expect(await call('make', { body: { name: 'ann' } })).toEqual({ ok: true });
});
