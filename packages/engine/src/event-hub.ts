/** Who listens to which task. What is told here is durable already, or passes and is not kept. */
import { keyOf, type TaskRef } from '@fermata/protocol';
import type { TaskEvent } from './engine-api.ts';

type Listener = (events: readonly TaskEvent[]) => void;

export class EventHub {
  readonly #listeners = new Map<string, Set<Listener>>();

  /** Until the function that is given back is called. */
  listen(ref: TaskRef, listener: Listener): () => void {
    const key = keyOf(ref);
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) this.#listeners.delete(key);
    };
  }

  tell(ref: TaskRef, events: () => readonly TaskEvent[]): void {
    const listeners = this.#listeners.get(keyOf(ref));
    if (!listeners) return;
    const told = events();
    for (const listener of [...listeners]) listener(told);
  }
}
