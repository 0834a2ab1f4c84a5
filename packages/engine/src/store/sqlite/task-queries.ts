/** What a store tells of tasks and their journals. Reads see what is committed. */

import type { SQLInputValue } from 'node:sqlite';
import type { Entry, Page, TaskQuery, TaskRef, TaskRow } from '@fermata/protocol';
import { pageOf, readCursor } from '../cursor.ts';
import type { Connection } from './connection.ts';
import { type StoredTask, TASK_COLUMNS, taskOf } from './rows.ts';
import { UNENDED } from './schema.ts';

const TASKS = `SELECT ${TASK_COLUMNS}, t.key FROM tasks t JOIN requests r ON r.task = t.key`;
/** How many rows are read at once where all are streamed. */
const STREAM_ROWS = 200;

type KeyedTask = StoredTask & { key: number };

export function task(db: Connection, { tenant, taskId }: TaskRef): TaskRow | undefined {
  const row = db.get<StoredTask>(`${TASKS} WHERE t.tenant = ? AND t.task_id = ?`, tenant, taskId);
  return row && taskOf(row);
}

export function keyOf(db: Connection, { tenant, taskId }: TaskRef): number {
  return db.get<{ key: number }>('SELECT key FROM tasks WHERE tenant = ? AND task_id = ?', tenant, taskId)?.key ?? 0;
}

/** The keys are found by an index alone; only the rows of the page are read. */
export function tasks(db: Connection, { tenant, status, sessionId, batchId, tool, createdAfter, oldestFirst = false, cursor, limit }: TaskQuery): Page<TaskRow> {
  const [order, beyond] = oldestFirst ? ['ASC', '>'] : ['DESC', '<'];
  const where = ['tenant = ?'];
  const values: SQLInputValue[] = [tenant];
  const only = (condition: string, ...those: SQLInputValue[]) => {
    where.push(condition);
    values.push(...those);
  };
  if (status) only(`status IN (${status.map(() => '?').join(', ')})`, ...status);
  if (sessionId !== undefined) only('session_id = ?', sessionId);
  if (batchId !== undefined) only('batch_id = ?', batchId);
  if (tool !== undefined) only('key IN (SELECT task FROM calls WHERE tool = ?)', tool);
  if (createdAfter !== undefined) only('created_at > ?', createdAfter);
  if (cursor !== undefined) only(`(created_at, key) ${beyond} (?, ?)`, ...readCursor(cursor, 2));
  const keys = `SELECT key FROM tasks WHERE ${where.join(' AND ')} ORDER BY created_at ${order}, key ${order} LIMIT ?`;
  const found = db.all<KeyedTask>(`${TASKS} WHERE t.key IN (${keys}) ORDER BY t.created_at ${order}, t.key ${order}`, ...values, limit + 1);
  return pageOf(found, limit, taskOf, placeOf);
}

export function counts(db: Connection, tenant?: string, batchId?: string): Record<string, number> {
  const where = [tenant === undefined ? 'true' : 'tenant = ?', batchId === undefined ? 'true' : 'batch_id = ?'].join(' AND ');
  const values = [tenant, batchId].filter((value) => value !== undefined);
  // the plus keeps SQLite from walking all tasks in the order of their status
  const rows = db.all<{ status: string; n: number }>(`SELECT status, count(*) AS n FROM tasks WHERE ${where} GROUP BY +status`, ...values);
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
}

/** In pieces, so that no statement stays open between two of them. */
export async function* unended(connection: () => Connection): AsyncIterable<TaskRow> {
  let after: readonly number[] = [-Number.MAX_VALUE, 0];
  for (;;) {
    const rows = connection().all<KeyedTask>(`${TASKS} WHERE t.${UNENDED} AND (t.created_at, t.key) > (?, ?) ORDER BY t.created_at, t.key LIMIT ${STREAM_ROWS}`, ...after);
    for (const row of rows) yield taskOf(row);
    const last = rows.at(-1);
    if (!last || rows.length < STREAM_ROWS) return;
    after = placeOf(last);
  }
}

export function due(db: Connection, now: number, limit: number): TaskRow[] {
  return db.all<StoredTask>(`${TASKS} WHERE t.due_at IS NOT NULL AND t.due_at <= ? ORDER BY t.due_at, t.key LIMIT ?`, now, limit).map(taskOf);
}

export function nextDue(db: Connection): number | undefined {
  return db.get<{ due_at: number }>('SELECT due_at FROM tasks WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1')?.due_at;
}

export function entries(db: Connection, ref: TaskRef, after: number, limit: number): Entry[] {
  return db
    .all<Entry>('SELECT seq, at, kind, body, hash FROM entries WHERE task = ? AND seq > ? ORDER BY seq LIMIT ?', keyOf(db, ref), after, limit)
    .map((entry) => ({ ...entry }));
}

function placeOf({ created_at, key }: KeyedTask): number[] {
  return [created_at, key];
}
