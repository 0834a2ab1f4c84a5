/**
 * One call of `commit` as a change of the database.
 *
 * Rows are taken down as values when the call is made, so that the caller may go on with its objects; they are written when
 * the group of the call is.
 */
import type { SQLInputValue } from 'node:sqlite';
import { type CheckpointRow, type Commit, type DocumentRow, FermataError, type TaskRef, type TaskRow } from '@fermata/protocol';
import { checkpointConflict, checkWhole, documentConflict, entryConflict, taskConflict } from '../refusal.ts';
import type { Connection } from './connection.ts';
import type { Change } from './group-commit.ts';
import type { Payloads, StagedPayload } from './payloads.ts';
import { CALL_COLUMNS, callValues, DOCUMENT_COLUMNS, documentValues, OUTBOX_COLUMNS, outboxValues, taskBody } from './rows.ts';
import { storeError } from './store-error.ts';

interface Encoded {
  task: EncodedTask | undefined;
  entries: { seq: number; values: SQLInputValue[] }[];
  calls: SQLInputValue[][];
  checkpoint: { id: string; createdAt: number; body: string; payload: StagedPayload } | undefined;
  dropCheckpoints: readonly string[];
  outbox: SQLInputValue[][];
  dropOutbox: readonly string[];
  documents: { name: Pick<DocumentRow, 'kind' | 'tenant' | 'id'>; values: SQLInputValue[]; expect: number | undefined }[];
  dropDocuments: readonly Pick<DocumentRow, 'kind' | 'tenant' | 'id'>[];
}
interface EncodedTask extends TaskRef {
  expect: number;
  status: string;
  seq: number;
  dueAt: number | null;
  priority: number;
  body: string;
  /** Of a new task. */
  fixed: { createdAt: number; sessionId: string | null; batchId: string | null; request: string } | undefined;
}

const PUT_CALL = putSql('calls', `task, tenant, ${CALL_COLUMNS}`, 'task, n');
const PUT_OUTBOX = putSql('outbox', OUTBOX_COLUMNS, 'id');
const PUT_DOCUMENT = putSql('documents', DOCUMENT_COLUMNS, 'kind, tenant, id');

export class CommitWriter {
  readonly #connection: () => Connection;
  readonly #payloads: Payloads;

  constructor(connection: () => Connection, payloads: Payloads) {
    this.#connection = connection;
    this.#payloads = payloads;
  }

  change(commits: readonly Commit[]): Change {
    for (const commit of commits) checkWhole(commit);
    const encoded = commits.map((commit) => this.#encode(commit));
    const staged = encoded.flatMap(({ checkpoint }) => checkpoint?.payload ?? []);
    const writing = staged.flatMap(({ durable }) => durable ?? []);
    let dropped: string[] = [];
    return {
      ready: writing.length === 0 ? undefined : allWritten(writing),
      apply: () => {
        dropped = [];
        for (const one of encoded) this.#apply(one, dropped);
      },
      done: () => {
        for (const file of dropped) this.#payloads.removeFile(file);
      },
      undone: () => {
        for (const { file } of staged) if (file !== null) this.#payloads.removeFile(file);
      },
    };
  }

  #encode(commit: Commit): Encoded {
    const { task, checkpoint } = commit;
    return {
      task: task && encodeTask(task),
      entries: (commit.entries ?? []).map(({ seq, at, kind, hash, body }) => ({ seq, values: [seq, at, kind, hash, body] })),
      calls: (commit.calls ?? []).map(callValues),
      checkpoint: checkpoint && {
        id: checkpoint.row.checkpointId,
        createdAt: checkpoint.row.createdAt,
        body: JSON.stringify(checkpoint.row satisfies CheckpointRow),
        payload: this.#payloads.stage(checkpoint.data),
      },
      dropCheckpoints: [...(commit.dropCheckpoints ?? [])],
      outbox: (commit.outbox ?? []).map(outboxValues),
      dropOutbox: [...(commit.dropOutbox ?? [])],
      documents: (commit.documents ?? []).map(({ row, expect }) => ({ name: { kind: row.kind, tenant: row.tenant, id: row.id }, values: documentValues(row), expect })),
      dropDocuments: (commit.dropDocuments ?? []).map(({ kind, tenant, id }) => ({ kind, tenant, id })),
    };
  }

  #apply(encoded: Encoded, dropped: string[]): void {
    const db = this.#connection();
    if (encoded.task) this.#applyToTask(this.#putTask(encoded.task), encoded.task, encoded, dropped);
    for (const values of encoded.outbox) db.run(PUT_OUTBOX, ...values);
    for (const id of encoded.dropOutbox) db.run('DELETE FROM outbox WHERE id = ?', id);
    for (const { name, values, expect } of encoded.documents) {
      if (expect !== undefined) this.#expectDocument(name, expect);
      db.run(PUT_DOCUMENT, ...values);
    }
    for (const { kind, tenant, id } of encoded.dropDocuments) db.run('DELETE FROM documents WHERE kind = ? AND tenant = ? AND id = ?', kind, tenant, id);
  }

  /** Tells the key of the task. Columns that have indexes are written only where they change. */
  #putTask(task: EncodedTask): number {
    const { tenant, taskId, expect, status, seq, dueAt, priority, body, fixed } = task;
    const db = this.#connection();
    const there = db.get<{ key: number; seq: number; status: string; due_at: number | null }>(
      'SELECT key, seq, status, due_at FROM tasks WHERE tenant = ? AND task_id = ?',
      tenant,
      taskId,
    );
    if ((there?.seq ?? 0) !== expect) throw taskConflict(task, expect, there?.seq);
    if (there) {
      if (there.status === status && there.due_at === dueAt) db.run('UPDATE tasks SET seq = ?, priority = ?, body = ? WHERE key = ?', seq, priority, body, there.key);
      else db.run('UPDATE tasks SET seq = ?, priority = ?, body = ?, status = ?, due_at = ? WHERE key = ?', seq, priority, body, status, dueAt, there.key);
      return there.key;
    }
    if (!fixed) throw new FermataError('internal', 'a task without a request');
    const key = db.insert(
      'INSERT INTO tasks (tenant, task_id, status, seq, created_at, due_at, session_id, batch_id, priority, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      ...[tenant, taskId, status, seq, fixed.createdAt, dueAt, fixed.sessionId, fixed.batchId, priority, body],
    );
    db.run('INSERT INTO requests (task, body) VALUES (?, ?)', key, fixed.request);
    return key;
  }

  #applyToTask(key: number, ref: TaskRef, { entries, calls, checkpoint, dropCheckpoints }: Encoded, dropped: string[]): void {
    const db = this.#connection();
    for (const { seq, values } of entries) {
      if (db.run('INSERT INTO entries (task, seq, at, kind, hash, body) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING', key, ...values) === 0) throw entryConflict(ref, seq);
    }
    for (const values of calls) db.run(PUT_CALL, key, ref.tenant, ...values);
    if (checkpoint) {
      const { id, createdAt, body, payload } = checkpoint;
      if (db.get('SELECT 1 FROM checkpoints WHERE task = ? AND checkpoint_id = ?', key, id)) throw checkpointConflict(ref, id);
      db.run('INSERT INTO checkpoints (task, checkpoint_id, created_at, payload, body) VALUES (?, ?, ?, ?, ?)', key, id, createdAt, this.#payloads.insert(payload), body);
    }
    for (const id of dropCheckpoints) {
      const row = db.get<{ payload: number }>('DELETE FROM checkpoints WHERE task = ? AND checkpoint_id = ? RETURNING payload', key, id);
      const file = row && this.#payloads.delete(row.payload);
      if (file !== undefined) dropped.push(file);
    }
  }

  #expectDocument(name: Pick<DocumentRow, 'kind' | 'tenant' | 'id'>, expect: number): void {
    const { kind, tenant, id } = name;
    const found = this.#connection().get<{ version: number }>('SELECT version FROM documents WHERE kind = ? AND tenant = ? AND id = ?', kind, tenant, id)?.version;
    if ((found ?? 0) !== expect) throw documentConflict(name, expect, found);
  }
}

function encodeTask({ row, expect }: { row: TaskRow; expect: number }): EncodedTask {
  const { tenant, taskId, status, seq, dueAt, priority, createdAt, sessionId, batchId, request } = row;
  const fixed = expect === 0 ? { createdAt, sessionId, batchId, request: JSON.stringify(request) } : undefined;
  return { tenant, taskId, expect, status, seq, dueAt, priority, body: taskBody(row), fixed };
}

async function allWritten(writing: readonly Promise<void>[]): Promise<void> {
  try {
    await Promise.all(writing);
  } catch (error) {
    await Promise.allSettled(writing); // what is still being written is removed after this
    const { message, hint } = storeError(error, 'a checkpoint');
    throw new FermataError('checkpoint_failed', message, { cause: error, ...(hint !== undefined && { hint }) });
  }
}

/** An INSERT that takes the place of the row with the same `name`. */
function putSql(table: string, columns: string, name: string): string {
  const all = columns.split(', ');
  const changed = all.filter((column) => !name.split(', ').includes(column));
  return `INSERT INTO ${table} (${columns}) VALUES (${all.map(() => '?').join(', ')}) ON CONFLICT (${name}) DO UPDATE SET ${changed.map((column) => `${column} = excluded.${column}`).join(', ')}`;
}
