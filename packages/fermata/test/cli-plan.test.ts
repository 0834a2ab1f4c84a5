/** What a person is asked to agree to is told apart by what it waits for, and not by a name that a tool may have. */
import { expect, test } from 'vitest';
import { isPlan } from '../src/cli/plan.ts';

test('only a review is a program of a model: a call of a tool that is named like one is shown as a call', () => {
  const shown = { tool: 'plan', arguments: { value: { language: 'python', code: '1' } } };
  expect(isPlan({ ...shown, kind: 'review' })).toBe(true);
  expect(isPlan({ ...shown, kind: 'approval' })).toBe(false);
  expect(isPlan({ kind: 'review', tool: 'review', arguments: shown.arguments })).toBe(false);
});
