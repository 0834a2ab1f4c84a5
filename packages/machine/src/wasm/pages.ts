/**
 * The memory of a machine as its difference from the base image: 4 KiB pages, each XORed with the base's page at the
 * same place, which leaves mostly zeros for the compressor.
 *
 * Dead regions (the host's own words, and what lies beyond the used part of the Asyncify stack) are taken as the base has
 * them, so that they never appear in a snapshot or a hash. Bytes below the shadow stack's pointer are not dead: a later
 * frame may leave some of them as they are, and then they are part of the live stack.
 */
import { FermataError } from '@fermata/protocol';
import type { ByteReader, ByteWriter } from './bytes.ts';

export const PAGE = 4096;
const WORDS = PAGE / 4;
const zeroPage = Buffer.alloc(PAGE);

/** Bytes `start` up to, not including, `end`. */
export interface Region {
  start: number;
  end: number;
}

/** The pages that differ. `dead` regions are sorted and do not overlap. */
export function writePages(writer: ByteWriter, memory: Uint8Array, base: Uint8Array, dead: readonly Region[]): void {
  const changed: number[] = [];
  const xored: Uint32Array[] = [];
  const view = Buffer.from(memory.buffer, memory.byteOffset, memory.byteLength);
  const baseView = Buffer.from(base.buffer, base.byteOffset, base.byteLength);
  for (let at = 0; at < memory.length; at += PAGE) {
    const hidden = dead.filter((region) => region.start < at + PAGE && region.end > at);
    if (hidden.some((region) => region.start <= at && region.end >= at + PAGE)) continue;
    const inBase = at < base.length;
    const same = inBase ? view.compare(baseView, at, at + PAGE, at, at + PAGE) === 0 : view.compare(zeroPage, 0, PAGE, at, at + PAGE) === 0;
    if (same) continue;
    const delta = new Uint32Array(WORDS);
    const now = new Uint32Array(memory.buffer, memory.byteOffset + at, WORDS);
    if (inBase) {
      const was = new Uint32Array(base.buffer, base.byteOffset + at, WORDS);
      for (let i = 0; i < WORDS; i++) delta[i] = (now[i] as number) ^ (was[i] as number);
    } else {
      delta.set(now);
    }
    const bytes = new Uint8Array(delta.buffer);
    for (const region of hidden) bytes.fill(0, Math.max(region.start - at, 0), Math.min(region.end - at, PAGE));
    if (bytes.every((byte) => byte === 0)) continue;
    changed.push(at / PAGE);
    xored.push(delta);
  }
  writer.varint(changed.length);
  let last = -1;
  for (const page of changed) {
    writer.varint(page - last - 1);
    last = page;
  }
  for (const delta of xored) writer.raw(new Uint8Array(delta.buffer));
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
  const delta = new Uint32Array(WORDS);
  const deltaBytes = new Uint8Array(delta.buffer);
  for (const index of pages) {
    deltaBytes.set(reader.raw(PAGE));
    const target = new Uint32Array(memory.buffer, memory.byteOffset + index * PAGE, WORDS);
    for (let i = 0; i < WORDS; i++) target[i] = (target[i] as number) ^ (delta[i] as number);
  }
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
