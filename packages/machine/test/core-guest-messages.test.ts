/** What a guest says is checked; a time that it waits for may be any number. */
import { expect, test } from 'vitest';
import { readSaid, readStack } from '../src/wasm/guest-messages.ts';

const LAST_MS = 8.64e15;

test('a wait for ever, or for longer than there are dates, is one for the last moment', () => {
  for (const due of [Number.POSITIVE_INFINITY, 1e300, LAST_MS]) expect(readSaid({ say: 'wait', due })).toEqual({ say: 'wait', due: LAST_MS });
  expect(readSaid({ say: 'wait', due: 1.5 })).toEqual({ say: 'wait', due: 1.5 });
  expect(readSaid({ say: 'wait', due: null })).toEqual({ say: 'wait', due: null });
});

test('what is no time, and no stack, is refused', () => {
  for (const due of [Number.NaN, 'soon', undefined]) expect(() => readSaid({ say: 'wait', due })).toThrow();
  for (const stack of [undefined, 5, [null], [{ file: 'main.py', line: 'x', function: 'f', locals: {} }]]) expect(() => readStack({ stack })).toThrow();
});
