/** The check of arguments agrees with the schema: what it takes is never refused, what it refuses is told where it is known. */
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { checkProgram } from '../src/check/check.ts';
import { defineTool } from '../src/tool.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Schema = Record<string, unknown>;

const KEYS = ['alpha', 'beta', 'gamma', 'delta'];
const text = fc.string({ unit: 'grapheme', maxLength: 6 });
const number = fc.oneof(fc.integer({ min: -50, max: 50 }), fc.constantFrom(0.5, 1e21, -2.25));
const leaf: fc.Arbitrary<Schema> = fc.oneof(
  fc.record({ type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'null') }),
  fc.record({ type: fc.constant('string'), minLength: fc.nat(3), maxLength: fc.integer({ min: 3, max: 6 }) }),
  fc.record({ type: fc.constant('integer'), minimum: fc.integer({ min: -5, max: 5 }) }),
  fc.record({ enum: fc.uniqueArray(fc.oneof(text, number, fc.boolean()), { minLength: 1, maxLength: 3, comparator: 'SameValueZero' }) }),
  fc.constant({}),
);
const schemaOf = (depth: number): fc.Arbitrary<Schema> =>
  depth === 0
    ? leaf
    : fc.oneof(
        { weight: 4, arbitrary: leaf },
        { weight: 1, arbitrary: fc.record({ type: fc.constant('array'), items: schemaOf(depth - 1), maxItems: fc.integer({ min: 1, max: 3 }) }) },
        { weight: 1, arbitrary: fc.record({ anyOf: fc.array(schemaOf(depth - 1), { minLength: 1, maxLength: 2 }) }) },
        { weight: 1, arbitrary: objectOf(depth - 1) },
      );
function objectOf(depth: number): fc.Arbitrary<Schema> {
  return fc.record({
    type: fc.constant('object'),
    properties: fc.dictionary(fc.constantFrom(...KEYS), schemaOf(depth), { maxKeys: 4, noNullPrototype: true }),
    required: fc.subarray(KEYS.slice(0, 2)),
    additionalProperties: fc.boolean(),
  });
}
const value: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 2, noNullPrototype: true }),
  ),
})).value;
const record = fc.dictionary(fc.constantFrom(...KEYS, 'other'), value, { maxKeys: 5, noNullPrototype: true });

/** A value as Python writes it. */
function python(given: Json): string {
  if (given === null) return 'None';
  if (typeof given === 'boolean') return given ? 'True' : 'False';
  if (typeof given === 'string')
    return `"${[...given].map((char) => (/[\w ]/.test(char) ? char : `\\U${(char.codePointAt(0) as number).toString(16).padStart(8, '0')}`)).join('')}"`;
  if (Array.isArray(given)) return `[${given.map(python).join(', ')}]`;
  if (typeof given === 'object')
    return `{${Object.entries(given)
      .map(([key, inner]) => `"${key}": ${python(inner)}`)
      .join(', ')}}`;
  return String(given);
}

test('what a zod object takes is judged by zod itself, and not by its JSON Schema', async () => {
  const parameters = z.strictObject({ n: z.coerce.number(), c: z.number().catch(1), s: z.string().min(2) });
  const tool = { ...defineTool({ name: 'act', parameters }), names: ['n', 's'] };
  const rules = async (code: string) => (await checkProgram(code, { language: 'python', libraries: [], tools: [tool] })).map(({ rule }) => rule);
  for (const code of ['tools.act(n="5", s="ab")', 'tools.act(n="5", s=made())', 'tools.act(s=made())']) expect(await rules(code), code).toEqual([]);
  for (const code of ['tools.act(n="five", s="ab")', 'tools.act(n=1, s="a")', 'tools.act(n=made(), s="ab", other=1)'])
    expect(await rules(code), code).toEqual(['invalid_arguments']);
});

const CALLS = {
  python: (args: [string, string][]) => `tools.act(${args.map(([key, shown]) => `${key}=${shown}`).join(', ')})`,
  javascript: (args: [string, string][]) => `await tools.act({ ${args.map(([key, shown]) => `${key}: ${shown}`).join(', ')} })`,
};

async function refusal(language: 'python' | 'javascript', schema: Schema, args: [string, string][]): Promise<string | undefined> {
  const tool = defineTool({ name: 'act', parameters: schema });
  const names = Object.keys(schema.properties as object);
  const [finding, ...more] = await checkProgram(CALLS[language](args), { language, libraries: [], tools: [{ ...tool, names }] });
  expect(more).toEqual([]);
  return finding && `${finding.severity} ${finding.rule}`;
}

test.each(['python', 'javascript'] as const)('%s: where all values are known, what is refused is what the schema refuses', async (language) => {
  const shown = language === 'python' ? python : (given: Json) => JSON.stringify(given);
  const told = { valid: 0, invalid: 0 };
  await fc.assert(
    fc.asyncProperty(objectOf(2), record, async (schema, args) => {
      const valid = new Ajv({ strict: false }).validate(schema, args);
      told[valid ? 'valid' : 'invalid']++;
      const said = await refusal(
        language,
        schema,
        Object.entries(args).map(([key, given]) => [key, shown(given)]),
      );
      expect(said).toBe(valid ? undefined : 'error invalid_arguments');
    }),
    { numRuns: 200 },
  );
  expect(told.valid).toBeGreaterThan(20);
  expect(told.invalid).toBeGreaterThan(20);
});

test.each(['python', 'javascript'] as const)('%s: with values that are not known, nothing is refused that may yet be right', async (language) => {
  const shown = language === 'python' ? python : (given: Json) => JSON.stringify(given);
  await fc.assert(
    fc.asyncProperty(objectOf(2), record, fc.subarray([...KEYS, 'other']), async (schema, args, hidden) => {
      fc.pre(new Ajv({ strict: false }).validate(schema, args));
      const given = Object.entries(args).map(([key, known]): [string, string] => [key, hidden.includes(key) ? 'made()' : shown(known)]);
      expect(await refusal(language, schema, given)).toBeUndefined();
    }),
    { numRuns: 100 },
  );
});
