/** Programs that ask for URLs by what their languages have for it; a request is a call, and a task without network has none. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkTools } from '@fermata/tools/registry';
import { createFermata, type TaskResult } from 'fermata';
import { afterAll, beforeAll, expect, test } from 'vitest';

const fermata = createFermata({ threads: 1 });
let server: Server;
let url: string;
let asked: { method?: string | undefined; path?: string | undefined; headers: Record<string, unknown>; body: string }[] = [];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method, url: path = '', headers } = request;
    asked.push({ method, path, headers, body });
    const { pathname } = new URL(path, 'http://x');
    if (pathname === '/json') response.writeHead(200, { 'content-type': 'application/json', 'x-one': '1' }).end(JSON.stringify({ path, ü: 'ä' }));
    else if (pathname === '/bytes') response.end(Buffer.from([0, 255, 128]));
    else if (pathname === '/to') response.writeHead(302, { location: '/json?again' }).end();
    else if (pathname === '/see') response.writeHead(303, { location: '/echo' }).end();
    else if (pathname === '/away') response.writeHead(307, { location: 'http://example.com/' }).end();
    else if (pathname === '/loop') response.writeHead(302, { location: '/loop' }).end();
    else if (pathname === '/cookie')
      response
        .writeHead(
          200,
          [
            ['set-cookie', 'a=1; Path=/'],
            ['set-cookie', 'b=2'],
          ].flat(),
        )
        .end();
    else if (pathname === '/missing') response.writeHead(404, { 'content-type': 'text/plain' }).end('nothing here');
    else if (pathname === '/nothing') response.writeHead(204).end();
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ method, path, headers, body }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  await fermata.close();
});

async function run(language: 'python' | 'javascript', code: string, hosts: string[] | undefined = [url.slice('http://'.length)]): Promise<TaskResult> {
  asked = [];
  return fermata.run({ language, code, input: url, tools: hosts.length === 0 ? [] : networkTools({ hosts, trustHosts: true }) });
}
async function output(language: 'python' | 'javascript', code: string): Promise<unknown> {
  const result = await run(language, code);
  expect(result, JSON.stringify(result)).toMatchObject({ status: 'succeeded' });
  return (result as { output: unknown }).output;
}

test('fetch', async () => {
  const code = `const r = await fetch(input + '/json?a=b#c', { headers: { 'X-Two': '2' } });
    return [r.status, r.ok, r.statusText, r.url, r.redirected, r.headers.get('X-One'), await r.clone().text(), await r.json(), r.bodyUsed]`;
  expect(await output('javascript', code)).toEqual([200, true, 'OK', `${url}/json?a=b`, false, '1', '{"path":"/json?a=b","ü":"ä"}', { path: '/json?a=b', ü: 'ä' }, true]);
  expect(asked[0]?.headers).toMatchObject({ 'x-two': '2' });
});

test('fetch sends texts, bytes and forms', async () => {
  const code = `const send = async (init) => (await fetch(input + '/echo', { method: 'POST', ...init })).json();
    const all = [await send({ body: JSON.stringify({ a: 1 }), headers: { 'content-type': 'application/json' } }), await send({ body: new URLSearchParams({ a: 'b c' }) }),
      await send({ body: new TextEncoder().encode('xyz'), method: 'put' }), await send({ body: 'ä' }), await send({ method: 'DELETE' })];
    return all.map(({ method, headers, body }) => [method, headers['content-type'] ?? null, body])`;
  expect(await output('javascript', code)).toEqual([
    ['POST', 'application/json', '{"a":1}'],
    ['POST', 'application/x-www-form-urlencoded;charset=UTF-8', 'a=b+c'],
    ['PUT', null, 'xyz'],
    ['POST', 'text/plain;charset=UTF-8', 'ä'],
    ['DELETE', null, ''],
  ]);
});

test('fetch follows redirects, each judged by itself', async () => {
  const code = `const r = await fetch(input + '/to'); const s = await (await fetch(input + '/see', { method: 'POST', body: 'x' })).json();
    const told = async (path, init) => { try { return (await fetch(input + path, init)).status } catch (e) { return e.name + ': ' + e.message } };
    return [r.url.slice(input.length), r.redirected, s.method, s.body, await told('/to', { redirect: 'manual' }), await told('/to', { redirect: 'error' }), await told('/away'), await told('/loop')]`;
  const [where, redirected, method, body, manual, error, away, loop] = (await output('javascript', code)) as unknown[];
  expect([where, redirected, method, body, manual]).toEqual(['/json?again', true, 'GET', '', 302]);
  expect(error).toMatch(/^TypeError: fetch failed: .*redirect/);
  expect(away).toMatch(/^TypeError: fetch failed: this task may not reach example\.com/);
  expect(loop).toMatch(/more than 20 redirects/);
});

test('requests of a program overlap, and what is aborted rejects', async () => {
  const code = `const all = await Promise.all(['/json', '/bytes', '/missing', '/nothing'].map((p) => fetch(input + p)));
    const control = new AbortController(); const late = fetch(input + '/json', { signal: control.signal }).catch((e) => e.name); control.abort();
    return [all.map((r) => r.status), new Uint8Array(await all[1].arrayBuffer()), await all[2].text(), all[3].body, await late, new Response('x', { status: 201 }).status, await Response.json({ a: 1 }).json()]`;
  expect(await output('javascript', code)).toEqual([[200, 200, 404, 204], new Uint8Array([0, 255, 128]), 'nothing here', null, 'AbortError', 201, { a: 1 }]);
});

test('urllib.request and http.client', async () => {
  const code = `import urllib.request, urllib.error, http.client, json
u = task_input
with urllib.request.urlopen(u + '/json?a=b', timeout=20) as r:
    first = [r.status, r.headers['X-One'], json.load(r), r.geturl()]
again = urllib.request.urlopen(u + '/to').geturl()
posted = json.load(urllib.request.urlopen(urllib.request.Request(u + '/echo', data=b'a=1', headers={'X-Two': '2'})))
try:
    urllib.request.urlopen(u + '/missing')
except urllib.error.HTTPError as error:
    missing = [error.code, error.read().decode()]
refused = []
for other in ['http://example.com/', 'https://example.com/']:
    try:
        urllib.request.urlopen(other)
    except urllib.error.URLError as error:
        refused.append([type(error.reason).__name__, 'may not reach' in str(error.reason)])
c = http.client.HTTPConnection(u.removeprefix('http://'))
c.request('PUT', '/echo', body=iter([b'ab', b'c']), headers={'Transfer-Encoding': 'chunked'}, encode_chunked=True)
put = json.load(c.getresponse())
c.request('HEAD', '/json')
head = c.getresponse()
[first, again, posted['method'], posted['body'], posted['headers']['x-two'], missing, refused, put['body'], head.status, head.read()]`;
  expect(await output('python', code)).toEqual([
    [200, '1', { path: '/json?a=b', ü: 'ä' }, `${url}/json?a=b`],
    `${url}/json?again`,
    ...['POST', 'a=1', '2'],
    [404, 'nothing here'],
    [
      ['PermissionError', true],
      ['PermissionError', true],
    ],
    ...['abc', 200, new Uint8Array()],
  ]);
});

test('requests', async () => {
  const code = `import requests
from requests.auth import HTTPBasicAuth
from requests.adapters import HTTPAdapter
u = task_input
r = requests.get(u + '/json', params={'a': 'b c', 'n': [1, 2]}, headers={'X-Two': '2'}, timeout=20)
first = [r.status_code, r.ok, r.reason, r.json(), r.headers['x-one'], r.encoding, r.url, r.elapsed.total_seconds() >= 0]
sent = [requests.post(u + '/echo', json={'a': 1}).json(), requests.post(u + '/echo', data={'a': 'b c'}, auth=('me', 'pw')).json(), requests.put(u + '/echo', data='text').json(), requests.delete(u + '/echo').json(),
        requests.post(u + '/echo', files={'f': ('n.txt', b'abc')}, data={'k': 'v'}).json()]
sent = [[s['method'], s['headers'].get('content-type', '').partition(';')[0], s['headers'].get('authorization'), s['body'] if 'boundary' not in s['headers'].get('content-type', '') else s['body'].count('abc')] for s in sent]
try:
    requests.get(u + '/missing').raise_for_status()
except requests.HTTPError as error:
    missing = [str(error), error.response.text]
with requests.Session() as s:
    s.mount('https://', HTTPAdapter(max_retries=3))
    s.headers['X-Two'] = '3'
    s.get(u + '/cookie')
    echoed = s.get(u + '/echo').json()['headers']
    away = [len(s.get(u + '/to').history), requests.head(u + '/to').status_code]
faults = []
for bad in ['example.com/x', 'ftp://example.com', 'http://', 'http://example.com', u + '/loop']:
    try:
        requests.get(bad)
    except requests.exceptions.RequestException as error:
        faults.append(type(error).__name__)
try:
    requests.get(u + '/bytes').json()
except (requests.exceptions.JSONDecodeError, ValueError) as error:
    faults.append('not json')
[first, sent, missing, echoed['x-two'], echoed['cookie'], away, faults, list(requests.get(u + '/json').iter_lines())[:1], requests.codes.not_found]`;
  expect(await output('python', code)).toEqual([
    [200, true, 'OK', { path: '/json?a=b+c&n=1&n=2', ü: 'ä' }, '1', 'utf-8', `${url}/json?a=b+c&n=1&n=2`, true],
    [
      ['POST', 'application/json', null, '{"a": 1}'],
      ['POST', 'application/x-www-form-urlencoded', 'Basic bWU6cHc=', 'a=b+c'],
      ['PUT', '', null, 'text'],
      ['DELETE', '', null, ''],
      ['POST', 'multipart/form-data', null, 1],
    ],
    [`404 Client Error: Not Found for url: ${url}/missing`, 'nothing here'],
    ...['3', 'a=1; b=2', [1, 302]],
    ['MissingSchema', 'InvalidSchema', 'InvalidURL', 'ConnectionError', 'TooManyRedirects', 'not json'],
    [new Uint8Array(Buffer.from('{"path":"/json","ü":"ä"}'))],
    404,
  ]);
});

test('without network there is none, and sockets there are never', async () => {
  const none = async (language: 'python' | 'javascript', code: string) => (await run(language, code, [])) as { output: unknown };
  expect((await none('javascript', 'try { await fetch(input) } catch (e) { return e.name + " " + e.message }')).output).toMatch(
    /^TypeError fetch failed: this task has no network/,
  );
  const python = `import urllib.request, requests, socket
told = []
for ask in [lambda: urllib.request.urlopen(task_input), lambda: requests.get(task_input), lambda: socket.create_connection(('127.0.0.1', 80)), lambda: socket.socket()]:
    try:
        ask()
    except OSError as error:
        told.append('no network' in str(error))
told`;
  expect((await none('python', python)).output).toEqual([true, true, true, true]);
  expect(asked).toEqual([]);
});
