/** Random JSON Schemas of a tool's arguments, each with values that it lets through and values that somebody made up. */
import type { Value, ValueRecord } from '@fermata/protocol';
import fc from 'fast-check';

type Schema = Record<string, unknown>;
/** A schema, and what makes values of it. */
interface Made {
  schema: Schema;
  valid: fc.Arbitrary<Value>;
}

export interface Sample {
  schema: Schema;
  valid: ValueRecord[];
  /** Some of them valid by chance. */
  any: ValueRecord[];
}

const text = fc.string({ unit: fc.constantFrom('a', 'B', '0', ' ', '"', "'", '\\', '\n', 'ü', '日', '😀', '\u2028', '*/', '`', '$'), maxLength: 6 });
const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), fc.constantFrom(-0, 2 ** 53, 1e300, 5e-324));
const integer = fc.oneof(fc.integer(), fc.integer({ min: -5, max: 5 }), fc.maxSafeInteger());
/** What a schema without words lets through, JSON or not. */
const anything: fc.Arbitrary<Value> = fc.oneof(
  text,
  number,
  fc.boolean(),
  fc.constantFrom<Value>(null, Number.NaN, Number.POSITIVE_INFINITY),
  fc.bigInt({ min: 2n ** 60n, max: 2n ** 80n }),
  fc.uint8Array({ maxLength: 4 }).map((bytes) => new Uint8Array(bytes)),
  fc.array(fc.oneof(integer, text), { maxLength: 3 }),
);
const NAMES = ['a', 'b', 'name', 'from', 'class', 'a-b', 'x y', '$id', 'type', 'default', 'self', 'tools', '__init', 'toString', 'constructor'];

const plain: fc.Arbitrary<Made> = fc.oneof(
  fc.constant({ schema: {}, valid: anything }),
  fc.constant({ schema: { type: 'string' }, valid: text }),
  fc.constant({ schema: { type: 'string', minLength: 1, pattern: '^a' }, valid: text.map((rest) => `a${rest}`) }),
  fc.constant({ schema: { type: 'number' }, valid: number }),
  fc.constant({ schema: { type: 'number', minimum: 0, exclusiveMaximum: 100 }, valid: fc.double({ min: 0, max: 99, noNaN: true }) }),
  fc.constant({ schema: { type: 'integer' }, valid: integer }),
  fc.constant({ schema: { type: 'boolean', default: true }, valid: fc.boolean() }),
  fc.constant({ schema: { type: ['string', 'null'], default: null }, valid: fc.oneof(text, fc.constant(null)) }),
  fc
    .uniqueArray(fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)), { minLength: 1, maxLength: 4 })
    .map((values) => ({ schema: { enum: values }, valid: fc.constantFrom(...values) })),
  fc.oneof(text, fc.integer()).map((value) => ({ schema: { const: value }, valid: fc.constant(value) })),
);

const made: fc.Arbitrary<Made> = fc.letrec<{ one: Made }>((tie) => ({
  one: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    plain,
    fc.array(tie('one'), { minLength: 2, maxLength: 3 }).map((of) => ({ schema: { anyOf: of.map(({ schema }) => schema) }, valid: fc.oneof(...of.map(({ valid }) => valid)) })),
    tie('one').map(({ schema, valid }) => ({ schema: { type: 'array', items: schema, maxItems: 3 }, valid: fc.array(valid, { maxLength: 3 }) })),
    tie('one').map(({ schema, valid }) => ({
      schema: { type: 'object', additionalProperties: schema },
      valid: fc.dictionary(fc.constantFrom('k', 'l m', '日'), valid, { maxKeys: 2, noNullPrototype: true }),
    })),
    record(tie('one')),
  ),
})).one;

function record(of: fc.Arbitrary<Made>): fc.Arbitrary<Made & { valid: fc.Arbitrary<ValueRecord> }> {
  const fields = fc.uniqueArray(fc.tuple(fc.constantFrom(...NAMES), of, fc.boolean()), { selector: ([name]) => name, maxLength: 4 });
  return fc.tuple(fields, fc.boolean()).map(([given, open]) => ({
    schema: {
      type: 'object',
      properties: Object.fromEntries(given.map(([name, { schema }]) => [name, schema])),
      required: given.filter(([, , required]) => required).map(([name]) => name),
      ...(open ? {} : { additionalProperties: false }),
    },
    valid: fc.record(Object.fromEntries(given.map(([name, { valid }]) => [name, valid])), {
      requiredKeys: given.filter(([, , required]) => required).map(([name]) => name),
      noNullPrototype: true,
    }),
  }));
}

/** A tree, which leads to itself. */
const tree = fc.letrec<{ node: ValueRecord }>((tie) => ({
  node: fc.record(
    { label: text, below: fc.oneof({ maxDepth: 3 }, fc.constant([]), fc.array(tie('node'), { maxLength: 2 })) },
    { noNullPrototype: true },
  ) as fc.Arbitrary<ValueRecord>,
})).node;
const recursive: Made & { valid: fc.Arbitrary<ValueRecord> } = {
  schema: {
    type: 'object',
    properties: { root: { $ref: '#/$defs/node' } },
    required: ['root'],
    $defs: { node: { type: 'object', properties: { label: { type: 'string' }, below: { type: 'array', items: { $ref: '#/$defs/node' } } }, required: ['label', 'below'] } },
  },
  valid: fc.record({ root: tree }, { noNullPrototype: true }),
};

export const sample: fc.Arbitrary<Sample> = fc.oneof({ weight: 15, arbitrary: record(made) }, { weight: 1, arbitrary: fc.constant(recursive) }).chain(({ schema, valid }) =>
  fc.record({
    schema: fc.constant(schema),
    valid: fc.array(valid, { minLength: 2, maxLength: 3 }),
    any: fc.array(fc.oneof(fc.dictionary(fc.constantFrom(...NAMES), anything, { maxKeys: 3, noNullPrototype: true }), valid.chain(spoiled)), { minLength: 4, maxLength: 6 }),
  }),
);

/** With another value, or none, in one of its places. */
function spoiled(value: ValueRecord): fc.Arbitrary<ValueRecord> {
  const names = Object.keys(value);
  if (names.length === 0) return fc.constant({ other: 1 });
  return fc.tuple(fc.constantFrom(...names), anything, fc.boolean()).map(([name, other, gone]) => {
    const { [name]: _, ...rest } = value;
    return gone ? rest : { ...rest, [name]: other };
  });
}
