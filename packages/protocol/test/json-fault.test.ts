/** Where a text stops being JSON. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonFault } from '../src/json-fault.ts';

describe('the place where JSON is broken', () => {
  test.each([
    ['', 1, 1, 'end'],
    ['[1, 2', 1, 6, 'end'],
    ['[1,]', 1, 4, '"]"'],
    ['{"a": 1\n  "b": 2}', 2, 3, `'"'`],
    ["{'a': 1}", 1, 2, `"'"`],
    ['{"a": tru}', 1, 7, '"tru"'],
    ['{"a": 01}', 1, 7, '"0"'],
    ['{"a": 1} x', 1, 10, '"x"'],
    ['["a\nb"]', 1, 2, `'"'`],
    ['\ufeff{}', 1, 1, '"\ufeff"'],
  ])('of %j is line %i, column %i', (text, line, column, found) => {
    expect(jsonFault(text)).toEqual({ line, column, found });
  });
  test.each([
    ['lists', '['.repeat(1e6), 1e6 + 1],
    ['objects', '{"a":'.repeat(1e5), 5e5 + 1],
  ])('is found behind a million nested %s', (_what, text, column) => {
    expect(jsonFault(text)).toEqual({ line: 1, column, found: 'end' });
  });
  test('is found in whatever JSON.parse refuses, and nowhere else', () => {
    const parses = (text: string) => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    const spoilt = fc.tuple(fc.jsonValue(), fc.nat(), fc.constantFrom('', ',', '"', '}', ']', ':', ' ', '\\', '0', '-', 'e', 'x', '\n')).map(([value, at, put]) => {
      const text = JSON.stringify(value, null, 1);
      return text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + 1);
    });
    const agrees = (text: string) => {
      expect(jsonFault(text) === undefined, text).toBe(parses(text));
    };
    fc.assert(fc.property(fc.oneof(spoilt, fc.json(), fc.string()), agrees), { numRuns: 5000 });
  });
});
