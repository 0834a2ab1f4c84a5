/** What a task has printed, whole and as a stream of whole characters. */
import type { OutputChunk } from '@fermata/protocol';

const STREAMS = ['stdout', 'stderr'] as const;
type Stream = OutputChunk['stream'];

export class OutputLog {
  #chunks: Record<Stream, Uint8Array[]> = { stdout: [], stderr: [] };
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };

  /** Takes a chunk; returns the text that it completes. */
  add({ stream, bytes }: OutputChunk): string {
    this.#chunks[stream].push(bytes);
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
