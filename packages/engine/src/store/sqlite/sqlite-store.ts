/**
 * A store in a data folder on this machine, on the SQLite that Node brings; no server.
 *
 * Owns `store.db` and the files in `blobs/`, and by default the folder itself (see folder-owner.ts). What has resolved survives
 * the death of the process and a loss of power.
 */
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Commit, Store, StoreSize, TaskQuery, TaskRef } from '@fermata/protocol';
import { noCheckpoint, storeClosed } from '../refusal.ts';
import { backup } from './backup.ts';
import { CommitWriter } from './commit-writer.ts';
import type { Connection } from './connection.ts';
import { Database } from './database.ts';
import { type FolderOwner, takeFolder } from './folder-owner.ts';
import { GroupCommit } from './group-commit.ts';
import { Payloads } from './payloads.ts';
import { purgeRows } from './purge.ts';
import * as records from './record-queries.ts';
import { storeError } from './store-error.ts';
import * as tasks from './task-queries.ts';

export interface SqliteStoreOptions {
  /** Made where it is missing. */
  folder: string;
  /** Who has taken the folder. Default: the store takes it, and lets it go when it is closed. */
  owner?: FolderOwner;
  /** Checkpoints and blobs of more bytes than this are files of their own. Default: 32 KiB. */
  inlineBytes?: number;
}

export interface SqliteStore extends Store {
  /** Copies the folder, as it is at one moment, to `target`, which is missing or empty. */
  backup(target: string): Promise<void>;
}

/** Throws `store_locked` where another process owns the folder, `store_failed` where it cannot be read, and `environment_mismatch` where it is newer than this program. */
export function createSqliteStore(options: SqliteStoreOptions): SqliteStore {
  const { folder, inlineBytes = 32 * 1024 } = options;
  const owner = options.owner ?? takeFolder(folder);
  try {
    return new FolderStore(folder, inlineBytes, options.owner ? undefined : owner);
  } catch (error) {
    if (!options.owner) owner.release();
    throw storeError(error, folder);
  }
}

class FolderStore implements SqliteStore {
  readonly #folder: string;
  readonly #database: Database;
  readonly #owner: FolderOwner | undefined;
  readonly #payloads: Payloads;
  readonly #writer: CommitWriter;
  readonly #group: GroupCommit;
  #closing: Promise<void> | undefined;
  #cleaning: Promise<void> | undefined;
  /** Resolves when no backup runs. */
  #backup: Promise<void> = Promise.resolve();

  constructor(folder: string, inlineBytes: number, owner: FolderOwner | undefined) {
    this.#folder = folder;
    this.#owner = owner;
    this.#database = new Database(join(folder, 'store.db'));
    const connection = () => this.#database.connection;
    this.#payloads = new Payloads(connection, join(folder, 'blobs'), inlineBytes);
    this.#writer = new CommitWriter(connection, this.#payloads);
    this.#group = new GroupCommit(connection, this.#database.file);
    try {
      this.#payloads.sweep();
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  async commit(commits: readonly Commit[]): Promise<void> {
    this.#refuseClosed();
    if (commits.length > 0) await this.#group.submit(this.#writer.change(commits));
  }

  async task(ref: TaskRef) {
    return this.#read((db) => tasks.task(db, ref));
  }
  async tasks(query: TaskQuery) {
    return this.#read((db) => tasks.tasks(db, query));
  }
  async counts(tenant?: string, batchId?: string) {
    return this.#read((db) => tasks.counts(db, tenant, batchId));
  }
  async *unended() {
    try {
      yield* tasks.unended(() => this.#db);
    } catch (error) {
      throw storeError(error, this.#database.file);
    }
  }
  async due(now: number, limit: number) {
    return this.#read((db) => tasks.due(db, now, limit));
  }
  async nextDue() {
    return this.#read(tasks.nextDue);
  }
  async entries(ref: TaskRef, after: number, limit: number) {
    return this.#read((db) => tasks.entries(db, ref, after, limit));
  }
  async calls(ref: TaskRef) {
    return this.#read((db) => records.calls(db, ref));
  }
  async openCalls() {
    return this.#read(records.openCalls);
  }
  async waits(query: Parameters<Store['waits']>[0]) {
    return this.#read((db) => records.waits(db, query));
  }
  async checkpoints(ref: TaskRef) {
    return this.#read((db) => records.checkpoints(db, ref));
  }
  async outboxDue(now: number, limit: number) {
    return this.#read((db) => records.outboxDue(db, now, limit));
  }
  async nextOutboxDue() {
    return this.#read(records.nextOutboxDue);
  }
  async outboxOf(ref: TaskRef) {
    return this.#read((db) => records.outboxOfTask(db, ref));
  }
  async document(kind: string, tenant: string, id: string) {
    return this.#read((db) => records.document(db, kind, tenant, id));
  }
  async documents(query: Parameters<Store['documents']>[0]) {
    return this.#read((db) => records.documents(db, query));
  }

  async checkpointData(ref: TaskRef, checkpointId: string): Promise<Uint8Array> {
    const payload = await this.#read((db) => records.checkpointPayload(db, ref, checkpointId));
    if (payload === undefined) throw noCheckpoint(checkpointId);
    return this.#readPayload(payload, `checkpoint ${checkpointId}`);
  }

  async blob(id: string): Promise<Uint8Array | undefined> {
    const payload = await this.#read((db) => records.blobPayload(db, id));
    if (payload === undefined) return undefined;
    try {
      return await this.#readPayload(payload, `blob ${id}`);
    } catch (error) {
      if ((await this.#read((db) => records.blobPayload(db, id))) === payload) throw error;
      return this.blob(id); // another took its place while it was read
    }
  }

  async putBlob(id: string, data: Uint8Array): Promise<void> {
    this.#refuseClosed();
    const staged = this.#payloads.stage(data);
    let before: string | undefined;
    await this.#group.submit({
      ready: staged.durable?.catch((error) => {
        throw storeError(error, `blob ${id}`);
      }),
      apply: () => {
        const payload = this.#payloads.insert(staged);
        before = this.#deleteBlob(id);
        this.#db.run('INSERT INTO blobs (id, payload) VALUES (?, ?)', id, payload);
      },
      done: () => before !== undefined && this.#payloads.removeFile(before),
      undone: () => staged.file !== null && this.#payloads.removeFile(staged.file),
    });
  }

  async dropBlob(id: string): Promise<void> {
    this.#refuseClosed();
    let file: string | undefined;
    await this.#group.submit({
      apply: () => {
        file = this.#deleteBlob(id);
      },
      done: () => file !== undefined && this.#payloads.removeFile(file),
    });
  }

  async purge(ref: TaskRef): Promise<void> {
    this.#refuseClosed();
    let files: string[] = [];
    await this.#group.submit({
      apply: () => {
        files = purgeRows(this.#db, ref);
      },
      done: () => {
        for (const file of files) this.#payloads.removeFile(file);
      },
    });
    await this.#cleanUp();
  }

  async size(): Promise<StoreSize> {
    return this.#read((db) => {
      const pages = db.pragma('page_count') - db.pragma('freelist_count');
      const { bytes } = db.get<{ bytes: number }>('SELECT coalesce(sum(bytes), 0) AS bytes FROM payloads WHERE file IS NOT NULL') ?? { bytes: 0 };
      const { n } = db.get<{ n: number }>('SELECT count(*) AS n FROM tasks') ?? { n: 0 };
      return { tasks: n, bytes: pages * db.pragma('page_size') + bytes };
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async backup(target: string): Promise<void> {
    this.#refuseClosed();
    const files = this.#payloads.hold();
    const running = backup(this.#folder, target).finally(() => files.release());
    this.#backup = Promise.allSettled([this.#backup, running]).then(() => {});
    await running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    await this.#group.settled();
    await this.#cleaning?.catch(() => {});
    await this.#backup;
    this.#database.close();
    this.#owner?.release();
  }

  /** Purges of one turn share a cleaning; it comes after the backup that runs. */
  #cleanUp(): Promise<void> {
    this.#cleaning ??= this.#backup
      .then(() => setImmediate())
      .then(() => {
        this.#cleaning = undefined;
        this.#database.clean();
      });
    return this.#cleaning;
  }

  get #db(): Connection {
    return this.#database.connection;
  }

  #refuseClosed(): void {
    if (this.#closing) throw storeClosed();
  }

  /** What was read is told when it is on the disk. */
  async #read<T>(read: (db: Connection) => T): Promise<T> {
    let value: T;
    try {
      value = read(this.#db);
    } catch (error) {
      throw storeError(error, this.#database.file);
    }
    await this.#group.durable();
    return value;
  }

  async #readPayload(key: number, name: string): Promise<Uint8Array> {
    try {
      return await this.#payloads.read(key, name);
    } catch (error) {
      throw storeError(error, this.#database.file);
    }
  }

  #deleteBlob(id: string): string | undefined {
    const row = this.#db.get<{ payload: number }>('DELETE FROM blobs WHERE id = ? RETURNING payload', id);
    return row && this.#payloads.delete(row.payload);
  }
}
