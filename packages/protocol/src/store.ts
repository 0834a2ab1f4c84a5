/**
 * The contract of a store: what is kept of tasks, and how it changes.
 *
 * A store decides nothing. Whoever owns a task computes its next row, the entries that its journal gains and the calls and
 * checkpoints that change, and commits them as one {@link Commit}; the store makes it durable whole or not at all. `expect`
 * is what fences: a commit made from an older state than the stored one is refused with `conflict`.
 *
 * What survives a crash: everything whose `commit` has resolved. What has not resolved may have happened or not.
 */
import type { TaskRow } from './task.ts';

/** Tenant and task id; together they name a task. A name with half a surrogate pair is refused with `invalid_request`. */
export interface TaskRef {
  tenant: string;
  taskId: string;
}

/**
 * One record of a journal. `seq` counts from 1 without gaps. `hash` is the hex SHA-256 over the hash of the entry before it
 * (empty for the first), then `seq`, `at` (ms since 1970), `kind` and `body`, each closed by a line feed. `body` is JSON, kept
 * as it was written.
 */
export interface Entry {
  seq: number;
  at: number;
  kind: string;
  body: string;
  hash: string;
}

/**
 * - `ready`: to be carried out by us, from `notBefore` on.
 * - `started`: handed to its tool; how it ends is not known yet.
 * - `waiting`: only somebody else can settle it (`waitsFor`).
 * - `settled`: it has a result. `abandoned`: the task was cancelled first.
 */
export type CallStatus = 'ready' | 'started' | 'waiting' | 'settled' | 'abandoned';
export type WaitKind = 'approval' | 'review' | 'client_tool' | 'outcome_unknown';

/** A call as it stands now; everything in it is also told by entries of the journal. */
export interface CallRow {
  /** The machine's number for it, from 1. */
  n: number;
  callId: string;
  tool: string;
  /** Wire forms of values, as JSON. */
  args: string;
  /** What a person put in the place of the arguments. */
  editedArgs: string | null;
  status: CallStatus;
  waitsFor: WaitKind | null;
  expiresAt: number | null;
  notBefore: number | null;
  /** How often it was started. */
  tries: number;
  /** The wire form of a `CallResult`, as JSON. */
  result: string | null;
  /** The program has been given the result. */
  delivered: boolean;
  createdAt: number;
  settledAt: number | null;
  /** Who settled it or decided on it. */
  by: string | null;
  /** The decision that ended its wait, as JSON. */
  decision: string | null;
}

/** Bytes of a checkpoint up to which storing them cannot fail but with everything else of their commit. */
export const INLINE_BYTES = 32 * 1024;

/** A stopped machine that was stored. Its bytes are kept apart. */
export interface CheckpointRow {
  checkpointId: string;
  /** The journal entry up to which the machine has been given everything, and the hash there. */
  seq: number;
  hash: string;
  createdAt: number;
  reason: string;
  bytes: number;
  /** Of an increment: the checkpoint that it was made on, which is kept as long as this one. */
  ground?: string;
  /** Names the content of one on which increments may be made. */
  content?: string;
  /** What had come out of the machine so far, so that a stretch run again emits nothing twice. */
  mark: Mark;
}

export interface Mark {
  outputBytes: number;
  calls: number;
  notes: number;
  fuel: number;
  wallMs: number;
  cpuMs: number;
}

/** Something to be told to the outside, again and again until it is taken. */
export interface OutboxRow {
  id: string;
  tenant: string;
  taskId: string | null;
  kind: string;
  /** When it is to be tried next; null when that is over. */
  dueAt: number | null;
  tries: number;
  /** JSON. */
  body: string;
}

/** A small record of the engine or server that has no table of its own: a batch, a session, an API key, a registered tool. */
export interface DocumentRow {
  kind: string;
  tenant: string;
  id: string;
  version: number;
  createdAt: number;
  /** JSON. */
  body: string;
}

export interface Commit {
  /**
   * `expect`: `seq` of the row that this one follows; 0 if there must be none. What a task was made of - `createdAt`, `request`,
   * `sessionId`, `batchId` - stays as its first commit said; later ones are not asked for it.
   */
  task?: { row: TaskRow; expect: number };
  /** Those that the journal has already are a `conflict`. */
  entries?: readonly Entry[];
  /** Put in the place of those with the same `n`. */
  calls?: readonly CallRow[];
  /** Its bytes are durable before the row names them. */
  checkpoint?: { row: CheckpointRow; data: Uint8Array };
  /** Checkpoints that are not needed any more. */
  dropCheckpoints?: readonly string[];
  outbox?: readonly OutboxRow[];
  dropOutbox?: readonly string[];
  /** `expect`: `version` of the document that this one follows; 0 if there must be none; absent: whatever there is. */
  documents?: readonly { row: DocumentRow; expect?: number }[];
  dropDocuments?: readonly Pick<DocumentRow, 'kind' | 'tenant' | 'id'>[];
}

export interface TaskQuery {
  tenant: string;
  status?: readonly string[];
  sessionId?: string;
  batchId?: string;
  /** Only tasks that have called it. */
  tool?: string;
  /** ms since 1970 */
  createdAfter?: number;
  /** Default: newest first. */
  oldestFirst?: boolean;
  /** From the answer before. */
  cursor?: string;
  limit: number;
}

export interface Page<T> {
  items: T[];
  /** Absent on the last page. */
  cursor?: string;
}

/** What a task's data take in the store. */
export interface StoreSize {
  tasks: number;
  bytes: number;
}

export interface Store extends AsyncDisposable {
  /**
   * All of these or none, together with what else was committed in the same turn of the event loop; in the order of the calls.
   * Entries, calls and checkpoints have their task's row beside them in the same commit. Rejects with `conflict`
   * where `expect` does not hold (nothing of this call has happened then, others of the turn are not touched), with
   * `checkpoint_failed` where the bytes of a checkpoint could not be stored, and with `store_failed` where nothing can be
   * written at all.
   */
  commit(commits: readonly Commit[]): Promise<void>;

  task(ref: TaskRef): Promise<TaskRow | undefined>;
  tasks(query: TaskQuery): Promise<Page<TaskRow>>;
  /** How many there are in each status; of all tenants without one. `batchId`: of these only. */
  counts(tenant?: string, batchId?: string): Promise<Record<string, number>>;
  /** Every task that has not ended, whole, in the order of creation. For the start of an engine. */
  unended(): AsyncIterable<TaskRow>;
  /** Tasks whose `dueAt` is not later than `now`, earliest first. */
  due(now: number, limit: number): Promise<TaskRow[]>;
  /** The earliest `dueAt` of all tasks. */
  nextDue(): Promise<number | undefined>;

  /** In order, those after `after`. */
  entries(ref: TaskRef, after: number, limit: number): Promise<Entry[]>;
  calls(ref: TaskRef): Promise<CallRow[]>;
  /** Calls of unended tasks that are `ready` or `started`. For the start of an engine. */
  openCalls(): Promise<(TaskRef & { n: number })[]>;
  /** Calls in status `waiting`, oldest first, over all tasks of a tenant. */
  waits(query: { tenant: string; kinds?: readonly WaitKind[]; cursor?: string; limit: number }): Promise<Page<CallRow & { taskId: string }>>;

  /** Newest first. */
  checkpoints(ref: TaskRef): Promise<CheckpointRow[]>;
  /** Throws `checkpoint_invalid` where the bytes are gone. */
  checkpointData(ref: TaskRef, checkpointId: string): Promise<Uint8Array>;

  outboxDue(now: number, limit: number): Promise<OutboxRow[]>;
  nextOutboxDue(): Promise<number | undefined>;
  outboxOf(ref: TaskRef): Promise<OutboxRow[]>;

  document(kind: string, tenant: string, id: string): Promise<DocumentRow | undefined>;
  /** In the order of creation; of all tenants without one. */
  documents(query: { kind: string; tenant?: string; cursor?: string; limit: number }): Promise<Page<DocumentRow>>;

  /** Bytes under a name of the caller's: durable when this resolves. */
  putBlob(id: string, data: Uint8Array): Promise<void>;
  blob(id: string): Promise<Uint8Array | undefined>;
  dropBlob(id: string): Promise<void>;

  /** Everything of the task is gone when this resolves: rows, journal, calls, checkpoints, outbox, and what files and pages still held of them. */
  purge(ref: TaskRef): Promise<void>;
  size(): Promise<StoreSize>;
  close(): Promise<void>;
}
