/**
 * An image: a compiled guest, its read-only files, and the base, which is the memory of a guest that has booted and
 * waits for a program. All machines of an image start from the base and are snapshotted against it.
 */
import { createHash } from 'node:crypto';
import type { GuestInstance } from './guest-instance.ts';
import type { ImageManifest } from './image-manifest.ts';
import type { MachineState } from './machine-state.ts';
import type { WasmModule } from './wasm-types.ts';

/** What makes an image, in a form that can be posted to a Worker. */
export interface ImageParts {
  manifest: ImageManifest;
  module: WasmModule;
  files: { path: string; data: Uint8Array }[];
  base: Uint8Array;
  baseState: MachineState;
}

export class Image implements ImageParts {
  readonly manifest: ImageManifest;
  readonly module: WasmModule;
  readonly files: { path: string; data: Uint8Array }[];
  readonly base: Uint8Array;
  readonly baseState: MachineState;
  /** Names the image in snapshots: code, files, base and clock rate. */
  readonly digest: Uint8Array;
  #differing: { start: number; end: number }[] | undefined;

  constructor(parts: ImageParts) {
    this.manifest = parts.manifest;
    this.module = parts.module;
    this.files = parts.files;
    this.base = parts.base;
    this.baseState = parts.baseState;
    this.digest = imageDigest(parts.manifest);
  }

  get basePages(): number {
    return this.base.length / 65536;
  }

  /** Gives a new instance the base's memory, copying only what its own initial data does not already hold. */
  copyBaseInto(guest: GuestInstance): void {
    guest.growTo(this.basePages);
    const { memory } = guest;
    this.#differing ??= differences(memory, this.base);
    for (const { start, end } of this.#differing) memory.set(this.base.subarray(start, end), start);
  }

  /** Makes the memory of a used instance, which has the base's size, that of the base again; no byte of its use stays. */
  wipe(guest: GuestInstance): void {
    const { memory } = guest;
    for (const { start, end } of differences(memory, this.base)) memory.set(this.base.subarray(start, end), start);
  }
}

export function imageDigest({ wasm, files, base, args, env, nsPerFuel }: ImageManifest): Uint8Array {
  const named = JSON.stringify([wasm.sha256, files.map(({ path, sha256 }) => [path, sha256]), base.sha256, args, env, nsPerFuel]);
  return createHash('sha256').update(named).digest();
}

/** Runs of bytes that differ, in whole steps. Most of a memory is the base's, so more is compared at once first. */
function differences(fresh: Uint8Array, base: Uint8Array): { start: number; end: number }[] {
  const [BLOCK, STEP] = [64 * 1024, 16 * 1024];
  const [a, b] = [fresh, base].map((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) as [Buffer, Buffer];
  const same = (start: number, end: number) => a.compare(b, start, end, start, end) === 0;
  const runs: { start: number; end: number }[] = [];
  for (let block = 0; block < base.length; block += BLOCK) {
    const blockEnd = Math.min(block + BLOCK, base.length);
    if (same(block, blockEnd)) continue;
    for (let at = block; at < blockEnd; at += STEP) {
      const end = Math.min(at + STEP, blockEnd);
      if (same(at, end)) continue;
      const last = runs.at(-1);
      if (last?.end === at) last.end = end;
      else runs.push({ start: at, end });
    }
  }
  return runs;
}
