/**
 * The database of a store: `store.db` in a data folder.
 *
 * Guarantees: it has its name only when it is complete, so that a `store.db` that is empty or cut is damage and never a
 * beginning. The connection is replaced when pages are cleaned; nobody keeps it beyond a turn.
 */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { FermataError } from '@fermata/protocol';
import { storeClosed } from '../refusal.ts';
import { Connection } from './connection.ts';
import { syncFolderNow } from './durable-folder.ts';
import { markAsOurs, migrate } from './schema.ts';
import { scrub } from './scrub.ts';
import { storeError } from './store-error.ts';

export class Database {
  readonly file: string;
  #connection: Connection | undefined;
  #closed = false;

  /** Opens it, makes it where it is missing, and brings it to the newest version. */
  constructor(file: string) {
    this.file = file;
    if (!existsSync(file)) create(file);
    this.#connection = new Connection(file);
    try {
      migrate(this.#connection);
    } catch (error) {
      this.close();
      throw storeError(error, file);
    }
  }

  get connection(): Connection {
    if (this.#closed) throw storeClosed();
    this.#connection ??= new Connection(this.file);
    return this.#connection;
  }

  /** Takes the WAL into the database and overwrites what deleted rows have left in its pages. Takes longer the larger the database is. */
  clean(): void {
    const { connection } = this;
    try {
      if (connection.pragma('wal_checkpoint(TRUNCATE)') !== 0)
        throw new FermataError('store_failed', `${this.file} is being read by another process; what was purged is gone, but still in its log`, {
          hint: 'purge again when the backup is done',
        });
      const pageSize = connection.pragma('page_size');
      const roots = connection.all<{ rootpage: number }>('SELECT rootpage FROM sqlite_schema WHERE rootpage > 0').map(({ rootpage }) => rootpage);
      connection.close(); // it would write pages from its memory again, as they were
      this.#connection = undefined;
      scrub(this.file, pageSize, roots);
    } catch (error) {
      throw storeError(error, this.file);
    }
  }

  close(): void {
    this.#closed = true;
    this.#connection?.close();
    this.#connection = undefined;
  }
}

function create(file: string): void {
  const fresh = `${file}.new`;
  try {
    for (const end of ['', '-wal', '-shm']) rmSync(fresh + end, { force: true });
    const connection = new Connection(fresh);
    try {
      markAsOurs(connection);
      migrate(connection);
    } finally {
      connection.close();
    }
    renameSync(fresh, file);
    syncFolderNow(dirname(file));
  } catch (error) {
    throw storeError(error, file);
  }
}
