/** Wakes somebody when the earliest of the times that it was told has come. */

const LONGEST_MS = 2 ** 31 - 1;

export class Alarm {
  readonly #now: () => number;
  readonly #ring: () => void;
  #at = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(now: () => number, ring: () => void) {
    this.#now = now;
    this.#ring = ring;
  }

  /** Rings at `at` (ms since 1970), unless it is to ring sooner anyway. */
  set(at: number | null | undefined): void {
    if (this.#closed || at === null || at === undefined || at >= this.#at) return;
    this.#at = at;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#over(), Math.max(0, Math.min(at - this.#now(), LONGEST_MS)));
    this.#timer.unref();
  }
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #over(): void {
    const at = this.#at;
    this.#at = Number.POSITIVE_INFINITY;
    if (at > this.#now()) this.set(at);
    else this.#ring();
  }
}
