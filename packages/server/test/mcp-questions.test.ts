/** What a person is asked by an MCP client: all of what they decide on, or how much of it they do not see. */
import { expect, test } from 'vitest';
import { questionOf } from '../src/mcp/follow-task.ts';

test('a call is asked about with its arguments, and what is not shown of them is said', () => {
  expect(questionOf({ kind: 'approval', tool: 'pay', arguments: { cents: 3 } })).toBe('A program wants to call pay with {"cents":3}. Allow it?');
  const long = questionOf({ kind: 'approval', tool: 'pay', arguments: { note: 'x'.repeat(5_000), to: 'eve' } });
  expect(long).not.toContain('eve');
  expect(long).toContain('[cut: 1022 of 5022 characters are not shown here]');
});

test('a program that a model has written is asked about as that, a value of a program as a value', () => {
  const value = { language: 'python', code: 'tools.pay(cents=3)\n' };
  expect(questionOf({ kind: 'review', tool: 'plan', arguments: { value } })).toBe('A model has written this program in python. Run it?\n\ntools.pay(cents=3)\n');
  expect(questionOf({ kind: 'review', tool: 'review', arguments: { value } })).toBe(`A program asks you to confirm this value: ${JSON.stringify(value)}`);
  expect(questionOf({ kind: 'review', tool: 'review', arguments: { value: null } })).toContain('{"value":null}');
});
