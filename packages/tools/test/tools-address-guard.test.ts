/** Only public addresses are reached, whatever way they are written or named; and the one that was checked is the one that is connected to. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AddressRefused, createAddressGuard, isPublic } from '../src/net/address-guard.ts';
import { guardedRequest, RequestError } from '../src/net/guarded-request.ts';

describe('addresses', () => {
  test.each([
    ...[
      '127.0.0.1',
      '127.1.2.3',
      '0.0.0.0',
      '10.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '192.0.2.1',
      '198.18.0.1',
      '224.0.0.1',
      '240.0.0.1',
      '255.255.255.255',
    ],
    ...[
      '::1',
      '::',
      'fe80::1',
      'fc00::1',
      'fd12::1',
      'ff02::1',
      '::ffff:127.0.0.1',
      '::ffff:10.0.0.1',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      '2001:db8::1',
      'localhost',
      'not an address',
      '',
    ],
  ])('%s is not public', (address) => expect(isPublic(address)).toBe(false));

  test.each(['1.1.1.1', '93.184.216.34', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])('%s is public', (address) => expect(isPublic(address)).toBe(true));

  test('any text has an answer', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.ipV4Extended()), (text) => typeof isPublic(text) === 'boolean'));
  });

  test('a name is refused if one of its addresses is private, and allowed by name, address or range', async () => {
    const lookup = async () => [
      { address: '93.184.216.34', family: 4 },
      { address: '10.0.0.7', family: 4 },
    ];
    await expect(createAddressGuard({ lookup }).addresses('mixed.example')).rejects.toThrow(AddressRefused);
    for (const allowPrivate of [true, ['mixed.example'], ['10.0.0.7'], ['10.0.0.0/8']]) {
      expect(await createAddressGuard({ lookup, allowPrivate }).addresses('Mixed.example.')).toHaveLength(2);
    }
    for (const allowPrivate of [['other.example'], ['10.0.0.8'], ['10.1.0.0/16'], ['fc00::/7'], ['nonsense/99']]) {
      await expect(createAddressGuard({ lookup, allowPrivate }).addresses('mixed.example')).rejects.toThrow(AddressRefused);
    }
    await expect(createAddressGuard({ lookup: async () => [] }).addresses('none.example')).rejects.toThrow('no address');
  });
});

describe('requests', () => {
  let server: Server;
  let port: number;
  let seen = 0;
  beforeAll(async () => {
    server = createServer((request, response) => {
      seen++;
      if (request.url === '/slow') return;
      if (request.url === '/long') return response.end('x'.repeat(1000));
      if (request.url === '/moved') return response.writeHead(302, { location: '/elsewhere' }).end();
      response.end(`host ${request.headers.host}`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const bounds = { method: 'GET', timeoutMs: 300, maxBytes: 100 };
  const faultOf = async (work: Promise<unknown>) =>
    work.then(
      () => 'none',
      (error: unknown) => (error instanceof RequestError ? error.fault : String(error)),
    );

  test('the name is asked once, so its address cannot change between the check and the connection', async () => {
    let asked = 0;
    const lookup = async () => [{ address: asked++ === 0 ? '127.0.0.1' : '203.0.113.1', family: 4 }];
    const guard = createAddressGuard({ lookup, allowPrivate: ['rebinding.example'] });
    const { body } = await guardedRequest({ ...bounds, url: `http://rebinding.example:${port}/` }, guard);
    expect(body.toString()).toBe(`host rebinding.example:${port}`);
    expect(asked).toBe(1);
  });

  test('nothing is sent to an address that is refused', async () => {
    const before = seen;
    const guard = createAddressGuard();
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '2130706433', '0x7f.1', '127.0.0.1.']) {
      expect(await faultOf(guardedRequest({ ...bounds, url: `http://${host}:${port}/` }, guard)), host).toMatch(/address_refused|network/);
    }
    expect(await faultOf(guardedRequest({ ...bounds, url: 'file:///etc/passwd' }, guard))).toBe('address_refused');
    expect(await faultOf(guardedRequest({ ...bounds, url: `http://u:p@127.0.0.1:${port}/` }, createAddressGuard({ allowPrivate: true })))).toBe('address_refused');
    expect(seen).toBe(before);
  });

  test('bounds of time and size hold, and a redirect is an answer', async () => {
    const guard = createAddressGuard({ allowPrivate: true });
    const to = (path: string, more = {}) => guardedRequest({ ...bounds, url: `http://127.0.0.1:${port}${path}`, ...more }, guard);
    expect(await faultOf(to('/slow'))).toBe('timeout');
    expect(await faultOf(to('/long'))).toBe('too_large');
    expect((await to('/long', { longer: 'cut' })).body).toHaveLength(100);
    expect((await to('/moved')).status).toBe(302);
    const gone = new AbortController();
    const work = faultOf(to('/slow', { signal: gone.signal, timeoutMs: 60_000 }));
    gone.abort();
    expect(await work).toBe('aborted');
    expect(await faultOf(guardedRequest({ ...bounds, url: 'http://127.0.0.1:1/' }, guard))).toBe('network');
    const never = createAddressGuard({ lookup: () => new Promise(() => {}) });
    expect(await faultOf(guardedRequest({ ...bounds, url: 'http://never.example/' }, never)), 'a name that is never resolved').toBe('timeout');
  });
});
