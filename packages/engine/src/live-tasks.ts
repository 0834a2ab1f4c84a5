/**
 * The tasks that are in memory: each at most once, as long as somebody holds it.
 *
 * One that is broken is let go at once: who asks for it after that gets it anew from the store.
 */
import { type Entry, FermataError, keyOf, type Store, type TaskRef, type TaskRow } from '@fermata/protocol';
import { LiveTask, type LiveTaskOptions } from './live-task.ts';
import { checkRef } from './request-check.ts';

interface Held {
  live: LiveTask;
  holders: number;
}

export class LiveTasks {
  readonly #store: Store;
  readonly #ready: (tenant: string) => Promise<void>;
  readonly #options: LiveTaskOptions;
  readonly #held = new Map<string, Held>();
  readonly #loading = new Map<string, Promise<void>>();

  /** `ready`: awaited before a task of a tenant comes into memory. */
  constructor(store: Store, ready: (tenant: string) => Promise<void>, options: Omit<LiveTaskOptions, 'store'>) {
    this.#store = store;
    this.#ready = ready;
    const onBroken: LiveTaskOptions['onBroken'] = (live, error) => {
      const key = keyOf(live.ref);
      if (this.#held.get(key)?.live === live) this.#held.delete(key);
      options.onBroken(live, error);
    };
    this.#options = { ...options, store, onBroken };
  }

  /** The task, if it is in memory. */
  peek(ref: TaskRef): LiveTask | undefined {
    return this.#held.get(keyOf(ref))?.live;
  }

  /** Works on the task; what `work` changes and does not flush is flushed after it. Throws `not_found`. */
  async use<T>(ref: TaskRef, work: (live: LiveTask) => Promise<T>): Promise<T> {
    checkRef(ref);
    const { live, release } = await this.#taken(ref);
    try {
      const value = await work(live);
      await live.flush();
      return value;
    } finally {
      release();
    }
  }

  /** Keeps a task in memory until it is released. */
  hold(live: LiveTask): () => void {
    const key = keyOf(live.ref);
    const held = this.#held.get(key);
    if (held?.live !== live) return () => {};
    held.holders++;
    let holding = true;
    return () => {
      if (!holding) return;
      holding = false;
      held.holders--;
      if (held.holders === 0 && this.#held.get(key) === held) this.#held.delete(key);
    };
  }

  /** A task that the store does not have yet; it is held by whoever adds it. */
  add(row: TaskRow, entry: Entry): { live: LiveTask; release: () => void } {
    const live = LiveTask.create(this.#options, row, entry);
    this.#held.set(keyOf(live.ref), { live, holders: 0 });
    return { live, release: this.hold(live) };
  }

  /** It is held before anybody else can let go of it: there is never a second one of the same task. */
  async #taken(ref: TaskRef): Promise<{ live: LiveTask; release: () => void }> {
    const key = keyOf(ref);
    for (;;) {
      const live = this.#held.get(key)?.live;
      if (live) return { live, release: this.hold(live) };
      const loading = this.#loading.get(key) ?? this.#load(ref, key).finally(() => this.#loading.delete(key));
      this.#loading.set(key, loading);
      await loading;
    }
  }

  async #load(ref: TaskRef, key: string): Promise<void> {
    await this.#ready(ref.tenant);
    const row = await this.#store.task(ref);
    if (!row) throw new FermataError('not_found', `there is no task ${ref.taskId}`);
    const calls = await this.#store.calls(ref);
    if (!this.#held.has(key)) this.#held.set(key, { live: new LiveTask(this.#options, row, calls), holders: 0 });
  }
}
