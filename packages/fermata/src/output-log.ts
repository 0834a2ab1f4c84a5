/** What a task has printed, whole and as a stream of whole characters. */
import type { OutputChunk } from '@fermata/protocol';

const STREAMS = ['stdout', 'stderr'] as const;
type Stream = OutputChunk['stream'];

/** So many pieces are made one: a program that prints to both streams in turn comes in pieces of a byte. */
const MOST_PIECES = 1024;

export class OutputLog {
  #chunks: Record<Stream, Uint8Array[]> = { stdout: [], stderr: [] };
  #pieces: Record<Stream, number> = { stdout: 0, stderr: 0 };
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };

  /** Takes a chunk; returns the text that it completes. */
  add({ stream, bytes }: OutputChunk): string {
    const chunks = this.#chunks[stream];
    chunks.push(bytes);
    if (++this.#pieces[stream] === MOST_PIECES) {
      chunks.push(Buffer.concat(chunks.splice(-MOST_PIECES)));
      this.#pieces[stream] = 0;
    }
    return this.#decoders[stream].decode(bytes, { stream: true });
  }
  text(stream: Stream): string {
    return new TextDecoder().decode(Buffer.concat(this.#chunks[stream]));
  }

  save(): Record<Stream, Uint8Array> {
    return { stdout: Buffer.concat(this.#chunks.stdout), stderr: Buffer.concat(this.#chunks.stderr) };
  }
  static load(saved: Record<Stream, Uint8Array>): OutputLog {
    const log = new OutputLog();
    for (const stream of STREAMS) log.add({ stream, offset: 0, bytes: saved[stream] });
    return log;
  }
}
