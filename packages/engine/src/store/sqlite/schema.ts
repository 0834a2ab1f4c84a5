/**
 * The tables of a store's database, and how an older database becomes a newer one.
 *
 * `user_version` counts the steps of {@link STEPS} that were done. A step that was released is never changed: what is new is a
 * further step. Each step and its number are one transaction, so a crash leaves the database before it or after it.
 *
 * What is asked for by value is a column, the rest of a row is JSON in `body`. Tasks have a number, `key`, that stands for
 * them in all other tables. `requests` are apart because they are large and never change. Times are REAL because an INTEGER
 * beyond 2^53 could not be read again.
 */
import { ENDED, FermataError } from '@fermata/protocol';
import type { Connection } from './connection.ts';

/** Marks a database as ours: `FERM`. */
export const APPLICATION_ID = 0x4645524d;

/** Of a row of `tasks`; queries must repeat it word by word to use the indexes that have it. */
export const UNENDED = `status NOT IN (${ENDED.map((status) => `'${status}'`).join(', ')})`;

export const STEPS: readonly string[] = [
  `
  CREATE TABLE tasks (
    key INTEGER PRIMARY KEY, tenant TEXT NOT NULL, task_id TEXT NOT NULL, status TEXT NOT NULL, seq INTEGER NOT NULL,
    created_at REAL NOT NULL, due_at REAL, session_id TEXT, batch_id TEXT, priority REAL NOT NULL, body TEXT NOT NULL,
    UNIQUE (tenant, task_id)
  );
  CREATE INDEX tasks_by_age ON tasks (tenant, created_at);
  CREATE INDEX tasks_by_status ON tasks (tenant, status, created_at);
  CREATE INDEX tasks_by_session ON tasks (tenant, session_id, created_at) WHERE session_id IS NOT NULL;
  CREATE INDEX tasks_by_batch ON tasks (tenant, batch_id, created_at) WHERE batch_id IS NOT NULL;
  CREATE INDEX tasks_unended ON tasks (created_at) WHERE status NOT IN ('succeeded', 'failed', 'cancelled');
  CREATE INDEX tasks_due ON tasks (due_at) WHERE due_at IS NOT NULL;

  CREATE TABLE requests (task INTEGER PRIMARY KEY, body TEXT NOT NULL);

  CREATE TABLE entries (
    task INTEGER NOT NULL, seq INTEGER NOT NULL, at REAL NOT NULL, kind TEXT NOT NULL, hash TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (task, seq)
  ) WITHOUT ROWID;

  CREATE TABLE calls (
    task INTEGER NOT NULL, n INTEGER NOT NULL, tenant TEXT NOT NULL, tool TEXT NOT NULL, status TEXT NOT NULL, waits_for TEXT,
    created_at REAL NOT NULL, args TEXT NOT NULL, result TEXT, body TEXT NOT NULL,
    PRIMARY KEY (task, n)
  ) WITHOUT ROWID;
  CREATE INDEX calls_by_tool ON calls (tool, task);
  CREATE INDEX calls_waiting ON calls (tenant, created_at, task, n) WHERE status = 'waiting';

  -- the bytes of checkpoints and blobs: in data, or in the file of that name
  CREATE TABLE payloads (key INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, sha256 BLOB NOT NULL, file TEXT, data BLOB);
  CREATE INDEX payloads_in_files ON payloads (file, bytes) WHERE file IS NOT NULL;

  CREATE TABLE checkpoints (
    key INTEGER PRIMARY KEY, task INTEGER NOT NULL, checkpoint_id TEXT NOT NULL, created_at REAL NOT NULL,
    payload INTEGER NOT NULL, body TEXT NOT NULL,
    UNIQUE (task, checkpoint_id)
  );

  CREATE TABLE blobs (id TEXT PRIMARY KEY, payload INTEGER NOT NULL) WITHOUT ROWID;

  CREATE TABLE outbox (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL, task_id TEXT, kind TEXT NOT NULL, due_at REAL,
    tries INTEGER NOT NULL, body TEXT NOT NULL
  );
  CREATE INDEX outbox_due ON outbox (due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX outbox_of_task ON outbox (tenant, task_id) WHERE task_id IS NOT NULL;

  CREATE TABLE documents (
    key INTEGER PRIMARY KEY, kind TEXT NOT NULL, tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL,
    created_at REAL NOT NULL, body TEXT NOT NULL,
    UNIQUE (kind, tenant, id)
  );
  CREATE INDEX documents_by_age ON documents (kind, tenant, created_at);
  `,
];

/** Tells the version of the database. Throws `environment_mismatch` where it is newer than this program, or not ours. */
export function checkVersion(connection: Connection, steps = STEPS): number {
  const found = connection.pragma('user_version');
  const id = connection.pragma('application_id');
  if (id !== APPLICATION_ID) throw new FermataError('environment_mismatch', `${connection.file} is a database of another program`, { hint: 'choose another data folder' });
  if (found > steps.length)
    throw new FermataError('environment_mismatch', `${connection.file} has version ${found}; this Fermata knows versions up to ${steps.length}`, {
      hint: 'use the Fermata that wrote it or a newer one, or restore a backup from before',
    });
  return found;
}

/** Brings a database to the newest version. Throws what {@link checkVersion} does. */
export function migrate(connection: Connection, steps = STEPS): void {
  const found = checkVersion(connection, steps);
  steps.slice(found).forEach((step, i) => {
    try {
      connection.exec(`BEGIN IMMEDIATE; ${step}; PRAGMA user_version = ${found + i + 1}; COMMIT`);
    } catch (error) {
      if (connection.inTransaction) connection.exec('ROLLBACK');
      throw error;
    }
  });
}

/** Marks an empty database as ours. */
export function markAsOurs(connection: Connection): void {
  connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
}
