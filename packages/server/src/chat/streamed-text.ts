/**
 * Text that is told while it comes. What was told cannot be taken back: where a model begins anew, what it repeats is not told
 * again, and where it says something else the answer ends with an error. Nothing after a stop sequence is told.
 */
import { FermataError } from '@fermata/protocol';

export class StreamedText {
  readonly #stops: readonly string[];
  #told = '';
  /** What has come, in this try. */
  #text = '';

  constructor(stops: readonly string[] = []) {
    this.#stops = stops;
  }

  /** What can be told now that this has come. */
  push(text: string): string {
    this.#text += text;
    const { kept, isCut } = cutAt(this.#text, this.#stops);
    // The beginning of a stop sequence may be at the end.
    return this.#tell(isCut ? kept : kept.slice(0, kept.length - openStop(kept, this.#stops)));
  }
  /** The model begins anew. */
  restart(): void {
    this.#text = '';
  }
  /** What is left to tell of the whole. Throws `model_error` where something else was told. */
  end(whole: string): string {
    const { kept } = cutAt(whole, this.#stops);
    if (!kept.startsWith(this.#told)) {
      throw new FermataError('model_error', 'the model began its answer anew, and otherwise, after a part of it had been sent', { hint: 'Send the request again.' });
    }
    return this.#tell(kept);
  }

  #tell(text: string): string {
    if (!text.startsWith(this.#told)) return '';
    const more = text.slice(this.#told.length);
    this.#told = text;
    return more;
  }
}

/** A text up to the first of the stop sequences. */
export function cutAt(text: string, stops: readonly string[]): { kept: string; isCut: boolean } {
  const places = stops.map((stop) => text.indexOf(stop)).filter((place) => place >= 0);
  return places.length > 0 ? { kept: text.slice(0, Math.min(...places)), isCut: true } : { kept: text, isCut: false };
}

/** How many characters at the end may be the beginning of a stop sequence. */
function openStop(text: string, stops: readonly string[]): number {
  const longest = Math.max(0, ...stops.map((stop) => stop.length - 1));
  for (let length = Math.min(longest, text.length); length > 0; length--) if (stops.some((stop) => stop.length > length && text.endsWith(stop.slice(0, length)))) return length;
  return 0;
}
