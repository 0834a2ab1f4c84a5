/** Counts what a program prints and notes of itself, and cuts what it prints at the limit, at the border of a character. */
import type { OutputChunk } from '@fermata/protocol';

export class OutputMeter {
  #maxBytes: number;
  #bytes: number;
  #noteBytes: number;

  constructor(maxBytes: number, bytes = 0, noteBytes = 0) {
    this.#maxBytes = maxBytes;
    this.#bytes = bytes;
    this.#noteBytes = noteBytes;
  }

  /** Printed so far: where the next chunk begins. */
  get bytes(): number {
    return this.#bytes;
  }
  get noteBytes(): number {
    return this.#noteBytes;
  }
  set maxBytes(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Counts a note; true if it does not fit any more. */
  note(bytes: number): boolean {
    this.#noteBytes += bytes;
    return this.#bytes + this.#noteBytes > this.#maxBytes;
  }

  /** The part that still fits, copied; `full` when something did not. */
  take(stream: OutputChunk['stream'], bytes: Uint8Array): { chunk: OutputChunk; full: boolean } {
    const room = this.#maxBytes - this.#bytes - this.#noteBytes;
    const full = bytes.length > room;
    const part = full ? bytes.slice(0, wholeCharacters(bytes, room)) : bytes.slice();
    const chunk = { stream, offset: this.#bytes, bytes: part };
    this.#bytes += part.length;
    return { chunk, full };
  }
}

/** The largest length up to `end` that does not cut a UTF-8 character. */
function wholeCharacters(bytes: Uint8Array, end: number): number {
  let at = Math.max(end, 0);
  while (at > 0 && ((bytes[at] as number) & 0xc0) === 0x80) at--;
  return at;
}
