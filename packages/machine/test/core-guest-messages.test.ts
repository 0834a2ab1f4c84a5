/** What a guest says is checked; a time that it waits for may be any number. */
import { describe, expect, test } from 'vitest';
import { RefusedMessage, readCall, readNote, readSaid, readStack } from '../src/wasm/guest-messages.ts';
import { errorOf } from './run-python.ts';

const LAST_MS = 8.64e15;

test('a wait for ever, or for longer than there are dates, is one for the last moment', () => {
  for (const due of [Number.POSITIVE_INFINITY, 1e300, LAST_MS]) expect(readSaid({ say: 'wait', due })).toEqual({ say: 'wait', due: LAST_MS });
  expect(readSaid({ say: 'wait', due: 1.5 })).toEqual({ say: 'wait', due: 1.5 });
  expect(readSaid({ say: 'wait', due: null })).toEqual({ say: 'wait', due: null });
});

test('what is no time, and no stack, is refused', () => {
  for (const due of [Number.NaN, 'soon', undefined]) expect(() => readSaid({ say: 'wait', due })).toThrow();
  for (const stack of [undefined, 5, [null], new Array(1), [{ file: 'main.py', line: 'x', function: 'f', locals: {} }]]) expect(() => readStack({ stack })).toThrow();
});

describe('a message that a program makes up', () => {
  test('is refused with the place that is wrong', () => {
    expect(() => readSaid({ say: 'whatever' })).toThrow(RefusedMessage);
    expect(() => readCall({ id: 'one', name: 'x', args: {} })).toThrow(/^id: /);
    expect(() => readNote({ note: 'progress', value: 'half' })).toThrow(/^value: /);
  });

  test.each([
    ['a message of no kind', 'emit(99, {})'],
    ['a call out of turn', 'emit(3, {"id": 7, "name": "x", "args": {}})'],
    ['a malformed end', 'exchange({"say": "failed", "error": {"kind": "internal"}})'],
    ['a new beginning', 'exchange({"say": "ready"})'],
  ])('ends the program as its own error: %s', (_, line) => {
    const error = errorOf(`from _fermata import emit, exchange\n${line}`);
    expect(error).toMatchObject({ name: 'SystemError', message: expect.stringContaining('a message of its own') });
  });
});
