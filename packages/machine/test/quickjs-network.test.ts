/** What `fetch` sends to whom: cookies and credentials stay with the host that they are for. */
import type { Value } from '@fermata/protocol';
import { expect, test } from 'vitest';
import { resultOf } from './run-javascript.ts';

test('what says who asks follows a redirect within the origin, and not to another', () => {
  const sent: Value[] = [];
  const to: Record<string, string> = { 'https://example.com/in': '/away', 'https://example.com/away': 'https://sub.example.com/' };
  const call = (args: Record<string, Value>): Value => {
    const url = String(args.url);
    sent.push([url, ...(args.headers as [string, string][]).map(([name]) => name)]);
    const location = to[url];
    return { url, status: location ? 307 : 200, headers: location ? [['location', location]] : [], body: new Uint8Array() };
  };
  const code = `const headers = { Cookie: 'a=1', Authorization: 'Bearer x', 'Proxy-Authorization': 'y', 'X-Other': 'z' };
return (await fetch('https://example.com/in', { headers })).url`;
  expect(resultOf(code, { with: { 'network.get': { call } } })).toBe('https://sub.example.com/');
  const all = ['authorization', 'cookie', 'proxy-authorization', 'x-other'];
  expect(sent).toEqual([
    ['https://example.com/in', ...all],
    ['https://example.com/away', ...all],
    ['https://sub.example.com/', 'x-other'],
  ]);
});
