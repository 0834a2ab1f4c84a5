/** A schema of somebody else takes a bounded time, however it is made; one without branches needs no clock. */
import { expect, test } from 'vitest';
import { defineTool } from '../src/index.ts';
import { inTime, TookTooLong } from '../src/judged-in-time.ts';

/** Each level asks for the one below twice. */
function doubled(levels: number, keyword: 'anyOf' | 'oneOf' | 'allOf'): Record<string, unknown> {
  const $defs: Record<string, unknown> = { d0: keyword === 'allOf' ? { minimum: 0 } : { type: 'string', minLength: 1 } };
  for (let i = 1; i <= levels; i++) $defs[`d${i}`] = { [keyword]: [{ $ref: `#/$defs/d${i - 1}` }, { $ref: `#/$defs/d${i - 1}` }] };
  return { type: 'object', $defs, properties: { a: { $ref: `#/$defs/d${levels}` } } };
}

test.each(['anyOf', 'oneOf', 'allOf'] as const)('branches that multiply (%s) are refused by an error that names the schema', (keyword) => {
  const tool = defineTool({ name: 'deep', parameters: doubled(40, keyword) });
  expect(() => tool.check({ a: 1 })).toThrow("invalid arguments for deep: the tool's JSON Schema is too slow to judge this");
  expect(tool.check({})).toEqual({});
});

test.each([
  ['names that are to fit patterns', { patternProperties: { '^(a+)+$': { type: 'number' } } }, { [`${'a'.repeat(40)}!`]: 1 }],
  ['items that are to differ', { properties: { a: { type: 'array', uniqueItems: true } } }, { a: Array.from({ length: 60_000 }, (_, i) => ({ i })) }],
])('%s are refused, too', (_what, schema, args) => {
  expect(() => defineTool({ name: 'slow', parameters: { type: 'object', ...schema } }).check(args as never)).toThrow(/is too slow to judge this/);
});

test('what fits, and what does not, is told as before by schemas of all kinds', () => {
  const branches = defineTool({ name: 'x', parameters: { type: 'object', properties: { a: { anyOf: [{ type: 'string', pattern: '^a' }, { type: 'number' }] } } } });
  expect(branches.check({ a: 'ab' })).toEqual({ a: 'ab' });
  expect(() => branches.check({ a: 'b' })).toThrow('invalid arguments for x: a must match pattern "^a"');
  const plain = defineTool({ name: 'y', parameters: { type: 'object', properties: { a: { type: 'array', items: { enum: [1, 2] } } }, additionalProperties: false } });
  expect(plain.check({ a: [1, 2] })).toEqual({ a: [1, 2] });
  expect(() => plain.check({ a: [3] })).toThrow('invalid arguments for y: a.0 must be equal to one of the allowed values');
});

test('a schema that names its draft is judged by that draft', () => {
  const newest = defineTool({
    name: 'x',
    parameters: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', properties: { a: { prefixItems: [{ type: 'number' }] } } },
  });
  expect(newest.check({ a: [1] })).toEqual({ a: [1] });
  expect(() => newest.check({ a: ['1'] })).toThrow('a.0 must be number');
  const older = defineTool({ name: 'y', parameters: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { a: { items: [{ type: 'number' }] } } } });
  expect(() => older.check({ a: ['1'] })).toThrow('a.0 must be number');
});

test('a judgement hands on its value and its own error, also one in another', () => {
  expect(inTime(() => inTime(() => 1) + 1)).toBe(2);
  expect(() => inTime(() => JSON.parse('{'))).toThrow(SyntaxError);
  expect(() =>
    inTime(() => {
      for (;;);
    }, 20),
  ).toThrow(TookTooLong);
});
