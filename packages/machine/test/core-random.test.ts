/** The random bytes of a machine: a constant of the seed, never the same twice, and a saved source draws on. */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RandomSource } from '../src/wasm/random.ts';

const seed = fc.uint8Array({ minLength: 32, maxLength: 32 });
const draw = (source: RandomSource, length: number) => {
  const bytes = new Uint8Array(length);
  source.fill(bytes);
  return Buffer.from(bytes).toString('hex');
};

test('a source made from a saved state draws on as the first one would have', () => {
  fc.assert(
    fc.property(seed, fc.array(fc.nat(70)), fc.array(fc.nat(70), { minLength: 1 }), (seed, before, after) => {
      const first = new RandomSource(seed);
      for (const length of before) draw(first, length);
      const second = new RandomSource(first.state.seed, first.state.blocks);
      expect(after.map((length) => draw(second, length))).toEqual(after.map((length) => draw(first, length)));
    }),
  );
});

test('no two draws of one source give the same bytes, nor do two seeds', () => {
  const source = new RandomSource(randomBytes(32));
  const drawn = Array.from({ length: 500 }, (_, i) => draw(source, 16 + (i % 3)).slice(0, 32));
  expect(new Set(drawn).size).toBe(500);
  expect(draw(new RandomSource(randomBytes(32)), 16)).not.toBe(draw(new RandomSource(randomBytes(32)), 16));
});

test('the stream is a constant of the seed, so that replay on another version agrees', () => {
  expect(draw(new RandomSource(new Uint8Array(32)), 16)).toBe('dc95c078a2408989ad48a21492842087');
});
