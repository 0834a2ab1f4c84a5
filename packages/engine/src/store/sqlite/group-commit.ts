/**
 * Changes of one turn of the event loop, made in one transaction.
 *
 * Guarantees: changes take effect in the order in which they were asked for. A change that throws has not happened, and the
 * others of its group have. Where the transaction as a whole fails nothing of the group has happened, every change of it
 * rejects with `store_failed`, and the next group is tried as if nothing had been. When a change resolves it is durable.
 */
import type { Connection } from './connection.ts';
import { isOfTheCall, storeError } from './store-error.ts';

export interface Change {
  /** What must be durable before; the change rejects with its error. */
  ready?: Promise<void> | undefined;
  /** Runs inside the transaction; its own writes are undone if it throws. */
  apply(): void;
  /** It is durable; runs before the promise resolves. */
  done?(): void;
  /** It has not happened. */
  undone?(): void;
}

interface Waiting {
  change: Change;
  resolve(): void;
  reject(error: unknown): void;
}

export class GroupCommit {
  readonly #connection: () => Connection;
  /** For errors. */
  readonly #file: string;
  #waiting: Waiting[] = [];
  #scheduled = false;
  #running: Promise<void> = Promise.resolve();

  constructor(connection: () => Connection, file: string) {
    this.#connection = connection;
    this.#file = file;
  }

  submit(change: Change): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ change, resolve, reject });
    change.ready?.catch(() => {}); // told when its turn comes
    this.#schedule();
    return promise;
  }

  /** Resolves when everything that was asked for until now has been done. */
  async settled(): Promise<void> {
    await this.submit({ apply() {} }).catch(() => {});
    await this.#running;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      if (!this.#waiting.some(({ change }) => change.ready)) return this.#flush();
      this.#running = this.#waitAndFlush();
    });
  }

  /** Those that come while files are written wait for their turn, and go together. */
  async #waitAndFlush(): Promise<void> {
    const group = this.#waiting;
    this.#waiting = [];
    const states = await Promise.allSettled(group.map(({ change }) => change.ready));
    const ready = group.filter((waiting, i) => {
      const state = states[i];
      if (state?.status !== 'rejected') return true;
      waiting.change.undone?.();
      waiting.reject(state.reason);
      return false;
    });
    this.#write(ready);
    this.#next();
  }

  #flush(): void {
    const group = this.#waiting;
    this.#waiting = [];
    this.#write(group);
    this.#next();
  }

  #next(): void {
    this.#scheduled = false;
    if (this.#waiting.length > 0) this.#schedule();
  }

  #write(group: readonly Waiting[]): void {
    let refused: Map<Waiting, unknown>;
    try {
      refused = this.#transaction(group);
    } catch (error) {
      const failure = storeError(error, this.#file);
      for (const { change, reject } of group) {
        change.undone?.();
        reject(failure);
      }
      return;
    }
    for (const waiting of group) {
      const { change, resolve, reject } = waiting;
      if (refused.has(waiting)) {
        change.undone?.();
        reject(refused.get(waiting));
      } else {
        change.done?.();
        resolve();
      }
    }
  }

  /** Throws where the group as a whole has not happened. */
  #transaction(group: readonly Waiting[]): Map<Waiting, unknown> {
    const connection = this.#connection();
    const refused = new Map<Waiting, unknown>();
    connection.run('BEGIN IMMEDIATE');
    try {
      for (const waiting of group) {
        connection.run('SAVEPOINT change');
        try {
          waiting.change.apply();
        } catch (error) {
          if (!isOfTheCall(error) || !connection.inTransaction) throw error;
          connection.run('ROLLBACK TO change');
          refused.set(waiting, storeError(error, connection.file));
        }
        connection.run('RELEASE change');
      }
      connection.run('COMMIT');
    } catch (error) {
      if (connection.inTransaction) connection.run('ROLLBACK');
      throw error;
    }
    return refused;
  }
}
