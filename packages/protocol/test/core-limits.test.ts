/** Limits: the defaults and least values, and what is refused. */
import { describe, expect, test } from 'vitest';
import { ERROR_CODES } from '../src/errors.ts';
import { LIMITS, type Limits } from '../src/limits.ts';
import { limitsSchema } from '../src/limits-schema.ts';

const MiB = 1024 * 1024;
const minima: Limits = {
  timeoutMs: 10,
  maxCpuMs: 10,
  maxMemoryBytes: MiB,
  maxDiskBytes: 0,
  maxOutputBytes: 0,
  maxToolCalls: 0,
  maxCallsAtOnce: 1,
  maxJournalBytes: MiB,
  maxCheckpointBytes: MiB,
};
const names = Object.keys(minima) as (keyof Limits)[];

describe('limits', () => {
  test('all have a default, whether absent, undefined or not given at all', () => {
    const defaults = limitsSchema.parse(undefined);
    expect(Object.keys(defaults).sort()).toEqual([...names].sort());
    expect(limitsSchema.parse({})).toEqual(defaults);
    expect(limitsSchema.parse(Object.fromEntries(names.map((name) => [name, undefined])))).toEqual(defaults);
  });

  test('the defaults are 5 minutes, 1 minute of processor, 256 MiB, 64 MiB of files, 1 MiB of output, 1000 calls and 16 of them at once, 256 MiB of journal and of a checkpoint', () => {
    expect(limitsSchema.parse({})).toEqual({
      ...{ timeoutMs: 300_000, maxCpuMs: 60_000, maxMemoryBytes: 256 * MiB, maxDiskBytes: 64 * MiB, maxOutputBytes: MiB },
      ...{ maxToolCalls: 1000, maxCallsAtOnce: 16, maxJournalBytes: 256 * MiB, maxCheckpointBytes: 256 * MiB },
    });
  });

  test('the minima are accepted', () => {
    expect(limitsSchema.parse(minima)).toEqual(minima);
  });

  test.each(names)('%s below its minimum, broken, infinite or no number is refused', (name) => {
    for (const value of [minima[name] - 1, minima[name] + 0.5, Number.NaN, Number.POSITIVE_INFINITY, String(minima[name]), null]) {
      expect(limitsSchema.safeParse({ [name]: value }).success, `${value}`).toBe(false);
    }
  });

  test('an unknown limit is refused, not ignored', () => {
    expect(limitsSchema.safeParse({ maxCpu: 10 }).success).toBe(false);
  });
});

describe('the words of the limits', () => {
  const words = Object.values(LIMITS);
  test('there is one entry for each option, and one for each code of the class', () => {
    expect(words.map(({ option }) => option).sort()).toEqual([...names].sort());
    const codes = Object.entries(ERROR_CODES).filter(([, entry]) => entry.class === 'limit');
    expect(words.flatMap(({ code }) => code ?? []).sort()).toEqual(codes.map(([code]) => code).sort());
  });
  test.each(words)('the advice on $option calls it by the name that the reader knows', ({ advice, option, flag }) => {
    expect(advice(option)).toContain(option);
    expect(advice(flag)).toContain(flag);
    expect(advice(flag)).not.toContain(option);
  });
});
