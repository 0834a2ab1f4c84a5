/** What one advance emitted, in order, before it is handed out. */
import type { Emission } from '@fermata/protocol';

/** Neighbouring pieces of one stream as one, so that a program which prints byte by byte costs no more than its bytes. */
export function coalesced(emitted: readonly Emission[]): Emission[] {
  const together: Emission[] = [];
  let run: Uint8Array[] = [];
  for (const emission of emitted) {
    const last = together.at(-1);
    if (emission.kind === 'output' && last?.kind === 'output' && last.chunk.stream === emission.chunk.stream) {
      run.push(emission.chunk.bytes);
      continue;
    }
    join(last, run);
    run = emission.kind === 'output' ? [emission.chunk.bytes] : [];
    together.push(emission.kind === 'output' ? { kind: 'output', chunk: { ...emission.chunk } } : emission);
  }
  join(together.at(-1), run);
  return together;
}

function join(emission: Emission | undefined, pieces: Uint8Array[]): void {
  if (emission?.kind === 'output' && pieces.length > 1) emission.chunk.bytes = new Uint8Array(Buffer.concat(pieces));
}
