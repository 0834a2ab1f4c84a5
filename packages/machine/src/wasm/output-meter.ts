/** Counts what a program prints and cuts it at the limit, at the border of a character. */
import type { OutputChunk } from '@fermata/protocol';

export class OutputMeter {
  #maxBytes: number;
  #bytes: number;

  constructor(maxBytes: number, bytes = 0) {
    this.#maxBytes = maxBytes;
    this.#bytes = bytes;
  }

  get bytes(): number {
    return this.#bytes;
  }
  set maxBytes(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Counts bytes that are no output but must not be free either; true if they do not fit any more. */
  charge(bytes: number): boolean {
    this.#bytes += bytes;
    return this.#bytes > this.#maxBytes;
  }

  /** The part that still fits, copied; `full` when something did not. */
  take(stream: OutputChunk['stream'], bytes: Uint8Array): { chunk: OutputChunk; full: boolean } {
    const room = this.#maxBytes - this.#bytes;
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
