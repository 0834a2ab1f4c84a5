/** Compiled schemas are shared between tools that bring the same one, and do not pile up. */
import { Ajv } from 'ajv';
import { expect, test, vi } from 'vitest';
import { schemaCheck } from '../src/schema-check.ts';

const numbers = () => ({ type: 'object', properties: { n: { type: 'number' } }, required: ['n'] });

test('a schema that comes again is not compiled again, and one that differs is', () => {
  const ajv = new Ajv();
  const compile = vi.spyOn(ajv, 'compile');
  const first = schemaCheck(ajv, numbers());
  expect(schemaCheck(ajv, numbers())).toBe(first);
  expect(compile).toHaveBeenCalledTimes(1);
  const other = schemaCheck(ajv, { ...numbers(), required: [] });
  expect([first({}), other({})]).toEqual([expect.objectContaining({ keyword: 'required' }), undefined]);
});

test('a schema that was changed after it was used is judged as it is now', () => {
  const ajv = new Ajv();
  const schema: Record<string, unknown> = numbers();
  schemaCheck(ajv, schema);
  schema.required = [];
  expect(schemaCheck(ajv, schema)({})).toBeUndefined();
});

test('two schemas with one $id do not get in each other’s way', () => {
  const ajv = new Ajv();
  const text = schemaCheck(ajv, { $id: 'https://example.com/a', type: 'string' });
  const number = schemaCheck(ajv, { $id: 'https://example.com/a', type: 'number' });
  expect([text('x'), number(1), number('x')]).toEqual([undefined, undefined, expect.objectContaining({ keyword: 'type' })]);
});

test('of many schemas only the newest are kept', () => {
  const ajv = new Ajv();
  const compile = vi.spyOn(ajv, 'compile');
  for (let n = 0; n < 1100; n++) schemaCheck(ajv, { const: n });
  schemaCheck(ajv, { const: 1099 });
  expect(compile).toHaveBeenCalledTimes(1100);
  schemaCheck(ajv, { const: 0 });
  expect(compile).toHaveBeenCalledTimes(1101);
});
