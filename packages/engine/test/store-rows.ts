/** Rows to put into stores. */
import type { CallRow, CheckpointRow, Commit, DocumentRow, Entry, OutboxRow, TaskRow } from '@fermata/protocol';

export const TENANT = 'acme';

export function taskRow(taskId: string, changes: Partial<TaskRow> = {}): TaskRow {
  return {
    tenant: TENANT,
    taskId,
    status: 'pending',
    desired: 'run',
    seq: 1,
    hash: 'a'.repeat(64),
    epoch: 0,
    attempt: 0,
    worker: null,
    createdAt: 1_700_000_000_000,
    updatedAt: 1_700_000_000_000,
    startedAt: null,
    endedAt: null,
    priority: 0,
    sessionId: null,
    batchId: null,
    dueAt: null,
    timerAt: null,
    notBefore: null,
    parked: false,
    origin: null,
    authored: null,
    answer: null,
    request: { language: 'javascript', code: 'return 1', input: { kind: 'text', value: 'ä\u0000\ud83c' } },
    seed: 'ab'.repeat(32),
    mark: { outputBytes: 0, calls: 0, notes: 0 },
    usage: { wallMs: 1.5, cpuMs: 0, memoryBytes: 0, peakMemoryBytes: 0, diskBytes: 0, outputBytes: 0, toolCalls: 0, fuel: 12 },
    step: null,
    progress: 0.25,
    line: null,
    checkpointId: null,
    pauseReason: null,
    output: null,
    files: [],
    truncated: false,
    error: null,
    ...changes,
  };
}

export function entryRow(seq: number, body = '{"n":1}'): Entry {
  return { seq, at: 1_700_000_000_000 + seq, kind: 'task_created', body, hash: seq.toString(16).padStart(64, '0') };
}

export function callRow(n: number, changes: Partial<CallRow> = {}): CallRow {
  return {
    n,
    callId: `call_${n}`,
    tool: 'search',
    args: '{"q":"x"}',
    editedArgs: null,
    status: 'ready',
    waitsFor: null,
    expiresAt: null,
    notBefore: null,
    tries: 0,
    result: null,
    delivered: false,
    createdAt: 1_700_000_000_000,
    settledAt: null,
    by: null,
    decision: null,
    ...changes,
  };
}

export function checkpointRow(checkpointId: string, changes: Partial<CheckpointRow> = {}): CheckpointRow {
  const mark = { outputBytes: 3, calls: 1, notes: 0, fuel: 100, wallMs: 2.5, cpuMs: 1 };
  return { checkpointId, seq: 1, hash: 'b'.repeat(64), createdAt: 1_700_000_000_000, reason: 'parked', bytes: 4, mark, ...changes };
}

export function outboxRow(id: string, changes: Partial<OutboxRow> = {}): OutboxRow {
  return { id, tenant: TENANT, taskId: null, kind: 'webhook', dueAt: 1000, tries: 0, body: '{}', ...changes };
}

export function documentRow(id: string, changes: Partial<DocumentRow> = {}): DocumentRow {
  return { kind: 'batch', tenant: TENANT, id, version: 1, createdAt: 1000, body: '{"a":1}', ...changes };
}

/** A new task with its first entry. */
export function birth(taskId: string, changes: Partial<TaskRow> = {}): Commit {
  return { task: { row: taskRow(taskId, changes), expect: 0 }, entries: [entryRow(1)] };
}

/** A change of a task that gains one entry. */
export function step(taskId: string, expect: number, changes: Partial<TaskRow> = {}, rest: Commit = {}): Commit {
  return { task: { row: taskRow(taskId, { seq: expect + 1, ...changes }), expect }, entries: [entryRow(expect + 1)], ...rest };
}

export const ref = (taskId: string, tenant = TENANT) => ({ tenant, taskId });

export async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const row of rows) found.push(row);
  return found;
}
