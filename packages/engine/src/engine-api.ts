/**
 * What an engine offers: durable tasks by name.
 *
 * All that it tells is durable: nothing is shown that a crash could undo. Everything is asked for in the name of a tenant, who
 * sees and changes only what is its own; `by` says who asks, for the journal.
 */
import type {
  CallResult,
  CheckpointRow,
  Entry,
  Inspection,
  Language,
  LimitsInput,
  Page,
  PauseReason,
  TaskRef,
  TaskRequest,
  TaskRow,
  TaskStatus,
  Value,
  WaitKind,
} from '@fermata/protocol';

export interface SubmitOptions {
  /** Chosen by the caller; the same id with the same request is a repeat, with another one a `conflict`. Default: made up. */
  taskId?: string;
  by?: string;
}

/** A call that somebody must settle, or a timer, before the task can go on. */
export interface WaitingCall {
  callId: string | null;
  tool: string | null;
  /** Wire form. */
  arguments: unknown;
  kind: WaitKind | 'timer';
  /** For a timer: when it is due. */
  expiresAt: number | null;
  createdAt: number;
}
export interface InFlightCall {
  callId: string;
  tool: string;
  startedAt: number;
  tries: number;
}

/** A task as its owner sees it. */
export interface TaskView extends Omit<TaskRow, 'seed' | 'hash' | 'mark' | 'round'> {
  waitingFor: WaitingCall[];
  inFlight: InFlightCall[];
  /** While it is pending: how many are before it, and what else holds it up. */
  queuePosition: number | null;
  queueReason: string | null;
  resumable: boolean | null;
  resumableReason: string | null;
  /** The task's output so far; that of a stretch run again is not told twice. */
  stdout: string;
  stderr: string;
}

export type Decision =
  /** `arguments`: in the place of the program's, in wire form. `value`: for a review. */
  | { action: 'approve'; arguments?: Record<string, unknown>; value?: unknown; comment?: string }
  | { action: 'reject'; reason?: string }
  /** For client tools, and for calls whose outcome is unknown. `output` in wire form. */
  | { action: 'result'; output: unknown }
  | { action: 'error'; error: { name?: string; message: string; data?: unknown } }
  /** Only where the outcome is unknown: its effect may happen twice. */
  | { action: 'retry' };

export interface CallView {
  callId: string;
  tool: string;
  arguments: unknown;
  editedArguments?: unknown;
  status: 'ready' | 'started' | 'waiting' | 'settled' | 'abandoned';
  waitsFor: WaitKind | null;
  tries: number;
  result?: { output: unknown } | { error: { name: string; message: string; data?: unknown } };
  delivered: boolean;
  createdAt: number;
  settledAt: number | null;
  expiresAt: number | null;
  by: string | null;
}

/** An entry of a journal, or something that passes and is not kept (`seq` null): a line reached, what has been spent. */
export interface TaskEvent {
  seq: number | null;
  at: number;
  kind: string;
  data: unknown;
}

export interface TaskFilter {
  status?: TaskStatus[];
  sessionId?: string;
  batchId?: string;
  tool?: string;
  createdAfter?: number;
  /** Default: newest first. */
  oldestFirst?: boolean;
  cursor?: string;
  limit?: number;
}

/** A program that a model wrote, or a person made of it (`by`). */
export interface ProgramVersion {
  version: number;
  language: Language;
  code: string;
  by: string;
  createdAt: number;
}

export interface BatchView {
  batchId: string;
  createdAt: number;
  counts: Record<string, number>;
  total: number;
  maxConcurrency: number | null;
  taskIds: string[];
  /** When its last task ended. */
  endedAt: number | null;
}

export interface SessionView {
  sessionId: string;
  createdAt: number;
  /** How many tasks have left their mark on the shared interpreter. */
  head: number;
  language: string | null;
  bytes: number;
}

export interface EngineStatus {
  running: number;
  pending: number;
  residentMachines: number;
  accepting: boolean;
}

export interface Engine extends AsyncDisposable {
  readonly status: EngineStatus;
  /** Takes over what an engine before it has left, and begins to run tasks. */
  start(): Promise<void>;

  /**
   * Durable when it resolves. Throws `invalid_request`, `conflict` (the id is taken by another request), or
   * `resources_exhausted` (the queue is full).
   */
  submit(tenant: string, request: TaskRequest, options?: SubmitOptions): Promise<TaskView>;
  /** All of them or none. */
  submitBatch(
    tenant: string,
    requests: readonly { request: TaskRequest; taskId?: string }[],
    options?: { batchId?: string; maxConcurrency?: number; callbackUrl?: string; by?: string },
  ): Promise<BatchView>;
  batch(tenant: string, batchId: string): Promise<BatchView>;
  cancelBatch(tenant: string, batchId: string, by?: string): Promise<BatchView>;

  /** Throws `not_found`. */
  task(ref: TaskRef): Promise<TaskView>;
  tasks(tenant: string, filter?: TaskFilter): Promise<Page<TaskView>>;
  /** Resolves when the task has ended, is paused, or waits for somebody (a timer does not count), or after `waitMs`. */
  wait(ref: TaskRef, waitMs: number, signal?: AbortSignal): Promise<TaskView>;

  /**
   * Resolves when it has become true, or after `waitMs` with the task as it then is (compare `status` with what was asked).
   * Asking for what already holds is no error. Throws `invalid_state` for an ended task, and `checkpoint_failed` where a
   * pause could not be made durable; the task then goes on.
   */
  pause(ref: TaskRef, options?: { waitMs?: number; by?: string; reason?: PauseReason }): Promise<TaskView>;
  resume(ref: TaskRef, options?: { by?: string }): Promise<TaskView>;
  cancel(ref: TaskRef, options?: { waitMs?: number; by?: string }): Promise<TaskView>;

  calls(ref: TaskRef): Promise<CallView[]>;
  /** Throws `not_found` for a call that this task never made, `invalid_state` for one that does not wait for this, `conflict` after another decision. */
  decide(ref: TaskRef, callId: string, decision: Decision, by: string): Promise<CallView>;
  /** Calls that wait, over all tasks of the tenant; without `kinds` those that wait for a person. */
  inbox(tenant: string, query?: { kinds?: WaitKind[]; cursor?: string; limit?: number }): Promise<Page<CallView & { taskId: string }>>;

  /** From after `after`, first what is recorded, then live, until the task has ended or `signal` aborts. `live`: also what passes. */
  events(ref: TaskRef, options?: { after?: number; live?: boolean; signal?: AbortSignal }): AsyncIterable<TaskEvent>;
  journal(ref: TaskRef, after?: number, limit?: number): Promise<Entry[]>;
  /** All that a model has written for the task, oldest first; empty for one with a program of its own. */
  programs(ref: TaskRef): Promise<ProgramVersion[]>;

  /** Of a stopped task; looking changes nothing. */
  inspect(ref: TaskRef): Promise<Inspection>;
  checkpoint(ref: TaskRef, by?: string): Promise<CheckpointRow>;
  checkpoints(ref: TaskRef): Promise<CheckpointRow[]>;
  /** A new task from a checkpoint (default: the newest), or one in which a call has another answer. */
  fork(ref: TaskRef, options?: { checkpointId?: string; answers?: Record<string, CallResult>; limits?: LimitsInput; taskId?: string; by?: string }): Promise<TaskView>;
  /** Replays an ended task from its journal; `differences` is empty where everything came out the same. */
  verify(ref: TaskRef): Promise<{ verified: boolean; checkpoints: number; differences: string[] }>;
  /** Of an ended task: everything is gone but a tombstone. */
  purge(ref: TaskRef, by?: string): Promise<void>;

  sessions(tenant: string, query?: { cursor?: string; limit?: number }): Promise<Page<SessionView>>;
  endSession(tenant: string, sessionId: string): Promise<void>;

  putFile(tenant: string, name: string, data: Uint8Array): Promise<{ fileId: string; bytes: number }>;
  file(tenant: string, fileId: string): Promise<{ name: string; data: Uint8Array } | undefined>;
  /** Tasks that still name it fail when they begin. Throws `not_found`. */
  dropFile(tenant: string, fileId: string): Promise<void>;

  /**
   * Takes no more tasks, pauses those that run (reason `shutdown`: the next start goes on with them), lets calls that may not be
   * made twice come to their end, as long as `drainMs` (default 10 s) goes, and lets go of the store.
   */
  close(options?: { drainMs?: number }): Promise<void>;
}

export type { Value };
