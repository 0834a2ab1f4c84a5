/**
 * A connection to the database of a data folder, with its prepared statements.
 *
 * Guarantees: what is committed is on the disk (WAL, synchronous=FULL), but for {@link Connection.commitUnsynced}, whose caller
 * sees to it with {@link Connection.sync}; what is deleted is overwritten (secure_delete), no temporary file is made. Whatever SQLite throws while the connection is made is `store_failed`; statements throw what SQLite
 * throws.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { storeError } from './store-error.ts';

const SETTINGS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA secure_delete = ON;
  PRAGMA temp_store = MEMORY;
  PRAGMA cell_size_check = ON;
  PRAGMA trusted_schema = OFF;
  PRAGMA cache_size = -16000;
  PRAGMA wal_autocheckpoint = 2000;
  PRAGMA journal_size_limit = 16777216;
`;
const BUSY_TIMEOUT_MS = 2000;

export type Row = Record<string, string | number | null | Uint8Array>;

export class Connection {
  readonly file: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #log: Promise<FileHandle> | undefined;

  constructor(file: string) {
    this.file = file;
    try {
      this.#database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: false, enableDoubleQuotedStringLiterals: false });
    } catch (error) {
      throw storeError(error, file);
    }
    try {
      this.#database.exec(SETTINGS);
    } catch (error) {
      this.#database.close();
      throw storeError(error, file);
    }
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction;
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#statement(sql).run(...values).changes);
  }

  /** Runs an INSERT and tells the key of the new row. */
  insert(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#statement(sql).run(...values).lastInsertRowid);
  }

  get<T = Row>(sql: string, ...values: SQLInputValue[]): T | undefined {
    return this.#statement(sql).get(...values) as T | undefined;
  }

  all<T = Row>(sql: string, ...values: SQLInputValue[]): T[] {
    return this.#statement(sql).all(...values) as T[];
  }

  pragma(name: string): number {
    return Number(Object.values(this.#database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
  }

  /**
   * Makes a transaction of `work` that is complete in the files, but not yet on the disk. Throws what `work` or SQLite throws;
   * nothing has happened then.
   */
  commitUnsynced(work: () => void): void {
    this.exec('PRAGMA synchronous = NORMAL');
    try {
      this.run('BEGIN IMMEDIATE');
      work();
      this.run('COMMIT');
    } catch (error) {
      if (this.inTransaction) this.run('ROLLBACK');
      throw error;
    } finally {
      this.exec('PRAGMA synchronous = FULL');
    }
  }

  /**
   * Resolves when everything that was committed before is on the disk. In WAL mode this takes one sync of the log, which is
   * all that FULL does more than NORMAL (https://www.sqlite.org/pragma.html#pragma_synchronous); it does not hold up this thread.
   */
  async sync(): Promise<void> {
    this.#log ??= open(`${this.file}-wal`, 'r+');
    await (await this.#log).datasync();
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
    this.#log?.then((log) => log.close()).catch(() => {});
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}
