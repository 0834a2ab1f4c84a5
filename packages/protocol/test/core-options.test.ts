/** Options: an unknown key is refused, never ignored, and the refusal names the key that was probably meant. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { FermataError } from '../src/errors.ts';
import { parseOptions } from '../src/options.ts';
import { strictOptions } from '../src/strict-options.ts';

const schema = strictOptions({
  timeoutMs: z.number().optional(),
  onEvent: z.string().optional(),
  allowedLibraries: z.string().optional(),
  inner: strictOptions({ path: z.string() }).optional(),
  list: z.array(strictOptions({ name: z.string() })).optional(),
});

function refusal(value: unknown, at?: string): string {
  try {
    parseOptions(schema, value, at);
  } catch (error) {
    if (error instanceof FermataError && error.code === 'invalid_request') return error.message;
    throw error;
  }
  return 'accepted';
}

test.each([
  [{ timeoutMS: 1 }, 'timeoutMs'],
  [{ timeout_ms: 1 }, 'timeoutMs'],
  [{ timeout: 1 }, 'timeoutMs'],
  [{ onevent: '' }, 'onEvent'],
  [{ onEvents: '' }, 'onEvent'],
  [{ allowLibraries: '' }, 'allowedLibraries'],
  [{ allowed: '' }, 'allowedLibraries'],
])('%j means %s', (value, meant) => {
  expect(refusal(value)).toBe(`there is no ${JSON.stringify(Object.keys(value)[0])}; did you mean ${JSON.stringify(meant)}?`);
});

test('a key that is like none gets the list of all', () => {
  expect(refusal({ colour: 1 })).toBe('there is no "colour"; there is timeoutMs, onEvent, allowedLibraries, inner, list');
});

test('the place of a fault is told, however deep', () => {
  expect(refusal({ inner: { pth: 'x' } }, 'options')).toBe('options.inner: there is no "pth"; did you mean "path"?');
  expect(refusal({ list: [{ name: 'a' }, { name: 'b', nmae: 1 }] })).toBe('list.1: there is no "nmae"; did you mean "name"?');
  expect(refusal({ timeoutMs: 'soon' }, 'limits')).toMatch(/^limits\.timeoutMs: .*number/);
});

test('a mistyped key is told before the one that is missing for it', () => {
  expect(refusal({ list: [{ nam: 'a' }] })).toBe('list.0: there is no "nam"; did you mean "name"?');
});

test.each([null, 5, 'text', [], undefined])('%j is no set of options', (value) => {
  expect(refusal(value)).not.toBe('accepted');
});
