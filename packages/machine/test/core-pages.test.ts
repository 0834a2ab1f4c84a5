/** A memory as its difference from the base: comes back equal, except that dead regions are as the base has them. */
import { FermataError } from '@fermata/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteReader, ByteWriter, Truncated } from '../src/wasm/bytes.ts';
import { aliveParts, PAGE, type Region, readPages, writePages } from '../src/wasm/pages.ts';

const BASE_PAGES = 4;
const base = new Uint8Array(BASE_PAGES * PAGE).map((_, i) => (i * 7) % 251);

const poke = fc.record({ at: fc.nat(8 * PAGE - 1), byte: fc.nat(255), length: fc.constantFrom(1, 3, 100, PAGE, 2 * PAGE) });
/** Sorted regions that do not overlap. */
const regions = fc.uniqueArray(fc.nat(8 * PAGE), { maxLength: 8 }).map((cuts) => {
  const sorted = cuts.sort((a, b) => a - b);
  return Array.from({ length: sorted.length >> 1 }, (_, i): Region => ({ start: sorted[2 * i] as number, end: sorted[2 * i + 1] as number }));
});
const pages = fc.integer({ min: BASE_PAGES, max: 8 });

function memoryWith(pageCount: number, pokes: readonly { at: number; byte: number; length: number }[]): Uint8Array {
  const memory = new Uint8Array(pageCount * PAGE);
  memory.set(base);
  for (const { at, byte, length } of pokes) memory.subarray(at, at + length).fill(byte);
  return memory;
}
function written(memory: Uint8Array, dead: readonly Region[]): Uint8Array {
  const writer = new ByteWriter();
  writePages(writer, memory, base, dead);
  return writer.finish();
}
function restored(bytes: Uint8Array, pageCount: number): Uint8Array {
  const memory = memoryWith(pageCount, []);
  const reader = new ByteReader(bytes);
  readPages(reader, memory);
  expect(reader.remaining).toBe(0);
  return memory;
}

test('a memory comes back with its dead regions as in the base', () => {
  fc.assert(
    fc.property(pages, fc.array(poke, { maxLength: 8 }), regions, (pageCount, pokes, dead) => {
      const memory = memoryWith(pageCount, pokes);
      const expected = memory.slice();
      const fresh = memoryWith(pageCount, []);
      for (const { start, end } of dead) expected.set(fresh.subarray(start, end), Math.min(start, expected.length));
      expect(Buffer.compare(restored(written(memory, dead), pageCount), expected)).toBe(0);
    }),
  );
});

test('what lies in dead regions leaves no trace in the bytes', () => {
  fc.assert(
    fc.property(fc.array(poke, { maxLength: 8 }), fc.nat(255), regions, (pokes, garbage, dead) => {
      const memory = memoryWith(8, pokes);
      const other = memory.slice();
      for (const { start, end } of dead) other.fill(garbage, start, end);
      expect(Buffer.compare(written(memory, dead), written(other, dead))).toBe(0);
      expect(Buffer.concat([...aliveParts(memory, dead)])).toEqual(Buffer.concat([...aliveParts(other, dead)]));
    }),
  );
});

test('an unchanged memory takes one byte, a changed byte its word and a bit for each word of the page', () => {
  expect(written(memoryWith(8, []), []).length).toBe(1);
  expect(written(memoryWith(8, [{ at: 5 * PAGE, byte: 1, length: 1 }]), []).length).toBe(2 + 64 + 8);
});

test('bytes that are cut, or name a page beyond the memory, are refused by name', () => {
  const bytes = written(memoryWith(8, [{ at: 7 * PAGE, byte: 1, length: 1 }]), []);
  expect(() => restored(bytes, 7)).toThrow(expect.objectContaining({ code: 'checkpoint_invalid' }));
  for (const length of [0, 1, 2, 40, bytes.length - 1]) expect(() => restored(bytes.subarray(0, length), 8)).toThrow(Truncated);
});

test('any bytes whatever are applied or refused, and write nowhere else', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(2), (head, tail) => {
      const around = new Uint8Array(4 * PAGE);
      try {
        readPages(new ByteReader(Buffer.concat([head, new Uint8Array(tail * PAGE).fill(1)])), around.subarray(PAGE, 3 * PAGE));
      } catch (error) {
        if (!(error instanceof Truncated) && !(error instanceof FermataError)) throw error;
      }
      expect([...around.subarray(0, PAGE), ...around.subarray(3 * PAGE)].every((byte) => byte === 0)).toBe(true);
    }),
  );
});
