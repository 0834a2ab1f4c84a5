/**
 * A task in memory, between its store and whoever changes it.
 *
 * It owns the task's row, its calls and the head of its journal. Changes are made here at once, in order, and become durable
 * by {@link LiveTask.flush}, which commits all that was changed since the last one. Readers see the store, never this. If a
 * commit fails the live task is broken: nothing more can be done with it, and the task goes on from what is durable.
 */
import {
  type CallRow,
  type CheckpointRow,
  type Commit,
  type DocumentRow,
  type Entry,
  FermataError,
  type OutboxRow,
  type Store,
  type TaskRef,
  type TaskRow,
} from '@fermata/protocol';
import type { Moment } from './engine-options.ts';
import { type EntryBodies, type EntryKind, entryBytes, nextEntry } from './journal.ts';

export interface LiveTaskOptions {
  store: Store;
  now: () => number;
  moment: (moment: Moment) => void;
  /** Whether somebody is to be told of all tasks of the tenant. */
  listens: (tenant: string) => boolean;
  /** Told what has become durable. */
  onCommitted: (live: LiveTask, entries: readonly Entry[]) => void;
  /** Told once, when a commit has failed. */
  onBroken: (live: LiveTask, error: FermataError) => void;
}

/** What goes into the same commit besides row, journal and calls. */
export interface Besides {
  checkpoint?: { row: CheckpointRow; data: Uint8Array };
  dropCheckpoints?: readonly string[];
  outbox?: readonly OutboxRow[];
  documents?: readonly { row: DocumentRow; expect?: number }[];
}

export class LiveTask {
  readonly ref: TaskRef;
  readonly #options: LiveTaskOptions;
  readonly #calls: Map<number, CallRow>;
  #row: TaskRow;
  /** As it was handed to the store last. */
  #handedRow: TaskRow;
  #entries: Entry[] = [];
  #changedCalls = new Set<number>();
  /** Settled calls whose result the program has not been given, in the order in which they were settled. */
  readonly #answers: number[];
  #changed = false;
  #outbox: OutboxRow[] = [];
  #documents: (() => DocumentRow)[] = [];
  #last: Promise<void> = Promise.resolve();
  #broken: FermataError | undefined;

  constructor(options: LiveTaskOptions, row: TaskRow, calls: readonly CallRow[]) {
    this.ref = { tenant: row.tenant, taskId: row.taskId };
    this.#options = options;
    this.#row = row;
    this.#handedRow = row;
    this.#calls = new Map(calls.map((call) => [call.n, call]));
    const waiting = calls.filter(({ status, delivered }) => status === 'settled' && !delivered);
    this.#answers = waiting.sort((a, b) => (a.settledAt ?? 0) - (b.settledAt ?? 0) || a.n - b.n).map(({ n }) => n);
  }

  /** A task that the store does not have yet, with the first entry of its journal. */
  static create(options: LiveTaskOptions, row: TaskRow, entry: Entry): LiveTask {
    const live = new LiveTask(options, row, []);
    live.#handedRow = { ...row, seq: 0 };
    live.#entries = [entry];
    live.#changed = true;
    return live;
  }

  get row(): TaskRow {
    return this.#row;
  }
  get broken(): FermataError | undefined {
    return this.#broken;
  }
  get ended(): boolean {
    return this.#row.endedAt !== null;
  }
  /** What has been recorded since the task was submitted. */
  get journalBytes(): number {
    return this.#row.usage.journalBytes ?? 0;
  }
  call(n: number): CallRow | undefined {
    return this.#calls.get(n);
  }
  callById(callId: string): CallRow | undefined {
    for (const call of this.#calls.values()) if (call.callId === callId) return call;
    return undefined;
  }
  /** The next call whose result the program is to be given; it counts as given from now on. */
  nextAnswer(): CallRow | undefined {
    const n = this.#answers.shift();
    return n === undefined ? undefined : this.#calls.get(n);
  }
  /** What the answers take that the program has not been given yet. */
  get answerBytes(): number {
    return this.#answers.reduce((sum, n) => sum + (this.#calls.get(n)?.result?.length ?? 0), 0);
  }
  get hasAnswer(): boolean {
    return this.#answers.length > 0;
  }
  /** In the order of their start. */
  calls(): CallRow[] {
    return [...this.#calls.values()];
  }
  openCalls(): CallRow[] {
    return this.calls().filter(({ status }) => status !== 'settled' && status !== 'abandoned');
  }

  change(fields: Partial<TaskRow>): void {
    this.#row = { ...this.#row, ...fields };
    this.#changed = true;
  }
  /** Adds an entry to the journal; its number. */
  record<K extends EntryKind>(kind: K, body: EntryBodies[K]): number {
    const at = this.#options.now();
    const entry = nextEntry(this.#row, at, kind, body);
    this.#entries.push(entry);
    const usage = { ...this.#row.usage, journalBytes: this.journalBytes + entryBytes(entry) };
    this.change({ seq: entry.seq, hash: entry.hash, updatedAt: at, usage });
    return entry.seq;
  }
  putCall(call: CallRow): CallRow {
    const at = this.#answers.indexOf(call.n);
    if (call.status === 'settled' && !call.delivered && at < 0) this.#answers.push(call.n);
    if (call.delivered && at >= 0) this.#answers.splice(at, 1);
    this.#calls.set(call.n, call);
    this.#changedCalls.add(call.n);
    this.#changed = true;
    return call;
  }
  changeCall(n: number, fields: Partial<CallRow>): CallRow {
    const call = this.#calls.get(n);
    if (!call) throw new FermataError('internal', `there is no call ${n} of task ${this.ref.taskId}`);
    return this.putCall({ ...call, ...fields });
  }
  /** Something to be told to the outside once what was changed before is durable. */
  get isListenedTo(): boolean {
    return this.#options.listens(this.ref.tenant);
  }

  tell(row: OutboxRow): void {
    this.#outbox.push(row);
    this.#changed = true;
  }

  /** A document that is to be durable with what was changed before; it is asked for when that is committed. */
  keep(document: () => DocumentRow): void {
    this.#documents.push(document);
    this.#changed = true;
  }

  /**
   * Everything that was changed before is durable when this resolves. Rejects with what the store says.
   */
  flush(besides: Besides = {}): Promise<void> {
    if (this.#broken) return Promise.reject(this.#broken);
    if (!this.#changed && Object.keys(besides).length === 0) return this.#last;
    const [entries, changedCalls, outbox, documents] = [this.#entries, this.#changedCalls, this.#outbox, this.#documents];
    const commit: Commit = {
      task: { row: this.#row, expect: this.#handedRow.seq },
      entries,
      calls: [...changedCalls].map((n) => this.#calls.get(n) as CallRow),
      ...besides,
      outbox: [...outbox, ...(besides.outbox ?? [])],
      documents: [...documents.map((made) => ({ row: made() })), ...(besides.documents ?? [])],
    };
    this.#handedRow = this.#row;
    this.#entries = [];
    this.#changedCalls = new Set();
    this.#outbox = [];
    this.#documents = [];
    this.#changed = false;
    this.#last = this.#commit(commit, entries);
    this.#last.catch(() => {});
    return this.#last;
  }

  /**
   * Stores a checkpoint that nothing names yet. Rejects with `checkpoint_failed` where its bytes cannot be stored; the live
   * task goes on then.
   */
  async store(checkpoint: { row: CheckpointRow; data: Uint8Array }): Promise<void> {
    await this.flush();
    await this.#options.store.commit([{ task: { row: this.#handedRow, expect: this.#handedRow.seq }, checkpoint }]);
  }

  async #commit(commit: Commit, entries: readonly Entry[]): Promise<void> {
    this.#options.moment('commit.before');
    try {
      await this.#options.store.commit([commit]);
    } catch (error) {
      const fault =
        error instanceof FermataError ? error : new FermataError('store_failed', `the store failed: ${error instanceof Error ? error.message : error}`, { cause: error });
      if (!this.#broken) {
        this.#broken = fault;
        this.#options.onBroken(this, fault);
      }
      throw fault;
    }
    this.#options.moment('commit.after');
    this.#options.onCommitted(this, entries);
  }
}
