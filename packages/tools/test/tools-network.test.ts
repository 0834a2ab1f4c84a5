/** What the network tools reach, and what they refuse before anything is connected. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcp } from 'node:net';
import type { ValueRecord } from '@fermata/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAddressGuard } from '../src/net/address-guard.ts';
import { guardedFetch } from '../src/net/guarded-fetch.ts';
import { hostRules, type NetworkOptions, networkTools } from '../src/registry-index.ts';

let server: Server;
let port: number;
let asked: { method: string | undefined; url: string | undefined; headers: IncomingMessage['headers']; body: string }[] = [];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    asked.push({ method: request.method, url: request.url, headers: request.headers, body });
    if (request.url === '/redirect') response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    else if (request.url === '/slow') setTimeout(() => response.end('late'), 10_000).unref();
    else if (request.url === '/large') response.end('x'.repeat(5_000));
    else
      response
        .writeHead(
          200,
          [
            ['content-type', 'text/plain'],
            ['set-cookie', 'a=1'],
            ['set-cookie', 'b=2'],
          ].flat(),
        )
        .end('here');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
beforeEach(() => {
  asked = [];
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function ask(url: string, options: Partial<NetworkOptions> = {}, args: ValueRecord = {}): Promise<unknown> {
  const method = (args.method as string | undefined) ?? 'GET';
  const tools = networkTools({ hosts: true, ...options });
  const tool = tools.find(({ name }) => name === (['GET', 'HEAD', 'OPTIONS'].includes(method) ? 'network.get' : 'network.send'));
  const checked = tool?.check({ url, method, ...args });
  return tool?.execute?.(checked as never, { taskId: 't', callId: 'c', idempotencyKey: 'k', signal: AbortSignal.timeout(20_000) });
}
const here = (path = '/') => `http://127.0.0.1:${port}${path}`;
const LOCAL = { network: { allowPrivate: ['127.0.0.1'] } };

describe('rules', () => {
  const cases: [rule: string, url: string, allowed: boolean][] = [
    ['example.com', 'https://example.com/', true],
    ['example.com', 'https://EXAMPLE.com./x', true],
    ['example.com', 'https://example.com:8443/', true],
    ['example.com:443', 'https://example.com/', true],
    ['example.com:443', 'http://example.com/', false],
    ['example.com:8443', 'https://example.com/', false],
    ['example.com', 'https://www.example.com/', false],
    ['example.com', 'https://example.com.evil.net/', false],
    ['example.com', 'https://notexample.com/', false],
    ['example.com', 'https://example.com@evil.net/', false],
    ['*.example.com', 'https://a.b.example.com/', true],
    ['*.example.com', 'https://example.com/', false],
    ['*.example.com', 'https://evilexample.com/', false],
    ['bücher.example', 'https://xn--bcher-kva.example/', true],
    ['93.184.216.34', 'http://93.184.216.34/', true],
    ['93.184.216.34', 'http://0x5db8d822/', true],
    ['93.184.0.0/16:80', 'http://93.184.216.34/', true],
    ['93.184.0.0/16:80', 'https://93.184.216.34/', false],
    ['93.184.0.0/16', 'http://example.com/', false],
    ['[2606:2800:220:1::]:443', 'https://[2606:2800:220:1::]/', true],
    ['2606:2800::/32', 'https://[2606:2800:220:1::]/', true],
    ['2606:2800::/32', 'https://[2607:2800:220:1::]/', false],
  ];
  test.each(cases)('%s lets %s through: %s', (rule, url, allowed) => {
    expect(hostRules([rule]).allows(new URL(url))).toBe(allowed);
  });
  test.each([
    '',
    '*',
    '*.',
    'a b',
    'http://example.com',
    'example.com/x',
    '1.2.3.4/40',
    'example.com:0',
    'example.com:70000',
    'exa*mple.com',
    '[::1',
    '1.2.3.4.5',
    '*.com',
    '0.0.0.0/0',
    '::/0',
    '10.0.0.0/7',
  ])('%j is refused', (rule) => {
    expect(() => hostRules([rule])).toThrow(/names no host/);
  });
});

describe('what is refused, with nothing connected', () => {
  // Spellings of this machine and of networks that are nobody's business; each would reach the listener or a neighbour of it.
  const forms = [
    ...['127.0.0.1', '127.1', '0x7f.0.0.1', '0x7f000001', '2130706433', '017700000001', '0177.0.0.1', '127.0.0.1.', '127.255.255.254', '0.0.0.0', '0', '0x0'],
    ...[
      'localhost',
      'LOCALHOST',
      'localhost.',
      'foo.localhost',
      '[::1]',
      '[::]',
      '[0:0:0:0:0:0:0:1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::127.0.0.1]',
      '[64:ff9b::127.0.0.1]',
    ],
    ...[
      '10.0.0.1',
      '10.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '169.254.169.254',
      '0xa9fea9fe',
      '2852039166',
      '[::ffff:169.254.169.254]',
      '100.64.0.1',
      '192.0.0.1',
      '192.0.2.1',
    ],
    ...[
      '198.18.0.1',
      '224.0.0.1',
      '240.0.0.1',
      '255.255.255.255',
      '[fe80::1]',
      '[fc00::1]',
      '[fd12:3456::1]',
      '[ff02::1]',
      '[2001:db8::1]',
      '[2002:7f00:1::]',
      '[::7f00:1]',
      '[4000::1]',
      '１２７.０.０.１',
    ],
  ];
  test(`${forms.length} spellings of private addresses`, async () => {
    expect(forms.length).toBeGreaterThanOrEqual(40);
    for (const host of forms) await expect(ask(`http://${host}:${port}/`), host).rejects.toMatchObject({ name: expect.stringMatching(/^Network(Denied|Error)$/) });
    expect(asked).toEqual([]);
  });
  test.each(['file:///etc/passwd', 'ftp://example.com/', 'gopher://127.0.0.1/', 'data:text/plain,x', 'javascript:1', '//127.0.0.1/', 'http://', ''])('%s', async (url) => {
    await expect(ask(url)).rejects.toMatchObject({ name: 'NetworkDenied' });
  });
  test('an address with a password in it', async () => {
    await expect(ask(`http://u:p@127.0.0.1:${port}/`, LOCAL)).rejects.toMatchObject({ name: 'NetworkDenied' });
    expect(asked).toEqual([]);
  });
  test('a host that no rule names, although it may be reached', async () => {
    await expect(ask(here(), { ...LOCAL, hosts: ['example.com', '127.0.0.2', `127.0.0.1:${port + 1}`] })).rejects.toMatchObject({ name: 'NetworkDenied' });
    expect(asked).toEqual([]);
  });
  test('a name that leads to a private address, and one that does so only the second time', async () => {
    const lookup = async () => [{ address: '127.0.0.1', family: 4 }];
    await expect(ask(`http://rebound.example:${port}/`, { network: { lookup } })).rejects.toMatchObject({ name: 'NetworkDenied' });
    let lookups = 0;
    const rebinding = async () => [{ address: lookups++ === 0 ? '192.0.2.1' : '127.0.0.1', family: 4 }];
    await expect(ask(`http://rebound.example:${port}/`, { network: { lookup: rebinding, allowPrivate: ['192.0.2.0/24'] }, timeoutMs: 300 })).rejects.toMatchObject({
      name: expect.stringMatching(/^Network(Timeout|Error)$/),
    });
    expect(lookups).toBe(1);
    const mixed = async () => [
      { address: '93.184.216.34', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ];
    await expect(ask(`http://mixed.example:${port}/`, { network: { lookup: mixed } })).rejects.toMatchObject({ name: 'NetworkDenied' });
    expect(asked).toEqual([]);
  });
  test('a header with a line break', async () => {
    await expect(ask(here(), LOCAL, { headers: [['x', 'a\r\nHost: evil']] })).rejects.toMatchObject({ name: 'NetworkError' });
    expect(asked).toEqual([]);
  });
});

test('an answer comes whole, and a redirect is not followed', async () => {
  expect(await ask(here('/a?b=c'), LOCAL)).toMatchObject({ url: here('/a?b=c'), status: 200, body: new Uint8Array(Buffer.from('here')) });
  const answer = (await ask(here(), LOCAL)) as { headers: [string, string][] };
  expect(answer.headers.filter(([name]) => name === 'set-cookie')).toEqual([
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
  ]);
  expect(await ask(here('/redirect'), LOCAL)).toMatchObject({ status: 302, headers: expect.arrayContaining([['location', 'http://169.254.169.254/']]) });
  expect(asked.map(({ url }) => url)).toEqual(['/a?b=c', '/', '/redirect']);
});

test('a body and headers go out, those of the connection aside', async () => {
  const headers = [
    ['X-One', '1'],
    ['X-One', '2'],
    ['Host', 'evil'],
    ['Content-Length', '3'],
  ];
  await ask(here('/'), LOCAL, { method: 'POST', body: 'höflich', headers });
  expect(asked[0]).toMatchObject({ method: 'POST', body: 'höflich', headers: { 'x-one': '1, 2', host: `127.0.0.1:${port}`, 'content-length': '8' } });
  await expect(ask(here('/'), LOCAL, { method: 'CONNECT' })).rejects.toMatchObject({ name: 'InvalidArguments' });
});

test('a header of the host goes to its hosts only, in the place of what the program sent', async () => {
  const added = { hosts: [`http://127.0.0.1:${port}`], name: 'Authorization', value: () => 'Bearer secret' };
  await ask(here(), { ...LOCAL, headers: [added] }, { headers: [['authorization', 'mine']] });
  expect(asked[0]?.headers.authorization).toBe('Bearer secret');
  await ask(here(), { ...LOCAL, headers: [{ ...added, hosts: ['example.com'] }] });
  expect(asked[1]?.headers.authorization).toBeUndefined();
  await expect(ask(here(), { ...LOCAL, headers: [{ ...added, value: () => undefined }] })).rejects.toMatchObject({ name: 'SecretMissing' });
});

test('a header of the host goes over http only where its rule says so', async () => {
  const added = { name: 'Authorization', value: () => 'Bearer secret' };
  for (const host of ['127.0.0.1', `127.0.0.1:${port}`, `https://127.0.0.1:${port}`, '127.0.0.0/8']) await ask(here(), { ...LOCAL, headers: [{ ...added, hosts: [host] }] });
  expect(asked.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined, undefined, undefined]);
  await ask(here(), { ...LOCAL, headers: [{ ...added, hosts: ['example.com', 'http://127.0.0.0/8'] }] });
  expect(asked[4]?.headers.authorization).toBe('Bearer secret');
  expect(() => networkTools({ hosts: true, headers: [{ ...added, hosts: ['ftp://example.com'] }] })).toThrow(/names no host/);
  // Over https it goes out, and the connection fails only then.
  let told = 0;
  const header = { ...added, hosts: ['127.0.0.1'], value: () => void told++ };
  await expect(ask(here().replace('http', 'https'), { ...LOCAL, headers: [header] })).rejects.toMatchObject({ name: 'SecretMissing' });
  expect(told).toBe(1);
});

test('an answer that changes the protocol is refused, and a connection that ends without one is an error', async () => {
  const odd = createTcp((socket) => {
    socket.on('error', () => {});
    socket.once('data', (data) => {
      if (String(data).startsWith('GET /upgrade')) socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      else if (String(data).startsWith('GET /bare')) socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
      else socket.end();
    });
  });
  await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve));
  const at = `http://127.0.0.1:${(odd.address() as AddressInfo).port}`;
  try {
    for (const path of ['/upgrade', '/bare', '/nothing']) await expect(ask(at + path, LOCAL), path).rejects.toMatchObject({ name: 'NetworkError' });
    const fetching = guardedFetch(createAddressGuard(LOCAL.network));
    for (const path of ['/upgrade', '/bare', '/nothing']) await expect(fetching(at + path), path).rejects.toThrow();
  } finally {
    odd.close();
  }
});

test('time and size are bounded', async () => {
  await expect(ask(here('/slow'), { ...LOCAL, timeoutMs: 100 })).rejects.toMatchObject({ name: 'NetworkTimeout' });
  await expect(ask(here('/slow'), LOCAL, { timeout_ms: 100 })).rejects.toMatchObject({ name: 'NetworkTimeout' });
  await expect(ask(here('/large'), { ...LOCAL, maxBytes: 1000 })).rejects.toMatchObject({ name: 'NetworkError', message: expect.stringContaining('longer than 1000 bytes') });
});

test('what policy sees is what is asked for, and an address that reads otherwise than it is understood is refused', async () => {
  const [get] = networkTools({ hosts: true });
  expect(get?.judged?.({ url: 'HTTP://EXAMPLE.com:80/a?b#c', method: 'GET' })).toEqual({ url: 'http://example.com/a?b#c', method: 'GET' });
  for (const path of ['/x/../admin', '/x/%2e%2E/admin', '/ad\tmin', '/x/..\\admin', '\\admin', '/.']) {
    expect(() => get?.judged?.({ url: `http://example.com${path}`, method: 'GET' }), path).toThrow(/not in its plain form/);
    await expect(ask(here(path), LOCAL)).rejects.toMatchObject({ name: 'NetworkError' });
  }
  expect(asked).toEqual([]);
  await ask(here('/a b/{c}?q="d"'), LOCAL, { headers: [['constructor', 'v']] });
  expect(asked).toMatchObject([{ url: '/a%20b/%7Bc%7D?q=%22d%22', headers: { constructor: 'v' } }]);
});
