/**
 * The reference of what a store does: everything in the memory of this process, nothing of it after its end.
 *
 * Copies go in and out, so that nobody shares an object with it. As in a store that writes, a commit takes effect at the end
 * of the turn of the event loop, in the order of the calls.
 */
import { setImmediate } from 'node:timers/promises';
import {
  type CallRow,
  type CheckpointRow,
  type Commit,
  type DocumentRow,
  ENDED,
  type Entry,
  type OutboxRow,
  type Page,
  type Store,
  type TaskQuery,
  type TaskRef,
  type TaskRow,
} from '@fermata/protocol';
import { pageOf, readCursor } from '../cursor.ts';
import { noCheckpoint, storeClosed } from '../refusal.ts';
import { copy, type Kept, type KeptTask, MemoryState, nameOf } from './memory-state.ts';

export function createMemoryStore(): Store {
  return new MemoryStore();
}

class MemoryStore implements Store {
  readonly #state = new MemoryState();
  #closed = false;

  async commit(commits: readonly Commit[]): Promise<void> {
    const copies = commits.map(
      ({ checkpoint, ...rest }): Commit => ({ ...copy(rest), ...(checkpoint && { checkpoint: { row: copy(checkpoint.row), data: checkpoint.data.slice() } }) }),
    );
    await this.#write(() => this.#state.apply(copies));
  }

  async task(ref: TaskRef): Promise<TaskRow | undefined> {
    return copyOf(this.#open.task(ref)?.row);
  }

  async tasks({ tenant, status, sessionId, batchId, tool, createdAfter, oldestFirst = false, cursor, limit }: TaskQuery): Promise<Page<TaskRow>> {
    const way = oldestFirst ? -1 : 1;
    const after = cursor === undefined ? undefined : readCursor(cursor, 2);
    const found = [...this.#open.tasks.values()].filter(
      (task) =>
        task.row.tenant === tenant &&
        (status === undefined || status.includes(task.row.status)) &&
        (sessionId === undefined || task.row.sessionId === sessionId) &&
        (batchId === undefined || task.row.batchId === batchId) &&
        (tool === undefined || [...task.calls.values()].some((call) => call.tool === tool)) &&
        (createdAfter === undefined || task.row.createdAt > createdAfter) &&
        (after === undefined || way * byPlace(placeOf(task), after) < 0),
    );
    found.sort((a, b) => way * byPlace(placeOf(b), placeOf(a)));
    return pageOf(found, limit, ({ row }) => copy(row), placeOf);
  }

  async counts(tenant?: string, batchId?: string): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { row } of this.#open.tasks.values()) {
      if ((tenant === undefined || row.tenant === tenant) && (batchId === undefined || row.batchId === batchId)) counts[row.status] = (counts[row.status] ?? 0) + 1;
    }
    return counts;
  }

  async *unended(): AsyncIterable<TaskRow> {
    for (const { row } of this.#unended().sort((a, b) => byPlace(placeOf(a), placeOf(b)))) yield copy(row);
  }

  async due(now: number, limit: number): Promise<TaskRow[]> {
    const due = [...this.#open.tasks.values()].filter(({ row }) => row.dueAt !== null && row.dueAt <= now);
    return earliest(due)
      .slice(0, limit)
      .map(({ row }) => copy(row));
  }

  async nextDue(): Promise<number | undefined> {
    return earliest([...this.#open.tasks.values()])[0]?.row.dueAt ?? undefined;
  }

  async entries(ref: TaskRef, after: number, limit: number): Promise<Entry[]> {
    const entries = [...(this.#open.task(ref)?.entries.values() ?? [])].filter(({ seq }) => seq > after);
    return copy(entries.sort((a, b) => a.seq - b.seq).slice(0, limit));
  }

  async calls(ref: TaskRef): Promise<CallRow[]> {
    return copy([...(this.#open.task(ref)?.calls.values() ?? [])].sort((a, b) => a.n - b.n));
  }

  async openCalls(): Promise<(TaskRef & { n: number })[]> {
    const tasks = this.#unended().sort((a, b) => byPlace(placeOf(a), placeOf(b)));
    return tasks.flatMap(({ row: { tenant, taskId }, calls }) =>
      [...calls.values()]
        .filter(({ status }) => status === 'ready' || status === 'started')
        .sort((a, b) => a.n - b.n)
        .map(({ n }) => ({ tenant, taskId, n })),
    );
  }

  async waits({ tenant, kinds, cursor, limit }: Parameters<Store['waits']>[0]): Promise<Page<CallRow & { taskId: string }>> {
    const after = cursor === undefined ? undefined : readCursor(cursor, 3);
    const waits = [...this.#open.tasks.values()]
      .filter(({ row }) => row.tenant === tenant)
      .flatMap(({ key, row, calls }) => [...calls.values()].map((call) => ({ place: [call.createdAt, key, call.n], call, taskId: row.taskId })))
      .filter(({ call, place }) => call.status === 'waiting' && (!kinds || (call.waitsFor && kinds.includes(call.waitsFor))) && (!after || byPlace(place, after) > 0));
    waits.sort((a, b) => byPlace(a.place, b.place));
    return pageOf(
      waits,
      limit,
      ({ call, taskId }) => ({ ...copy(call), taskId }),
      ({ place }) => place,
    );
  }

  async checkpoints(ref: TaskRef): Promise<CheckpointRow[]> {
    const checkpoints = [...(this.#open.task(ref)?.checkpoints.values() ?? [])];
    return checkpoints.sort((a, b) => byPlace(placeOf(b), placeOf(a))).map(({ row }) => copy(row));
  }

  async checkpointData(ref: TaskRef, checkpointId: string): Promise<Uint8Array> {
    const found = this.#open.task(ref)?.checkpoints.get(checkpointId);
    if (!found) throw noCheckpoint(checkpointId);
    return found.data.slice();
  }

  async outboxDue(now: number, limit: number): Promise<OutboxRow[]> {
    const due = [...this.#open.outbox.values()].filter(({ row }) => row.dueAt !== null && row.dueAt <= now);
    return earliest(due)
      .slice(0, limit)
      .map(({ row }) => copy(row));
  }

  async nextOutboxDue(): Promise<number | undefined> {
    return earliest([...this.#open.outbox.values()])[0]?.row.dueAt ?? undefined;
  }

  async outboxOf({ tenant, taskId }: TaskRef): Promise<OutboxRow[]> {
    const rows = [...this.#open.outbox.values()].filter(({ row }) => row.tenant === tenant && row.taskId === taskId);
    return rows.sort((a, b) => a.key - b.key).map(({ row }) => copy(row));
  }

  async document(kind: string, tenant: string, id: string): Promise<DocumentRow | undefined> {
    return copyOf(this.#open.documents.get(nameOf(kind, tenant, id))?.row);
  }

  async documents({ kind, tenant, cursor, limit }: Parameters<Store['documents']>[0]): Promise<Page<DocumentRow>> {
    const after = cursor === undefined ? undefined : readCursor(cursor, 2);
    const found = [...this.#open.documents.values()].filter(({ row }) => row.kind === kind && (tenant === undefined || row.tenant === tenant));
    const rest = found.filter((document) => !after || byPlace(placeOf(document), after) > 0).sort((a, b) => byPlace(placeOf(a), placeOf(b)));
    return pageOf(rest, limit, ({ row }) => copy(row), placeOf);
  }

  async putBlob(id: string, data: Uint8Array): Promise<void> {
    const kept = data.slice();
    await this.#write(() => this.#state.blobs.set(id, kept));
  }

  async blob(id: string): Promise<Uint8Array | undefined> {
    return this.#open.blobs.get(id)?.slice();
  }

  async dropBlob(id: string): Promise<void> {
    await this.#write(() => this.#state.blobs.delete(id));
  }

  async purge({ tenant, taskId }: TaskRef): Promise<void> {
    await this.#write(() => {
      this.#state.tasks.delete(nameOf(tenant, taskId));
      for (const { row } of [...this.#state.outbox.values()]) if (row.tenant === tenant && row.taskId === taskId) this.#state.outbox.delete(row.id);
    });
  }

  async size() {
    let bytes = 0;
    for (const { row, entries, calls, checkpoints } of this.#open.tasks.values()) {
      bytes += JSON.stringify([row, [...entries.values()], [...calls.values()]]).length;
      for (const { data } of checkpoints.values()) bytes += data.length;
    }
    for (const data of this.#state.blobs.values()) bytes += data.length;
    return { tasks: this.#state.tasks.size, bytes };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    await setImmediate(); // what was asked for before is done first
    this.#closed = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  get #open(): MemoryState {
    if (this.#closed) throw storeClosed();
    return this.#state;
  }

  async #write(change: () => void): Promise<void> {
    if (this.#closed) throw storeClosed();
    await setImmediate();
    change();
  }

  #unended(): KeptTask[] {
    return [...this.#open.tasks.values()].filter(({ row }) => !ENDED.includes(row.status));
  }
}

function copyOf<T>(row: T | undefined): T | undefined {
  return row === undefined ? undefined : copy(row);
}

function placeOf({ row, key }: Kept<{ createdAt: number }>): number[] {
  return [row.createdAt, key];
}

function byPlace(a: readonly number[], b: readonly number[]): number {
  const i = a.findIndex((part, at) => part !== b[at]);
  return i < 0 ? 0 : (a[i] ?? 0) - (b[i] ?? 0);
}

function earliest<T extends { dueAt: number | null }>(rows: Kept<T>[]): Kept<T>[] {
  return rows.filter(({ row }) => row.dueAt !== null).sort((a, b) => byPlace([a.row.dueAt ?? 0, a.key], [b.row.dueAt ?? 0, b.key]));
}
