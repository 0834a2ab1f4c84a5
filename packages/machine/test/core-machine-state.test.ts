/** A saved state is the same whichever version has written it: what came later is left out where it says nothing. */
import { limitsSchema } from '@fermata/protocol/schemas';
import { expect, test } from 'vitest';
import { loadImage } from '../src/wasm/image-store.ts';
import { stateFromValue, stateToValue } from '../src/wasm/machine-state.ts';

const { baseState } = await loadImage('quickjs');
const LIMITS = ['timeoutMs', 'maxCpuMs', 'maxMemoryBytes', 'maxDiskBytes', 'maxOutputBytes', 'maxToolCalls'];

test('the state of a base names the limits that it always named, read and written again, too', () => {
  const written = stateToValue(baseState) as { limits: object };
  expect(Object.keys(written.limits)).toEqual(LIMITS);
  expect(written).not.toHaveProperty('noteBytes');
  expect(stateToValue(stateFromValue(written as never))).toEqual(written);
  expect(stateFromValue(written as never).limits).toEqual(limitsSchema.parse({}));
});

test('limits that are not the default, and notes, come back', () => {
  const state = { ...baseState, noteBytes: 7, limits: limitsSchema.parse({ maxCallsAtOnce: 3, maxJournalBytes: 2 ** 20 }) };
  expect(stateFromValue(stateToValue(state))).toEqual(state);
});
