/**
 * The memory of a machine as its difference from the base image: for each 4 KiB page that differs, which of its words do,
 * and these words XORed with the base's. A page of a waiting program differs in a few words, so little is left to compress.
 *
 * Dead regions (the host's own words, and what lies beyond the used part of the Asyncify stack) are taken as the base has
 * them, so that they never appear in a snapshot or a hash. Bytes below the shadow stack's pointer are not dead: a later
 * frame may leave some of them as they are, and then they are part of the live stack.
 */
import { FermataError } from '@fermata/protocol';
import type { ByteReader, ByteWriter } from './bytes.ts';

export const PAGE = 4096;
/** Compared at once, before the pages within. */
const BLOCK = 64 * 1024;
/** A word of a delta, in bytes; of a page's 512 words one bit each says whether it is there. */
const WORD = 8;
const WORDS = PAGE / WORD;
const BITMAP = WORDS / 8;
const zeros = Buffer.alloc(BLOCK);

/** Bytes `start` up to, not including, `end`. */
export interface Region {
  start: number;
  end: number;
}

/** The pages that differ. `dead` regions are sorted and do not overlap. */
export function writePages(writer: ByteWriter, memory: Uint8Array, base: Uint8Array, dead: readonly Region[]): void {
  const deltas: { page: number; delta: PageDelta }[] = [];
  for (const at of differing(memory, base)) {
    const hidden = dead.filter((region) => region.start < at + PAGE && region.end > at);
    const delta = deltaOf(memory, base, at, hidden);
    if (delta.words.length > 0) deltas.push({ page: at / PAGE, delta });
  }
  writer.varint(deltas.length);
  let last = -1;
  for (const { page } of deltas) {
    writer.varint(page - last - 1);
    last = page;
  }
  for (const { delta } of deltas) writer.raw(delta.bitmap);
  for (const { delta } of deltas) writer.raw(delta.words);
}

/** Applies what {@link writePages} wrote to a memory that holds the base; throws `checkpoint_invalid` on nonsense. */
export function readPages(reader: ByteReader, memory: Uint8Array): void {
  const pages: number[] = [];
  let page = -1;
  for (let left = reader.count(); left > 0; left--) {
    page += reader.varint() + 1;
    if ((page + 1) * PAGE > memory.length) throw new FermataError('checkpoint_invalid', `the snapshot names page ${page} beyond its memory`);
    pages.push(page);
  }
  const bitmaps = reader.raw(pages.length * BITMAP);
  for (const [i, index] of pages.entries()) {
    const bitmap = bitmaps.subarray(i * BITMAP, (i + 1) * BITMAP);
    const words = reader.raw(WORD * ones(bitmap));
    let from = 0;
    for (let word = 0; word < WORDS; word++) {
      if (((bitmap[word >> 3] as number) & (1 << (word & 7))) === 0) continue;
      const to = index * PAGE + word * WORD;
      for (let byte = 0; byte < WORD; byte++) memory[to + byte] = (memory[to + byte] as number) ^ (words[from++] as number);
    }
  }
}

/** Where pages differ from the base, or from zero beyond it. */
function* differing(memory: Uint8Array, base: Uint8Array): Generator<number> {
  const [now, was] = [memory, base].map((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) as [Buffer, Buffer];
  const same = (start: number, end: number) => {
    const inBase = Math.min(end, was.length);
    if (start >= inBase) return now.compare(zeros, 0, end - start, start, end) === 0;
    return now.compare(was, start, inBase, start, inBase) === 0 && (inBase === end || now.compare(zeros, 0, end - inBase, inBase, end) === 0);
  };
  for (let block = 0; block < now.length; block += BLOCK) {
    const end = Math.min(block + BLOCK, now.length);
    if (same(block, end)) continue;
    for (let at = block; at < end; at += PAGE) if (!same(at, at + PAGE)) yield at;
  }
}

interface PageDelta {
  bitmap: Uint8Array;
  words: Uint8Array;
}

function deltaOf(memory: Uint8Array, base: Uint8Array, at: number, hidden: readonly Region[]): PageDelta {
  const now = new Uint32Array(memory.slice(at, at + PAGE).buffer);
  if (at < base.length) {
    const was = new Uint32Array(base.buffer, base.byteOffset + at, PAGE / 4);
    for (let i = 0; i < now.length; i++) now[i] = (now[i] as number) ^ (was[i] as number);
  }
  const bytes = new Uint8Array(now.buffer);
  for (const { start, end } of hidden) bytes.fill(0, Math.max(start - at, 0), Math.min(end - at, PAGE));
  const bitmap = new Uint8Array(BITMAP);
  const words = new Uint32Array(now.length);
  let used = 0;
  for (let word = 0; word < WORDS; word++) {
    const [low, high] = [now[2 * word] as number, now[2 * word + 1] as number];
    if ((low | high) === 0) continue;
    bitmap[word >> 3] = (bitmap[word >> 3] as number) | (1 << (word & 7));
    words[used++] = low;
    words[used++] = high;
  }
  return { bitmap, words: new Uint8Array(words.buffer.slice(0, 4 * used)) };
}

function ones(bitmap: Uint8Array): number {
  let count = 0;
  for (const byte of bitmap) for (let bits = byte; bits > 0; bits &= bits - 1) count++;
  return count;
}

/** The parts of a memory that are alive, in order. */
export function* aliveParts(memory: Uint8Array, dead: readonly Region[]): Generator<Uint8Array> {
  let at = 0;
  for (const region of dead) {
    if (region.start > at) yield memory.subarray(at, region.start);
    at = Math.max(at, region.end);
  }
  yield memory.subarray(at);
}
