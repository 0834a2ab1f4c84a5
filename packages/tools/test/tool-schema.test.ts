/** Tools whose schemas are of zod, of another library that keeps to the Standard Schema, or JSON Schema: all behave alike. */
import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { StandardSchema } from '../src/index.ts';
import { defineTool } from '../src/tool.ts';

const JSON_SCHEMA = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const;

/** What a library of its own kind would make of `JSON_SCHEMA`. */
function other(more: Partial<StandardSchema<{ n: number }>['~standard']> = {}): StandardSchema<{ n: number }> {
  return {
    '~standard': {
      ...{ version: 1, vendor: 'other' },
      validate: (value) => {
        const { n } = value as { n: unknown };
        return Number.isInteger(n) ? { value: { n: Number(n) } } : { issues: [{ message: 'must be integer', path: [{ key: 'n' }] }] };
      },
      jsonSchema: { input: () => JSON_SCHEMA, output: () => JSON_SCHEMA },
      ...more,
    },
  };
}
const kinds = { zod: z.object({ n: z.int() }), other: other(), json: JSON_SCHEMA };

test.each(Object.entries(kinds))('%s', async (_kind, parameters) => {
  const tool = defineTool({ name: 'count', parameters, result: parameters, execute: ({ n }) => (n === 2 ? { n: 'two' } : { n: Number(n) }) });
  expect(tool.parameters).toMatchObject(JSON_SCHEMA);
  expect(tool.result).toMatchObject(JSON_SCHEMA);
  expect(tool.check({ n: 1 })).toEqual({ n: 1 });
  expect(() => tool.check({ n: 'x' })).toThrow(
    expect.objectContaining({ name: 'InvalidArguments', message: expect.stringMatching(/^invalid arguments for count: n /), data: { path: 'n' } }),
  );
  expect(await tool.execute?.({ n: 1 } as never, undefined as never)).toEqual({ n: 1 });
  await expect(tool.execute?.({ n: 2 } as never, undefined as never)).rejects.toMatchObject({ name: 'InvalidResult', data: { path: 'n' } });
});

test('arguments have the type that the schema gives them', () => {
  defineTool({ name: 'a', parameters: kinds.zod, execute: (args) => expectTypeOf(args).toEqualTypeOf<{ n: number }>() });
  defineTool({ name: 'b', parameters: kinds.other, execute: (args) => expectTypeOf(args).toEqualTypeOf<{ n: number }>() });
  defineTool({ name: 'c', parameters: JSON_SCHEMA, execute: (args) => expectTypeOf(args).toEqualTypeOf<{ n: number }>() });
});

test('a schema that does not say what it is, or answers later, is refused by an error that says so', () => {
  expect(() => defineTool({ name: 'a', parameters: other({ jsonSchema: undefined }) })).toThrow('are a schema of other, which does not say what it is as a JSON Schema');
  const failing = () => {
    throw new Error('no way');
  };
  expect(() => defineTool({ name: 'a', parameters: other({ jsonSchema: { input: failing, output: failing } }) })).toThrow('tool a: its parameters have no JSON Schema: no way');
  const late = defineTool({ name: 'a', parameters: other({ validate: () => Promise.reject(new Error('later')) }) });
  expect(() => late.check({ n: 1 })).toThrow('one that answers at once is wanted');
});

test('rules see what a schema makes of arguments, and what was given', () => {
  const renamed = z.object({ who: z.string().toLowerCase(), mode: z.string().default('fast') }).transform(({ who, mode }) => ({ name: who, mode }));
  const tool = defineTool({ name: 'a', parameters: renamed as never });
  expect(tool.judged?.({ who: 'ADMIN' })).toEqual({ who: 'ADMIN', name: 'admin', mode: 'fast' });
  expect(defineTool({ name: 'b', parameters: JSON_SCHEMA }).judged).toBeUndefined();
});
