/** Waiting for something to happen to a task, or for a time to pass, whichever is first. */
export class Bell {
  readonly #sleepers = new Set<() => void>();

  /** Something has happened: everybody who waits looks again. */
  ring(): void {
    for (const wake of [...this.#sleepers]) wake();
  }
  /** Until the bell rings, or for `ms`. */
  heard(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#sleepers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.max(0, Math.min(Math.ceil(ms), 2 ** 31 - 1)));
      this.#sleepers.add(wake);
    });
  }
}
