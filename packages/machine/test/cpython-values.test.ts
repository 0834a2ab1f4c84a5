/** What crosses between a Python program and its host: the same value arrives, or an error says where it is and what to do. */
import type { Value } from '@fermata/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { errorOf, resultOf } from './run-python.ts';

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom('a', '\ud800', '\udfff', '😀', '\u0000', 'é') }));
const leaf = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.double(),
  fc.integer(),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 300n }),
  fc.bigInt({ min: -(2n ** 300n), max: -(2n ** 53n) }),
  text,
  fc.uint8Array({ maxLength: 40 }),
  fc.date({ min: new Date('0001-01-02'), max: new Date('9999-12-30'), noInvalidDate: true }),
);
const key = fc.oneof(text, fc.integer({ min: 2, max: 1e9 }));
const value = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, leaf, tie('list'), tie('record'), tie('map')),
  list: fc.array(tie('value'), { maxLength: 5 }),
  record: fc.dictionary(text, tie('value'), { maxKeys: 5 }).map((record) => ({ ...record })),
  // A map with string keys only is a record in Python.
  map: fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((entries) => new Map([[0.5, null], ...entries])),
})).value as fc.Arbitrary<Value>;

test('any value that goes in comes out the same', () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 20 }), (values) => {
      expect(resultOf('task_input', { input: values })).toEqual(values);
    }),
    { numRuns: 40 },
  );
});

test.each<[string, Value]>([
  ['(1, 2)', [1, 2]],
  ['2**53 - 1', 2 ** 53 - 1],
  ['2**53', 2n ** 53n],
  ['-10**5000', -(10n ** 5000n)],
  ['[float("nan"), float("inf"), -0.0, 1.5]', [Number.NaN, Number.POSITIVE_INFINITY, -0, 1.5]],
  ['b"ab" + bytes(bytearray(b"c"))', Uint8Array.from([97, 98, 99])],
  ['memoryview(bytearray(range(6)))[::2]', Uint8Array.from([0, 2, 4])],
  ['{"a": None, "b": True}', { a: null, b: true }],
  [
    '{1: "a", (2, 3): "b"}',
    new Map<Value, Value>([
      [1, 'a'],
      [[2, 3], 'b'],
    ]),
  ],
  ['{3}', new Set([3])],
  ['frozenset()', new Set()],
  ['import enum\nclass E(enum.IntEnum):\n  A = 7\nclass S(enum.StrEnum):\n  B = "b"\n[E.A, S.B, {S.B: 1}]', [7, 'b', { b: 1 }]],
  ['import collections\n[collections.Counter("aab"), collections.defaultdict(int, x=1), collections.namedtuple("P", "x y")(1, 2)]', [{ a: 2, b: 1 }, { x: 1 }, [1, 2]]],
  ['import datetime as d, zoneinfo\nd.datetime(2024, 7, 1, 12, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))', new Date('2024-07-01T10:00:00Z')],
  ['"\\ud83d\\ude00\\ud800"', '😀\ud800'],
])('%s arrives as a value', (code, expected) => {
  expect(resultOf(code)).toEqual(expected);
});

test('what Python reads has the nearest Python type', () => {
  const input = [
    undefined,
    2,
    2.5,
    -0,
    1e300,
    2n ** 60n,
    new Set([[1]]),
    new Map<Value, Value>([
      [1, 'one'],
      [true, 'yes'],
    ]),
    new Date(8.64e15),
  ];
  const code = 'repr([(v, type(v).__name__) for v in task_input])';
  expect(resultOf(code, { input })).toBe(
    "[(None, 'NoneType'), (2, 'int'), (2.5, 'float'), (-0.0, 'float'), (1e+300, 'float'), (1152921504606846976, 'int'), ({(1,)}, 'set'), ([(1, 'one'), (True, 'yes')], 'list'), (8640000000000000.0, 'float')]",
  );
});

describe('a value that cannot cross', () => {
  test.each([
    ['{"items": [1, 2, 3, {"when": object()}]}', 'TypeError', 'result.items[3].when is of type object, which cannot leave the machine: build it of dict'],
    ['{"a b": [{1: {2, object}}]}', 'TypeError', "result['a b'][0][1]{...} is of type type"],
    ['async def f(): pass\n[f()]', 'TypeError', 'did you forget `await`?'],
    ['[len]', 'TypeError', 'did you forget to call it?'],
    ['import datetime\ndatetime.datetime(2024, 1, 1)', 'TypeError', 'result is a datetime without a time zone: use .isoformat(), or give it one'],
    ['import datetime\ndatetime.datetime(2024, 1, 1, microsecond=1, tzinfo=datetime.timezone.utc)', 'TypeError', 'finer than a millisecond'],
    ['import datetime\ndatetime.date(2024, 1, 1)', 'TypeError', 'use .isoformat()'],
    ['import decimal\ndecimal.Decimal(1)', 'TypeError', 'use str(x) or float(x)'],
    ['import dataclasses\n@dataclasses.dataclass\nclass A: x: int\nA(1)', 'TypeError', 'use dataclasses.asdict(x)'],
    ['import enum\nclass E(enum.Enum): A = 1\nE.A', 'TypeError', 'use x.value'],
    ['(i for i in "ab")', 'TypeError', 'use list(x)'],
    ['1j', 'TypeError', 'use [x.real, x.imag]'],
    ['a = []\na.append({"again": a})\na', 'ValueError', 'result[0].again contains itself'],
    ['a = []\nfor _ in range(201): a = [a]\na', 'ValueError', 'more than 200 levels'],
  ])('%s is refused', (code, name, message) => {
    const error = errorOf(code);
    expect(error.name).toBe(name);
    expect(error.message).toContain(message);
  });

  test('runs no code of the program', () => {
    const code = `
def never(*_): raise SystemExit("ran")
Odd = type("Odd", (dict,), {n: never for n in ("__iter__", "keys", "items", "__len__", "__getitem__", "__eq__", "__repr__")})
Text = type("Text", (str,), {n: never for n in ("__str__", "encode", "__len__", "__repr__")})
Whole = type("Whole", (int,), {n: never for n in ("__int__", "__index__", "__str__", "__repr__", "__float__")})
[Odd(a=Text("t")), Whole(2**70), Whole(3)]`;
    expect(resultOf(code)).toEqual([{ a: 't' }, 2n ** 70n, 3]);
  });
});
