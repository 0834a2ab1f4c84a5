/**
 * What a memory store holds, and how one commit changes it.
 *
 * Owns the maps. A call's commits are applied whole or undone whole. Everything in here is a copy that nobody else has.
 */
import type { CallRow, CheckpointRow, Commit, DocumentRow, Entry, OutboxRow, TaskRef, TaskRow } from '@fermata/protocol';
import { checkpointConflict, checkWhole, documentConflict, entryConflict, taskConflict } from '../refusal.ts';

/** `key` counts insertions and settles the order of what is equally old. */
export interface Kept<T> {
  key: number;
  row: T;
}
export interface KeptTask extends Kept<TaskRow> {
  entries: Map<number, Entry>;
  calls: Map<number, CallRow>;
  checkpoints: Map<string, Kept<CheckpointRow> & { data: Uint8Array }>;
}

type Undo = () => void;

/** A copy in the form that comes back from JSON. */
export function copy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

export function nameOf(...parts: string[]): string {
  return JSON.stringify(parts);
}

export class MemoryState {
  readonly tasks = new Map<string, KeptTask>();
  readonly outbox = new Map<string, Kept<OutboxRow>>();
  readonly documents = new Map<string, Kept<DocumentRow>>();
  readonly blobs = new Map<string, Uint8Array>();
  #lastKey = 0;

  task({ tenant, taskId }: TaskRef): KeptTask | undefined {
    return this.tasks.get(nameOf(tenant, taskId));
  }

  /** All of `commits` or, where it throws, none. */
  apply(commits: readonly Commit[]): void {
    const undo: Undo[] = [];
    try {
      for (const commit of commits) this.#apply(commit, undo);
    } catch (error) {
      for (const step of undo.reverse()) step();
      throw error;
    }
  }

  #apply(commit: Commit, undo: Undo[]): void {
    checkWhole(commit);
    if (commit.task) this.#applyToTask(this.#putTask(commit.task, undo), commit, undo);
    for (const row of commit.outbox ?? []) this.#put(this.outbox, row.id, row, undo);
    for (const id of commit.dropOutbox ?? []) drop(this.outbox, id, undo);
    for (const { row, expect } of commit.documents ?? []) {
      const name = nameOf(row.kind, row.tenant, row.id);
      const found = this.documents.get(name)?.row.version;
      if (expect !== undefined && (found ?? 0) !== expect) throw documentConflict(row, expect, found);
      this.#put(this.documents, name, row, undo);
    }
    for (const { kind, tenant, id } of commit.dropDocuments ?? []) drop(this.documents, nameOf(kind, tenant, id), undo);
  }

  #putTask({ row, expect }: { row: TaskRow; expect: number }, undo: Undo[]): KeptTask {
    const name = nameOf(row.tenant, row.taskId);
    const there = this.tasks.get(name);
    if ((there?.row.seq ?? 0) !== expect) throw taskConflict(row, expect, there?.row.seq);
    if (!there) {
      const task: KeptTask = { key: ++this.#lastKey, row, entries: new Map(), calls: new Map(), checkpoints: new Map() };
      set(this.tasks, name, task, undo);
      return task;
    }
    const before = there.row;
    const { createdAt, request, sessionId, batchId } = before;
    there.row = { ...row, createdAt, request, sessionId, batchId };
    undo.push(() => {
      there.row = before;
    });
    return there;
  }

  #applyToTask(task: KeptTask, commit: Commit, undo: Undo[]): void {
    for (const entry of commit.entries ?? []) {
      if (task.entries.has(entry.seq)) throw entryConflict(task.row, entry.seq);
      set(task.entries, entry.seq, entry, undo);
    }
    for (const call of commit.calls ?? []) set(task.calls, call.n, call, undo);
    if (commit.checkpoint) {
      const { row, data } = commit.checkpoint;
      if (task.checkpoints.has(row.checkpointId)) throw checkpointConflict(task.row, row.checkpointId);
      set(task.checkpoints, row.checkpointId, { key: ++this.#lastKey, row, data }, undo);
    }
    for (const id of commit.dropCheckpoints ?? []) drop(task.checkpoints, id, undo);
  }

  /** In the place of what has the name, else behind everything. */
  #put<T>(map: Map<string, Kept<T>>, name: string, row: T, undo: Undo[]): void {
    set(map, name, { key: map.get(name)?.key ?? ++this.#lastKey, row }, undo);
  }
}

function set<K, V>(map: Map<K, V>, key: K, value: V, undo: Undo[]): void {
  const before = map.get(key);
  map.set(key, value);
  undo.push(() => (before === undefined ? map.delete(key) : map.set(key, before)));
}

function drop<K, V>(map: Map<K, V>, key: K, undo: Undo[]): void {
  const before = map.get(key);
  if (before === undefined) return;
  map.delete(key);
  undo.push(() => map.set(key, before));
}
