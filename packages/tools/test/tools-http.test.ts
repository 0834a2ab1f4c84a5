/** Tools that are HTTP endpoints: where arguments go, what comes back, and what is refused. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ValueRecord } from '@fermata/protocol';
import { type HttpToolSpec, httpToolSchema } from '@fermata/protocol/wire';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createAddressGuard } from '../src/net/address-guard.ts';
import { httpTool } from '../src/sources/http.ts';

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
      const { status, headers = {}, body = '' } = request.url === '/there' ? { status: 200, body: 'arrived' } : answer;
      response.writeHead(status, headers).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
beforeEach(() => {
  got.length = 0;
  answer = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"ok":[1]}' };
});

const guard = createAddressGuard({ allowPrivate: true });
const spec = (given: Record<string, unknown>): HttpToolSpec => httpToolSchema.parse({ kind: 'http', name: 't', url, ...given });
const info = { taskId: 'a', callId: 1, idempotencyKey: 'key-1', signal: new AbortController().signal };
const call = (given: Record<string, unknown>, args: ValueRecord) =>
  (httpTool(spec(given), { guard, secret: (name) => (name === 'token' ? 's3cret' : undefined) }).execute as (args: ValueRecord, call: typeof info) => Promise<unknown>)(args, info);

test('a POST has the arguments as its body, and the same key for each try of a call', async () => {
  expect(await call({}, { n: 1, when: new Date(0) })).toEqual({ ok: [1] });
  expect(got).toMatchObject([{ method: 'POST', url: '/', headers: { 'content-type': 'application/json', 'idempotency-key': 'key-1' } }]);
  expect(JSON.parse(got[0]?.body ?? '')).toEqual({ n: 1, when: { $fermata: ['instant', '1970-01-01T00:00:00.000Z'] } });
});

test('a GET has them in the query; what is named in the path goes there, whole', async () => {
  await call({ method: 'GET', url: `${url}/users/{id}/x?v=1` }, { id: 'a/b?c#d', q: 'x y', list: [1, 2], none: null });
  expect(got).toMatchObject([{ method: 'GET', url: '/users/a%2Fb%3Fc%23d/x?v=1&q=x+y&list=1&list=2', body: '' }]);
});

test('an argument cannot lead to another path', async () => {
  for (const id of ['..', '.', '', { a: 1 }, undefined])
    await expect(call({ method: 'GET', url: `${url}/users/{id}/x` }, { id })).rejects.toMatchObject({ name: 'InvalidArguments' });
  expect(got).toEqual([]);
});

test('what the address of a tool says itself is not for arguments to say', async () => {
  const given = { method: 'GET', url: `${url}/{id}/of/{id}?tenant=acme` };
  await expect(call(given, { id: 1, tenant: 'other' })).rejects.toMatchObject({ name: 'InvalidArguments', message: 't: tenant is fixed by the address of the tool' });
  await expect(call({ method: 'GET', url: `${url}/{constructor}` }, {})).rejects.toMatchObject({ name: 'InvalidArguments' });
  await call(given, { id: 1, q: 2 });
  expect(got.map((one) => one.url)).toEqual(['/1/of/1?tenant=acme&q=2']);
});

test('secrets are added here, by name; one that the server lacks is an error', async () => {
  const headers = { Authorization: { secret: 'token', prefix: 'Bearer ' }, 'X-Plain': 'y' };
  await call({ headers }, {});
  expect(got[0]?.headers).toMatchObject({ authorization: 'Bearer s3cret', 'x-plain': 'y' });
  await expect(call({ headers: { a: { secret: 'other' } } }, {})).rejects.toMatchObject({ name: 'SecretMissing' });
});

test('answers come as values: JSON, text, bytes, nothing; errors with status and body', async () => {
  answer = { status: 200, headers: { 'content-type': 'text/plain' }, body: 'hi' };
  expect(await call({}, {})).toBe('hi');
  answer = { status: 200, headers: { 'content-type': 'image/png' }, body: 'ab' };
  expect(await call({}, {})).toEqual(new Uint8Array([97, 98]));
  answer = { status: 204 };
  expect(await call({}, {})).toBeNull();
  answer = { status: 404, body: 'no such user' };
  await expect(call({}, {})).rejects.toMatchObject({ name: 'HttpError', message: 't: the service answered 404', data: { status: 404, body: 'no such user' } });
  answer = { status: 200, headers: { 'content-type': 'application/json' }, body: '{' };
  await expect(call({}, {})).rejects.toMatchObject({ name: 'HttpError' });
  answer = { status: 200, body: 'x'.repeat(100) };
  await expect(call({ max_response_bytes: 50 }, {})).rejects.toMatchObject({ name: 'ResponseTooLarge' });
});

test('a redirect is followed on the same host, for GET only', async () => {
  answer = { status: 302, headers: { location: '/there' } };
  expect(await call({ method: 'GET' }, {})).toBe('arrived');
  await expect(call({ method: 'POST' }, {})).rejects.toMatchObject({ name: 'AddressRefused' });
  answer = { status: 302, headers: { location: 'http://127.0.0.1:1/' } };
  await expect(call({ method: 'GET' }, {})).rejects.toMatchObject({ name: 'AddressRefused', message: expect.stringContaining('another host') });
  answer = { status: 302, headers: { location: '/again' } };
  await expect(call({ method: 'GET' }, {})).rejects.toMatchObject({ message: expect.stringContaining('more than 3 redirects') });
});

test('private addresses are refused where they are not allowed', async () => {
  const { execute } = httpTool(spec({}));
  await expect((execute as (args: object, call: typeof info) => Promise<unknown>)({}, info)).rejects.toMatchObject({ name: 'AddressRefused' });
  expect(got).toEqual([]);
});

test.each([
  [{ headers: { Host: 'a' } }, /header Host/],
  [{ headers: { 'a b': 'c' } }, /name of a header/],
  [{ headers: { a: 'b\r\nc: d' } }, /line break/],
  [{ url: 'http://u:p@example.com/' }, /user name/],
  [{ url: 'http://example.com/?q={a}' }, /path of the address only/],
  [{ method: 'GET', arguments: 'body' }, /no body/],
  [{ name: 'a b' }, /cannot be a tool's name/],
  [{ parameters: { type: 'string' } }, /of an object/],
  [{ parameters: { type: 'object', properties: { a: { $id: 'x' } } } }, /\$id/],
  [{ parameters: { type: 'object', properties: { a: { $ref: 'https://example.com/x' } } } }, /\$ref/],
  [{ parameters: { type: 'object', properties: { a: { type: 'what' } } } }, /not a JSON Schema/],
])('a definition that cannot work is refused: %j', (given, message) => {
  expect(() => httpTool(spec(given))).toThrow(message);
});
