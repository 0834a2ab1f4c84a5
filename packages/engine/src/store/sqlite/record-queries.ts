/** What a store tells of calls, checkpoints, the outbox and documents. Reads see what is committed. */

import type { SQLInputValue } from 'node:sqlite';
import type { CallRow, CheckpointRow, DocumentRow, OutboxRow, Page, Store, TaskRef } from '@fermata/protocol';
import { pageOf, readCursor } from '../cursor.ts';
import type { Connection } from './connection.ts';
import { CALL_COLUMNS, callOf, checkpointOf, DOCUMENT_COLUMNS, documentOf, OUTBOX_COLUMNS, outboxOf, type StoredCall, type StoredDocument, type StoredOutbox } from './rows.ts';
import { UNENDED } from './schema.ts';
import { keyOf } from './task-queries.ts';

export function calls(db: Connection, ref: TaskRef): CallRow[] {
  return db.all<StoredCall>(`SELECT ${CALL_COLUMNS} FROM calls WHERE task = ? ORDER BY n`, keyOf(db, ref)).map(callOf);
}

export function openCalls(db: Connection): (TaskRef & { n: number })[] {
  const rows = db.all<{ tenant: string; task_id: string; n: number }>(
    `SELECT t.tenant, t.task_id, c.n FROM tasks t CROSS JOIN calls c ON c.task = t.key WHERE t.${UNENDED} AND c.status IN ('ready', 'started') ORDER BY t.created_at, t.key, c.n`,
  );
  return rows.map(({ tenant, task_id, n }) => ({ tenant, taskId: task_id, n }));
}

export function waits(db: Connection, { tenant, kinds, cursor, limit }: Parameters<Store['waits']>[0]): Page<CallRow & { taskId: string }> {
  const where = ["c.status = 'waiting'", 'c.tenant = ?'];
  const values: SQLInputValue[] = [tenant];
  if (kinds) {
    where.push(`c.waits_for IN (${kinds.map(() => '?').join(', ')})`);
    values.push(...kinds);
  }
  if (cursor !== undefined) {
    where.push('(c.created_at, c.task, c.n) > (?, ?, ?)');
    values.push(...readCursor(cursor, 3));
  }
  const columns = CALL_COLUMNS.split(', ').map((column) => `c.${column}`);
  const found = db.all<StoredCall & { task: number; task_id: string }>(
    `SELECT ${columns.join(', ')}, c.task, t.task_id FROM calls c JOIN tasks t ON t.key = c.task WHERE ${where.join(' AND ')} ORDER BY c.created_at, c.task, c.n LIMIT ?`,
    ...values,
    limit + 1,
  );
  return pageOf(
    found,
    limit,
    (row) => ({ ...callOf(row), taskId: row.task_id }),
    (row) => [row.created_at, row.task, row.n],
  );
}

export function checkpoints(db: Connection, ref: TaskRef): CheckpointRow[] {
  return db.all<{ body: string }>('SELECT body FROM checkpoints WHERE task = ? ORDER BY created_at DESC, key DESC', keyOf(db, ref)).map(checkpointOf);
}

export function checkpointPayload(db: Connection, ref: TaskRef, checkpointId: string): number | undefined {
  return db.get<{ payload: number }>('SELECT payload FROM checkpoints WHERE task = ? AND checkpoint_id = ?', keyOf(db, ref), checkpointId)?.payload;
}

export function blobPayload(db: Connection, id: string): number | undefined {
  return db.get<{ payload: number }>('SELECT payload FROM blobs WHERE id = ?', id)?.payload;
}

export function outboxDue(db: Connection, now: number, limit: number): OutboxRow[] {
  return db.all<StoredOutbox>(`SELECT ${OUTBOX_COLUMNS} FROM outbox WHERE due_at IS NOT NULL AND due_at <= ? ORDER BY due_at, key LIMIT ?`, now, limit).map(outboxOf);
}

export function nextOutboxDue(db: Connection): number | undefined {
  return db.get<{ due_at: number }>('SELECT due_at FROM outbox WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1')?.due_at;
}

export function outboxOfTask(db: Connection, { tenant, taskId }: TaskRef): OutboxRow[] {
  return db.all<StoredOutbox>(`SELECT ${OUTBOX_COLUMNS} FROM outbox WHERE tenant = ? AND task_id = ? ORDER BY key`, tenant, taskId).map(outboxOf);
}

export function document(db: Connection, kind: string, tenant: string, id: string): DocumentRow | undefined {
  const row = db.get<StoredDocument>(`SELECT ${DOCUMENT_COLUMNS} FROM documents WHERE kind = ? AND tenant = ? AND id = ?`, kind, tenant, id);
  return row && documentOf(row);
}

export function documents(db: Connection, { kind, tenant, cursor, limit }: Parameters<Store['documents']>[0]): Page<DocumentRow> {
  const after = cursor === undefined ? [-Number.MAX_VALUE, 0] : readCursor(cursor, 2);
  const found = db.all<StoredDocument>(
    `SELECT key, ${DOCUMENT_COLUMNS} FROM documents WHERE kind = ? ${tenant === undefined ? '' : 'AND tenant = ? '}AND (created_at, key) > (?, ?) ORDER BY created_at, key LIMIT ?`,
    ...[kind, ...(tenant === undefined ? [] : [tenant]), ...after, limit + 1],
  );
  return pageOf(found, limit, documentOf, ({ created_at, key }) => [created_at, key]);
}
