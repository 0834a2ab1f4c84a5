/** Intl and the web's classes answer as Node's do, in English and in UTC. */
import { expect, test } from 'vitest';
import { resultOf } from './run-javascript.ts';

const inNode = (code: string) => new Function(`return ${code}`)();
const numbers = '[0, 1, -1.5, 1234.567, 0.005, 999999, 1e9, -0.001, 123456789.125]';
const date = 'new Date(Date.UTC(2024, 0, 5, 22, 3, 4, 56))';

test.each([
  `${numbers}.map((n) => n.toLocaleString())`,
  ...[
    "{ style: 'currency', currency: 'USD' }",
    "{ style: 'currency', currency: 'EUR', maximumFractionDigits: 0 }",
    "{ style: 'currency', currency: 'JPY' }",
    "{ style: 'currency', currency: 'USD', currencySign: 'accounting' }",
    "{ style: 'percent', minimumFractionDigits: 1 }",
    "{ notation: 'compact' }",
    "{ notation: 'compact', compactDisplay: 'long' }",
    "{ notation: 'scientific' }",
    '{ maximumSignificantDigits: 3 }',
    '{ minimumFractionDigits: 2, useGrouping: false }',
    "{ style: 'unit', unit: 'kilometer-per-hour', unitDisplay: 'long' }",
    "{ signDisplay: 'exceptZero' }",
    "{ roundingMode: 'floor', maximumFractionDigits: 1 }",
  ].map((o) => `${numbers}.map((n) => new Intl.NumberFormat('en-US', ${o}).format(n))`),
  ...[
    "{ dateStyle: 'full' }",
    "{ dateStyle: 'medium', timeStyle: 'short' }",
    "{ dateStyle: 'long', timeStyle: 'long' }",
    "{ weekday: 'short', month: 'short', day: 'numeric' }",
    "{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', hour12: false }",
    "{ month: 'long', year: 'numeric' }",
    "{ hour: 'numeric', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 }",
    "{ timeZoneName: 'short' }",
  ].map((o) => `${date}.toLocaleString('en-US', { timeZone: 'UTC', ...${o} })`),
  ...['America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Sydney', '+05:30'].map(
    (zone) => `[0, 6].map((m) => new Date(Date.UTC(2024, m, 15, 12)).toLocaleString('en-US', { timeZone: '${zone}', timeZoneName: 'short' }))`,
  ),
  "[0, 1, 2, 3, 4, 11, 12, 13, 21, 101].map((n) => new Intl.PluralRules('en', { type: 'ordinal' }).select(n))",
  "['z', 'A', 'ä', 'a', 'Z', 'é', 'e', '10', '2', '_x', 'résumé', 'resume', 'Resume', 'ss', 'ß'].sort((a, b) => a.localeCompare(b))",
  "['f10', 'f9', 'F1'].sort(new Intl.Collator('en', { numeric: true, sensitivity: 'base' }).compare)",
  "[['a'], ['a', 'b'], ['a', 'b', 'c']].map((l) => new Intl.ListFormat('en', { type: 'disjunction' }).format(l))",
  "[-1, 0, 2].map((n) => new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(n, 'day'))",
  "[...new Intl.Segmenter('en').segment('e\\u0301👨‍👩‍👧🇩🇪')].length",
  "['HTTP://EXAMPLE.com:80/a/../b/./c?x=1#f', 'https://u:p@h:8080/p?q#h', 'http://[2001:db8:0:0:0:0:2:1]/', 'http://münchen.de/ä?ö', 'mailto:a@b.c', 'file:///etc/x'].map((u) => new URL(u).href)",
  "['../b', '//h/p', '?q', '#f', './', 'x:y'].map((r) => new URL(r, 'http://a/x/y/z?k').href)",
  "new URLSearchParams({ q: 'a b&c', e: 'é*~' }).toString()",
  'new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 104, 195, 169, 255, 226, 130]))',
  "[btoa('hello'), atob('aGVsbG8=')]",
])('%s', (code) => {
  expect(resultOf(code)).toEqual(inNode(code));
});

test('a time zone that is not known is an error, not a guess', () => {
  expect(resultOf("try { new Intl.DateTimeFormat('en', { timeZone: 'Asia/Kathmandu' }) } catch (e) { return [e.name, e.message.includes('UTC')] }")).toEqual(['RangeError', true]);
});

test('timers run in the order in which they fall due, and time passes', () => {
  const code =
    "const o = []; setTimeout(() => o.push('b'), 20); setTimeout((x) => o.push(x), 10, 'a'); setTimeout(() => o.push('c'), 20); const t = Date.now(); await sleep(0.05); return [o, Date.now() - t >= 50]";
  expect(resultOf(code)).toEqual([['a', 'b', 'c'], true]);
});

test('files are bytes under /work', () => {
  const code =
    "files.mkdir('a/b'); files.write('a/b/x.txt', 'héllo'); files.append('a/b/x.txt', new Uint8Array([33])); try { files.read('nope') } catch (e) { return [files.readText('/work/a/b/x.txt'), files.list('a'), files.exists('a/b'), files.stat('a/b/x.txt').size, e.code] }";
  expect(resultOf(code)).toEqual(['héllo!', ['b'], true, 7, 'ENOENT']);
});

test('a path with NUL in it is refused, not cut off there', () => {
  const code =
    "const told = ['write', 'read', 'exists', 'mkdir', 'remove'].map((name) => { try { return files[name]('a\\0b', 'x') } catch (e) { return String(e) } }); return [[...new Set(told)], files.list()]";
  expect(resultOf(code)).toEqual([['TypeError: a path cannot have a NUL character in it'], []]);
});
