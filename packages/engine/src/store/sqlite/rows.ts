/** Rows of the database as rows of the contract: columns for what is asked for by value, the rest as JSON. */

import type { SQLInputValue } from 'node:sqlite';
import type { CallRow, CheckpointRow, DocumentRow, Entry, OutboxRow, TaskRow } from '@fermata/protocol';

export const TASK_COLUMNS = 't.tenant, t.task_id, t.status, t.seq, t.created_at, t.due_at, t.session_id, t.batch_id, t.priority, t.body, r.body AS request';
export const CALL_COLUMNS = 'n, tool, status, waits_for, created_at, args, result, body';
export const OUTBOX_COLUMNS = 'id, tenant, task_id, kind, due_at, tries, body';
export const DOCUMENT_COLUMNS = 'kind, tenant, id, version, created_at, body';

export interface StoredTask {
  tenant: string;
  task_id: string;
  status: TaskRow['status'];
  seq: number;
  created_at: number;
  due_at: number | null;
  session_id: string | null;
  batch_id: string | null;
  priority: number;
  body: string;
  request: string;
}

export function taskBody(row: TaskRow): string {
  const { tenant: _t, taskId: _i, status: _s, seq: _q, createdAt: _c, dueAt: _d, sessionId: _e, batchId: _b, priority: _p, request: _r, ...rest } = row;
  return JSON.stringify(rest);
}

export function taskOf(row: StoredTask): TaskRow {
  const { tenant, task_id, status, seq, created_at, due_at, session_id, batch_id, priority, body, request } = row;
  return {
    // Rows of versions that had no models lack these.
    ...{ authored: null, answer: null },
    ...(JSON.parse(body) as TaskRow),
    tenant,
    taskId: task_id,
    status,
    seq,
    createdAt: created_at,
    dueAt: due_at,
    sessionId: session_id,
    batchId: batch_id,
    priority,
    request: JSON.parse(request) as TaskRow['request'],
  };
}

export type StoredEntry = Pick<Entry, keyof Entry>;

export interface StoredCall {
  n: number;
  tool: string;
  status: CallRow['status'];
  waits_for: CallRow['waitsFor'];
  created_at: number;
  args: string;
  result: string | null;
  body: string;
}

/** In the order of {@link CALL_COLUMNS}. */
export function callValues({ n, tool, status, waitsFor, createdAt, args, result, ...rest }: CallRow): SQLInputValue[] {
  return [n, tool, status, waitsFor, createdAt, args, result, JSON.stringify(rest)];
}

export function callOf({ n, tool, status, waits_for, created_at, args, result, body }: StoredCall): CallRow {
  return { ...(JSON.parse(body) as CallRow), n, tool, status, waitsFor: waits_for, createdAt: created_at, args, result };
}

export function checkpointOf({ body }: { body: string }): CheckpointRow {
  return JSON.parse(body) as CheckpointRow;
}

export interface StoredOutbox {
  id: string;
  tenant: string;
  task_id: string | null;
  kind: string;
  due_at: number | null;
  tries: number;
  body: string;
}

/** In the order of {@link OUTBOX_COLUMNS}. */
export function outboxValues({ id, tenant, taskId, kind, dueAt, tries, body }: OutboxRow): SQLInputValue[] {
  return [id, tenant, taskId, kind, dueAt, tries, body];
}

export function outboxOf({ id, tenant, task_id, kind, due_at, tries, body }: StoredOutbox): OutboxRow {
  return { id, tenant, taskId: task_id, kind, dueAt: due_at, tries, body };
}

export interface StoredDocument {
  key: number;
  kind: string;
  tenant: string;
  id: string;
  version: number;
  created_at: number;
  body: string;
}

/** In the order of {@link DOCUMENT_COLUMNS}. */
export function documentValues({ kind, tenant, id, version, createdAt, body }: DocumentRow): SQLInputValue[] {
  return [kind, tenant, id, version, createdAt, body];
}

export function documentOf({ kind, tenant, id, version, created_at, body }: StoredDocument): DocumentRow {
  return { kind, tenant, id, version, createdAt: created_at, body };
}
