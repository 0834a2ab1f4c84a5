/** The table of error codes is well formed, and an error carries its code, hint and cause. */
import { describe, expect, test } from 'vitest';
import { ERROR_CODES, FermataError } from '../src/errors.ts';

describe('the table of error codes', () => {
  test.each(Object.entries(ERROR_CODES))('%s has a stable form, a class and a sentence', (code, entry) => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(['guest', 'limit', 'request', 'system']).toContain(entry.class);
    expect(entry.text).toMatch(/^[A-Z].*\.$/);
  });

  test('says something different for every code', () => {
    const texts = Object.values(ERROR_CODES).map(({ text }) => text);
    expect(new Set(texts).size).toBe(texts.length);
  });
});

test('an error carries its code, hint and cause', () => {
  const cause = new Error('why');
  const error = new FermataError('internal', 'what', { hint: 'do this', cause });
  expect(error).toMatchObject({ name: 'FermataError', code: 'internal', message: 'what', hint: 'do this', cause });
  expect('cause' in new FermataError('internal', 'what')).toBe(false);
});
