/** What a program's HTTP libraries send to whom: cookies and credentials stay with the host that they are for. */
import type { Value } from '@fermata/protocol';
import { expect, test } from 'vitest';
import { resultOf, type TestTool } from './run-python.ts';

interface Sent {
  url: string;
  cookie: string | null;
  authorization: string | null;
}

/** Answers each URL with these headers, and with a redirect where one is `location`; keeps what it was asked. */
function network(answers: Record<string, [string, string][]>): { sent: Sent[]; tools: Record<string, TestTool> } {
  const sent: Sent[] = [];
  const call = (args: Record<string, Value>): Value => {
    const url = String(args.url);
    const headers = Object.fromEntries((args.headers as [string, string][]).map(([name, value]) => [name.toLowerCase(), value]));
    sent.push({ url, cookie: headers.cookie ?? null, authorization: headers.authorization ?? null });
    const answered = answers[url] ?? [];
    return { url, status: answered.some(([name]) => name === 'location') ? 302 : 200, headers: answered, body: new Uint8Array() };
  };
  return { sent, tools: { 'network.get': { call } } };
}
const cookiesSent = (sent: Sent[]) => sent.map(({ url, cookie }) => `${url} ${cookie}`);

test('a session of requests sends a cookie to the host that set it, and to no other', () => {
  const { sent, tools } = network({
    'http://a.example.com/login': [
      ['set-cookie', 'own=1; Path=/'],
      ['set-cookie', 'all=2; Domain=example.com'],
      ['set-cookie', 'foreign=3; Domain=b.example.com'],
      ['set-cookie', 'wide=4; Domain=com'],
      ['set-cookie', 'safe=5; Secure'],
      ['set-cookie', 'deep=6; Path=/deep'],
      ['set-cookie', 'gone=7; Max-Age=0'],
    ],
    'http://127.0.0.1/login': [['set-cookie', 'end=1; Domain=0.1']],
  });
  const code = `import requests
s = requests.Session()
first = s.get('http://a.example.com/login').cookies.get_dict()
for url in ['http://a.example.com/', 'https://a.example.com/deep/x', 'http://b.example.com/', 'http://other.org/', 'http://127.0.0.1/login', 'http://10.0.0.1/']:
    s.get(url)
[first, s.cookies['own'], s.cookies.get('own', domain='other.org'), 'foreign' in s.cookies, sorted(dict(s.cookies))]`;
  const kept = { own: '1', all: '2', safe: '5', deep: '6' };
  expect(resultOf(code, { with: tools })).toEqual([kept, '1', null, false, Object.keys(kept).sort()]);
  expect(cookiesSent(sent)).toEqual([
    'http://a.example.com/login null',
    'http://a.example.com/ own=1; all=2',
    'https://a.example.com/deep/x deep=6; own=1; safe=5; all=2',
    'http://b.example.com/ all=2',
    'http://other.org/ null',
    'http://127.0.0.1/login null',
    'http://10.0.0.1/ null',
  ]);
});

test('cookies and credentials that a program gives go along on a redirect within the host, and not to another', () => {
  const away: [string, string][] = [
    ['location', 'http://other.org/'],
    ['set-cookie', 'later=1'],
  ];
  const { sent, tools } = network({
    'http://example.com/in': [['location', '/away']],
    'http://example.com/away': away,
    'http://other.org/': [['location', 'http://example.com/back']],
  });
  const code = `import requests
s = requests.Session()
s.cookies['mine'] = 'm'
s.get('http://example.com/in', cookies={'once': 'o'}, auth=('me', 'pw'))
s.cookies = {'given': 'g'}
s.get('http://example.com/')
s.cookies.get_dict()`;
  expect(resultOf(code, { with: tools })).toEqual({ given: 'g' });
  const basic = 'Basic bWU6cHc=';
  expect(sent).toEqual([
    { url: 'http://example.com/in', cookie: 'mine=m; once=o', authorization: basic },
    { url: 'http://example.com/away', cookie: 'mine=m; once=o', authorization: basic },
    { url: 'http://other.org/', cookie: null, authorization: null },
    { url: 'http://example.com/back', cookie: 'later=1', authorization: null },
    { url: 'http://example.com/', cookie: 'given=g', authorization: null },
  ]);
});

test('urllib.request sends what says who asks to the host that was asked, and not where it is redirected to', () => {
  const { sent, tools } = network({ 'http://example.com:80/in': [['location', '/away']], 'http://example.com:80/away': [['location', 'http://other.org/']] });
  const code = `import urllib.request
urllib.request.urlopen(urllib.request.Request('http://example.com/in', headers={'Cookie': 'a=1', 'Authorization': 'Bearer x'})).status`;
  expect(resultOf(code, { with: tools })).toBe(200);
  expect(sent.map(({ cookie, authorization }) => [cookie, authorization])).toEqual([
    ['a=1', 'Bearer x'],
    ['a=1', 'Bearer x'],
    [null, null],
  ]);
});
