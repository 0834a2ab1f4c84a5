/** Values between guest and host: every value comes back equal, and no bytes of a guest can do more than be refused. */
import { isDeepStrictEqual } from 'node:util';
import { MAX_VALUE_DEPTH, toWire, type Value, ValueError } from '@fermata/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Truncated } from '../src/wasm/bytes.ts';
import { decodeValue, encodeValue, MAX_CARRIER_DEPTH, MalformedValue } from '../src/wasm/value-codec.ts';

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\ud800', '\udfff\ud800', '\ufeffbom', '\u0000', 'a\udc00b'));
const key = fc.oneof(text, fc.constantFrom('__proto__', '$fermata', 'constructor', 'hasOwnProperty', ''));
const { value } = fc.letrec<{ value: Value }>((tie) => {
  const inner = tie('value');
  return {
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom<Value>(undefined, null, true, false, Number.NaN, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** 53, -(2n ** 70n)),
      fc.double(),
      fc.bigInt(),
      text,
      fc.uint8Array({ maxLength: 300 }),
      fc.date({ noInvalidDate: true }),
      fc.array(inner, { maxLength: 5 }),
      fc.array(fc.tuple(inner, inner), { maxLength: 4 }).map((entries) => new Map(entries)),
      fc.array(inner, { maxLength: 4 }).map((items) => new Set(items)),
      fc.array(fc.tuple(key, inner), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
    ),
  };
});

const nested = (levels: number) => {
  let list: Value = 1;
  for (let i = 0; i < levels; i++) list = [list];
  return list;
};

test('a value comes back equal, whatever it is', () => {
  fc.assert(
    fc.property(value, (original) => {
      expect(isDeepStrictEqual(decodeValue(encodeValue(original)), original)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test('order is kept, prototypes are never set, holes are undefined', () => {
  const record = decodeValue(encodeValue(JSON.parse('{"b": 1, "__proto__": {"polluted": true}, "a": 2}'))) as object;
  expect(Object.keys(record)).toEqual(['b', '__proto__', 'a']);
  expect(Object.getPrototypeOf(record)).toBe(Object.prototype);
  expect([
    ...(
      decodeValue(
        encodeValue(
          new Map([
            ['z', 1],
            ['a', 2],
          ]),
        ),
      ) as Map<string, number>
    ).keys(),
  ]).toEqual(['z', 'a']);
  expect(decodeValue(encodeValue(new Array(2)))).toStrictEqual([undefined, undefined]);
});

test('every kind of buffer passes as its bytes', () => {
  const bytes = new Uint8Array([0, 1, 2, 3]);
  for (const buffer of [bytes, Buffer.from(bytes), bytes.buffer, new DataView(bytes.buffer), new Uint16Array(bytes.buffer)])
    expect(decodeValue(encodeValue(buffer))).toStrictEqual(bytes);
  expect(decodeValue(encodeValue(bytes.subarray(1, 3)))).toStrictEqual(new Uint8Array([1, 2]));
});

describe('what has no faithful form is refused, and the error says where', () => {
  const self: { again?: unknown } = {};
  self.again = [self, self];
  test.each<[string, unknown, string]>([
    ['a function', { a: [1, () => 1] }, 'args.a[1]'],
    ['a symbol', new Map([['k', Symbol('s')]]), 'args.value(0)'],
    ['an invalid Date', new Set([new Date(Number.NaN)]), 'args.item(0)'],
    ['a value that contains itself', self, 'args.again[0]'],
    ['a Promise', { a: Promise.resolve(1) }, 'args.a'],
    ['an instance of a class', [new Error('lost')], 'args[0]'],
  ])('%s', (_what, original, path) => {
    expect(() => encodeValue(original, 'args')).toThrow(expect.objectContaining({ name: 'ValueError', path }));
  });

  test('the same object twice is no cycle', () => {
    const twice = { a: 1 };
    expect(decodeValue(encodeValue([twice, twice]))).toEqual([twice, twice]);
  });
});

describe('nesting', () => {
  test('is possible to the documented depth and no further', () => {
    expect(decodeValue(encodeValue(nested(MAX_VALUE_DEPTH)))).toEqual(nested(MAX_VALUE_DEPTH));
    expect(() => encodeValue(nested(MAX_VALUE_DEPTH + 1))).toThrow(ValueError);
  });

  test('leaves room for what carries a value of full depth: a message, or the state of a machine', () => {
    const state = { calls: [{ id: 1, name: 'f', args: nested(MAX_VALUE_DEPTH) }] };
    expect(decodeValue(encodeValue(state, 'state', MAX_CARRIER_DEPTH))).toEqual(state);
    expect(() => encodeValue(nested(MAX_CARRIER_DEPTH + 1), 'state', MAX_CARRIER_DEPTH)).toThrow(ValueError);
  });

  test('by a hostile guest is refused before it meets the stack', () => {
    const LIST = 8;
    const bytes = new Uint8Array(2_000_000).map((_, i) => (i % 2 === 0 ? LIST : 1));
    expect(() => decodeValue(bytes)).toThrow(MalformedValue);
  });
});

describe('bytes that no honest guest sends', () => {
  const named = (bytes: Uint8Array): Value | Error => {
    try {
      return decodeValue(bytes);
    } catch (error) {
      if (error instanceof Truncated || error instanceof MalformedValue) return error;
      throw error;
    }
  };

  test('give a faithful value or a named error', () => {
    const tags = fc.array(fc.oneof(fc.nat(15), fc.nat(255)), { maxLength: 80 }).map((list) => new Uint8Array(list));
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 80 }), tags), (bytes) => {
        const decoded = named(bytes);
        if (!(decoded instanceof Error)) toWire(decoded);
      }),
      { numRuns: 5000 },
    );
  });

  test('give a named error when a value is cut, and a value or a named error when a byte of it is changed', () => {
    fc.assert(
      fc.property(value, fc.nat(), fc.integer({ min: 1, max: 255 }), (original, at, change) => {
        const bytes = encodeValue(original);
        expect(named(bytes.subarray(0, at % bytes.length))).toBeInstanceOf(Error);
        const changed = bytes.slice();
        changed[at % bytes.length] = (bytes[at % bytes.length] as number) ^ change;
        named(changed);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ['no bytes', []],
    ['a second value', [0, 0]],
    ['an unknown tag', [13]],
    ['an integer that is no digits', [5, 2, 0x2d, 0x2d]],
    ['an integer of very many digits', [5, 0xa1, 0x9c, 0x01, ...Array<number>(20_001).fill(0x39)]],
    ['a list longer than the bytes', [8, 0xff, 0xff, 0xff, 0x7f]],
    ['an instant that is no time', [12, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f]],
  ])('are refused: %s', (_what, bytes) => {
    expect(named(new Uint8Array(bytes))).toBeInstanceOf(Error);
  });
});
