/**
 * Changes made together: those of one turn of the event loop, and those that came while the ones before were being synced,
 * in one transaction.
 *
 * Guarantees: changes take effect in the order in which they were asked for. A change that throws has not happened, and the
 * others of its group have. Where the transaction as a whole fails nothing of the group has happened, every change of it
 * rejects with `store_failed`, and the next group is tried as if nothing had been. When a change resolves it is durable; what
 * can be read before that is not to be told to anybody until {@link GroupCommit.durable} has resolved. After a sync that failed
 * nobody knows what is on the disk, and nothing is taken any more.
 */
import { FermataError } from '@fermata/protocol';
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
  #syncing: Promise<void> | undefined;
  #failed: FermataError | undefined;

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

  /** Resolves when everything that can be read now is on the disk. */
  async durable(): Promise<void> {
    if (this.#syncing) await this.#syncing;
    if (this.#failed) throw this.#failed;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#running = this.#flush();
    });
  }

  /** Those that come meanwhile wait for their turn, and go together. */
  async #flush(): Promise<void> {
    const group = this.#waiting;
    this.#waiting = [];
    await this.#write(group.some(({ change }) => change.ready) ? await whenReady(group) : group);
    this.#scheduled = false;
    if (this.#waiting.length > 0) this.#schedule();
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    let refused: Map<Waiting, unknown>;
    try {
      if (this.#failed) throw this.#failed;
      refused = this.#transaction(group);
    } catch (error) {
      return undo(group, storeError(error, this.#file));
    }
    try {
      this.#syncing = this.#connection().sync();
      await this.#syncing;
    } catch (error) {
      // What it has changed may be there at the next start, so none of its files is removed.
      this.#failed = notSynced(error, this.#file);
      for (const { reject } of group) reject(this.#failed);
      return;
    } finally {
      this.#syncing = undefined;
    }
    for (const waiting of group) {
      const { change, resolve } = waiting;
      if (refused.has(waiting)) undo([waiting], refused.get(waiting));
      else {
        change.done?.();
        resolve();
      }
    }
  }

  /** Throws where the group as a whole has not happened. */
  #transaction(group: readonly Waiting[]): Map<Waiting, unknown> {
    const connection = this.#connection();
    const refused = new Map<Waiting, unknown>();
    connection.commitUnsynced(() => {
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
    });
    return refused;
  }
}

/** Those whose files are written; the others have been told. */
async function whenReady(group: readonly Waiting[]): Promise<Waiting[]> {
  const states = await Promise.allSettled(group.map(({ change }) => change.ready));
  return group.filter((waiting, i) => {
    const state = states[i];
    if (state?.status !== 'rejected') return true;
    undo([waiting], state.reason);
    return false;
  });
}

function undo(group: readonly Waiting[], error: unknown): void {
  for (const { change, reject } of group) {
    change.undone?.();
    reject(error);
  }
}

function notSynced(error: unknown, file: string): FermataError {
  return new FermataError('store_failed', `${file} could not be synced to the disk: ${(error as Error).message}`, {
    hint: 'See that the disk is sound, and start the process again; it goes on from what is on the disk.',
    cause: error,
  });
}
