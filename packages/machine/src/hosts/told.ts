/** Which emissions of a machine were told, so that a stretch which it runs again is told to nobody. */
import type { Emission } from '@fermata/protocol';

export class Told {
  #outputEnd = 0;
  #lastCall = 0;
  /** Notes have no number of their own; these are counted from the base of the machine. */
  #notes = 0;
  #notesAgain = 0;

  /** The machine starts from its base again. */
  again(): void {
    this.#notesAgain = 0;
  }
  /** The machine has a new base, where it now stands. */
  rebase(): void {
    this.#notes = 0;
    this.#notesAgain = 0;
  }

  /** Those that are new. */
  fresh(emitted: readonly Emission[]): Emission[] {
    return emitted.flatMap((emission) => this.#fresh(emission));
  }

  #fresh(emission: Emission): Emission[] {
    switch (emission.kind) {
      case 'call': {
        const isNew = emission.call.id > this.#lastCall;
        this.#lastCall = Math.max(this.#lastCall, emission.call.id);
        return isNew ? [emission] : [];
      }
      case 'note': {
        const isNew = ++this.#notesAgain > this.#notes;
        this.#notes = Math.max(this.#notes, this.#notesAgain);
        return isNew ? [emission] : [];
      }
      case 'output': {
        const { stream, offset, bytes } = emission.chunk;
        const old = Math.min(Math.max(this.#outputEnd - offset, 0), bytes.length);
        this.#outputEnd = Math.max(this.#outputEnd, offset + bytes.length);
        return old === bytes.length && old > 0 ? [] : [{ kind: 'output', chunk: { stream, offset: offset + old, bytes: bytes.subarray(old) } }];
      }
    }
  }
}
