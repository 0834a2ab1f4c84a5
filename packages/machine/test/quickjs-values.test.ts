/** What crosses between a JavaScript program and its host: the same value arrives, or an error says where it is and what to do. */
import type { Value } from '@fermata/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { echo, errorOf, resultOf, runJavaScript } from './run-javascript.ts';

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom('a', '\ud800', '\udfff', '😀', '\u0000', 'é', '__proto__') }));
const leaf = fc.oneof(
  fc.constant(null),
  fc.constant(undefined),
  fc.boolean(),
  fc.double(),
  fc.integer(),
  fc.bigInt({ min: -(2n ** 300n), max: 2n ** 300n }),
  text,
  fc.uint8Array({ maxLength: 40 }),
  fc.date({ noInvalidDate: true }),
);
const own = (entries: [string, Value][]) => {
  const record = {};
  for (const [key, value] of entries) Object.defineProperty(record, key, { value, enumerable: true, writable: true, configurable: true });
  return record;
};
const value = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, leaf, tie('list'), tie('record'), tie('map'), tie('set')),
  list: fc.array(tie('value'), { maxLength: 5 }),
  record: fc.array(fc.tuple(text, tie('value')), { maxLength: 5 }).map((entries) => own(entries as [string, Value][])),
  map: fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 4 }).map((entries) => new Map(entries as [Value, Value][])),
  set: fc.array(leaf, { maxLength: 4 }).map((items) => new Set(items)),
})).value as fc.Arbitrary<Value>;

test('any value that goes in comes out the same, as input and through a tool', () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 10 }), (values) => {
      expect(resultOf('return { input, echoed: (await tools.echo({ input })).input }', { input: values, with: { echo } })).toEqual({ input: values, echoed: values });
    }),
    { numRuns: 60 },
  );
});

test.each<[string, Value]>([
  ['[1, , 3]', [1, undefined, 3]],
  ['[-0, NaN, -Infinity, 2**53]', [-0, Number.NaN, Number.NEGATIVE_INFINITY, 2 ** 53]],
  ['[1n, -(2n**70n)]', [1n, -(2n ** 70n)]],
  ['new Float32Array([1]).buffer', Uint8Array.from([0, 0, 128, 63])],
  ['new DataView(new Uint8Array([1, 2, 3]).buffer, 1)', Uint8Array.from([2, 3])],
  ['[Object(1), Object("a"), Object(2n), Object(true)]', [1, 'a', 2n, true]],
  ['class P { constructor() { this.x = 1 } get y() { return 2 } }; new P()', { x: 1 }],
  ['({ toJSON() { return { a: [1] } } })', { a: [1] }],
  ['[new RangeError("no")]', [{ name: 'RangeError', message: 'no' }]],
  ['({ [Symbol("s")]: 1, a: 2 })', { a: 2 }],
  ['new Proxy([1, 2], {})', [1, 2]],
  ['Promise.resolve({ a: Promise.resolve === undefined })', { a: false }],
])('%s', (code, expected) => {
  expect(resultOf(code)).toEqual(expected);
});

test('__proto__ is an ordinary key both ways', () => {
  const result = resultOf('return { in: Object.getOwnPropertyNames(input), out: JSON.parse(\'{"__proto__":{"a":1}}\') }', { input: own([['__proto__', 1]]) }) as Record<
    string,
    Value
  >;
  expect(result.in).toEqual(['__proto__']);
  expect(Object.getOwnPropertyNames(result.out)).toEqual(['__proto__']);
});

describe('what would be lost is refused with its place', () => {
  test.each([
    ['return { list: [0, 1, { fn() {} }] }', 'result.list[2].fn is a function'],
    ['return [Symbol("x")]', 'result[0] is a Symbol'],
    ['return { a: tools.echo({}) }', 'result.a is a Promise: did you forget `await`?'],
    ['return new WeakMap()', 'result is a weak collection'],
    ['return /x/', 'result is a RegExp'],
    ['return [1].values()', 'result is an iterator'],
    ['return { "a b": { when: new Date(NaN) } }', 'result["a b"].when is an invalid Date'],
    ['const a = {}; a.b = [a]; return a', 'result.b[0] refers back'],
    ['let a = []; for (let i = 0; i < 300; i++) a = [a]; return a', 'nested too deeply'],
    ['await tools.echo({ q: [() => 1] })', 'argument of tools.echo:.q[0] is a function'],
  ])('%s', (code, message) => {
    expect(errorOf(code, { with: { echo } })).toMatchObject({ name: 'TypeError', message: expect.stringContaining(message) });
  });

  test('but the value of a last expression was not asked for, and is left out', () => {
    expect(resultOf('globalThis.f = () => 1')).toBeUndefined();
  });
});

test('getters and toJSON of an argument run once, when the call starts', () => {
  const { outcome, calls } = runJavaScript('let n = 0; const p = tools.echo({ get a() { return ++n } }); n = 10; return [(await p).a, n]', { with: { echo } });
  expect(outcome).toMatchObject({ value: [1, 10] });
  expect(calls).toMatchObject([{ id: 1, name: 'echo', args: { a: 1 } }]);
});
