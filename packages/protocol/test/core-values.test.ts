/** Values on JSON wires: every value comes back equal, and what has no faithful form is refused with a path. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromWire, MAX_INTEGER_DIGITS, MAX_VALUE_DEPTH, toWire, type Value, ValueError } from '../src/values.ts';

const throughJson = (value: unknown) => fromWire(JSON.parse(JSON.stringify(toWire(value))));

const key = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('__proto__', '$fermata', 'constructor', 'toString', '', '\ud800', '\udc00x'));
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\ud800', '\udfff\ud800', '\ufeffbom', '\u0000', 'a\udc00b'));
const { value } = fc.letrec<{ value: Value }>((tie) => {
  const inner = tie('value');
  return {
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom<Value>(undefined, null, true, false, Number.NaN, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
      fc.double(),
      fc.bigInt(),
      text,
      fc.uint8Array({ maxLength: 40 }),
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

describe('a value on a JSON wire', () => {
  test('comes back equal, whatever it is', () => {
    fc.assert(
      fc.property(value, (original) => {
        expect(isDeepStrictEqual(throughJson(original), original)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test('keeps the order of records, maps and sets', () => {
    const original = {
      b: 1,
      a: new Map<Value, Value>([
        ['z', 1],
        [1, 'y'],
      ]),
      c: new Set<Value>([2, 1]),
    };
    const back = throughJson(original) as typeof original;
    expect(Object.keys(back)).toEqual(['b', 'a', 'c']);
    expect([...back.a.keys()]).toEqual(['z', 1]);
    expect([...back.c]).toEqual([2, 1]);
  });

  test('may be a record that looks like a tag', () => {
    for (const original of [{ $fermata: ['undefined'] }, { $fermata: 1 }, { $fermata: ['record', {}], other: 2 }, { $fermata: { $fermata: undefined } }]) {
      expect(throughJson(original)).toStrictEqual(original);
    }
  });

  test('never sets a prototype', () => {
    const back = throughJson(JSON.parse('{"__proto__": {"polluted": true}}')) as object;
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
    expect(Object.hasOwn(back, '__proto__')).toBe(true);
    expect('polluted' in {}).toBe(false);
  });

  test('keeps the length of an array with holes', () => {
    const holes: Value[] = new Array(2);
    holes.push(1);
    expect(throughJson(holes)).toStrictEqual([undefined, undefined, 1]);
  });
});

describe('what has no faithful form is refused, and the error says where', () => {
  test.each<[string, unknown, string]>([
    ['a function', { a: [1, () => 1] }, 'value.a[1]'],
    ['a symbol', new Map([['k', Symbol('s')]]), 'value.value(0)'],
    ['an invalid Date', new Set([new Date(Number.NaN)]), 'value.item(0)'],
    ['an instance of a class', [new Error('lost')], 'value[0]'],
    ['a boxed primitive', { a: Object(1) }, 'value.a'],
    ['a Promise', { a: Promise.resolve(1) }, 'value.a'],
  ])('%s', (_what, original, path) => {
    try {
      toWire(original);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(ValueError);
      expect((error as ValueError).path).toBe(path);
    }
  });

  test('a value that contains itself', () => {
    const self: Record<string, unknown> = {};
    self.again = [self, self];
    expect(() => toWire(self)).toThrow(ValueError);
  });

  test('nesting is possible to the documented depth and no further', () => {
    expect(throughJson(nested(MAX_VALUE_DEPTH))).toStrictEqual(nested(MAX_VALUE_DEPTH));
    expect(() => toWire(nested(MAX_VALUE_DEPTH + 1))).toThrow(ValueError);
    expect(() => fromWire(nested(MAX_VALUE_DEPTH + 1))).toThrow(ValueError);
  });
});

test('an integer may have the documented digits and no more', () => {
  const largest = 10n ** BigInt(MAX_INTEGER_DIGITS) - 1n;
  expect(throughJson(largest)).toBe(largest);
  expect(() => toWire(largest + 1n)).toThrow(ValueError);
  // It is refused without being read, which would take a minute.
  expect(() => fromWire({ $fermata: ['integer', '9'.repeat(16_000_000)] })).toThrow('cannot be passed on');
});

test('reading any JSON whatever gives a value or a ValueError', () => {
  const tagged = fc.tuple(fc.constantFrom('number', 'integer', 'bytes', 'instant', 'map', 'set', 'record', 'x'), fc.jsonValue()).map((tag) => ({ $fermata: tag }));
  fc.assert(
    fc.property(
      fc.oneof(
        fc.jsonValue(),
        tagged,
        fc.array(tagged),
        fc.jsonValue().map(($fermata) => ({ $fermata })),
      ),
      (json) => {
        try {
          throughJson(fromWire(json));
        } catch (error) {
          expect(error).toBeInstanceOf(ValueError);
        }
      },
    ),
    { numRuns: 2000 },
  );
});
