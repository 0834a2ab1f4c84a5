/** Takes everything of a task out of the database, in a transaction that the caller has begun. */
import type { TaskRef } from '@fermata/protocol';
import type { Connection } from './connection.ts';
import { keyOf } from './task-queries.ts';

/** Tells the files that are to be removed when it is durable. */
export function purgeRows(db: Connection, ref: TaskRef): string[] {
  const key = keyOf(db, ref);
  const payloads = db.all<{ file: string | null }>('DELETE FROM payloads WHERE key IN (SELECT payload FROM checkpoints WHERE task = ?) RETURNING file', key);
  for (const table of ['checkpoints', 'calls', 'entries', 'requests']) db.run(`DELETE FROM ${table} WHERE task = ?`, key);
  db.run('DELETE FROM tasks WHERE key = ?', key);
  db.run('DELETE FROM outbox WHERE tenant = ? AND task_id = ?', ref.tenant, ref.taskId);
  return payloads.flatMap(({ file }) => file ?? []);
}
