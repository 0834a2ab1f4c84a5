/**
 * Random bytes as a function of a 256-bit seed and of how many were taken before (AES-256 in counter mode), so that a
 * restored machine draws on where it stopped.
 */
import { createCipheriv } from 'node:crypto';

const BLOCK = 16;

export class RandomSource {
  #seed: Uint8Array;
  #blocks: number;

  constructor(seed: Uint8Array, blocks = 0) {
    this.#seed = seed;
    this.#blocks = blocks;
  }

  get state(): { seed: Uint8Array; blocks: number } {
    return { seed: this.#seed, blocks: this.#blocks };
  }

  fill(target: Uint8Array): void {
    const counter = Buffer.alloc(BLOCK);
    counter.writeBigUInt64BE(BigInt(this.#blocks), 8);
    const cipher = createCipheriv('aes-256-ctr', this.#seed, counter);
    target.set(cipher.update(Buffer.alloc(target.length)));
    this.#blocks += Math.ceil(target.length / BLOCK);
  }
}
