/**
 * Runs tasks: takes them from the queue, holds a lease of each as long as it runs, and makes their end durable.
 *
 * A task whose store failed in the middle is let go, and tried again from what is durable after a while.
 */
import { type DocumentRow, FermataError, isAuthored, keyOf, type TaskRef, type TaskRow } from '@fermata/protocol';
import type { CallDesk } from './call-desk.ts';
import { cancel, fail, succeed, tryAgain } from './endings.ts';
import type { Lease, RunEnd, RunOptions } from './lease.ts';
import type { LiveTask } from './live-task.ts';
import type { LiveTasks } from './live-tasks.ts';
import { storeOutputs } from './output-files.ts';
import type { Gate, Queue } from './queue.ts';
import { RunTask } from './run-task.ts';
import type { Sessions } from './sessions.ts';

/** A program that has been at it for so long is not counted as busy any more. */
const LONG_MS = 100;
/** Between two tries of a task whose store fails. */
const RECOVER_MS = 1_000;

export interface WorkerOptions {
  queue: Queue;
  tasks: LiveTasks;
  desk: CallDesk;
  run: Omit<RunOptions, 'onQueued' | 'onRest'>;
  now: () => number;
  cancelGraceMs: number;
  /** How long ended tasks are kept; undefined: for ever. */
  retentionMs: number | undefined;
  gatesOf: (row: TaskRow) => Gate[];
  sessions: Sessions;
  /** Told when a lease has ended with the task parked or paused. */
  onStopped: (live: LiveTask) => Promise<void>;
  /** Told when the end of a task is durable. */
  onEnded: (live: LiveTask) => Promise<void>;
}

interface Running {
  run: Lease;
  reason: string | null;
  finished: Promise<void>;
}

export class Worker {
  readonly #options: WorkerOptions;
  readonly #running = new Map<string, Running>();
  #accepting = false;
  #timers = new Set<NodeJS.Timeout>();

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  runOf(ref: TaskRef): Lease | undefined {
    return this.#running.get(keyOf(ref))?.run;
  }
  /** Why a task that was taken from the queue has no machine yet. */
  reasonOf(ref: TaskRef): string | null {
    return this.#running.get(keyOf(ref))?.reason ?? null;
  }

  start(): void {
    this.#accepting = true;
    this.pump();
  }
  /** A task that is pending and may run. */
  add(row: TaskRow): void {
    if (!this.#options.sessions.hasTurn(row)) return;
    this.#options.queue.add(row, this.#options.gatesOf(row));
    this.pump();
  }
  pump(): void {
    for (;;) {
      const next = this.#accepting ? this.#options.queue.take() : undefined;
      if (!next) return;
      let long = false;
      const onRest = (resting: boolean) => {
        if (!long) next.rests(resting);
        if (resting) this.pump();
      };
      // Short programs are done sooner one after the other; who takes long must not keep others from beginning.
      const timer = setTimeout(() => {
        onRest(true);
        long = true;
      }, LONG_MS);
      timer.unref();
      void this.#serve(next.ref, onRest).finally(() => {
        clearTimeout(timer);
        next.done();
        this.pump();
      });
    }
  }
  refs(): TaskRef[] {
    return [...this.#running.values()].map(({ run }) => run.live.ref);
  }
  /** Takes no more tasks; resolves when none runs. */
  async stop(): Promise<void> {
    this.#accepting = false;
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.all([...this.#running.values()].map(({ finished }) => finished));
  }
  abandon(): void {
    for (const { run } of this.#running.values()) run.abandon();
  }

  async #serve(ref: TaskRef, onRest: (resting: boolean) => void): Promise<void> {
    const key = keyOf(ref);
    // The lease before this one may still be putting its machine away.
    while (this.#running.has(key)) await this.#running.get(key)?.finished;
    const { tasks, run: options } = this.#options;
    const finished = Promise.withResolvers<void>();
    try {
      await tasks.use(ref, async (live) => {
        // Only tasks whose program a model writes need what writes prompts.
        const AnyLease = isAuthored(live.row.request) ? (await import('./author/authored-lease.ts')).AuthoredLease : RunTask;
        // Two ways into the queue may have led here at the same time; one lease is enough.
        if (live.row.status !== 'pending' || live.row.desired !== 'run' || this.#running.has(key)) return;
        const running: Running = { run: undefined as never, reason: null, finished: finished.promise };
        running.run = new AnyLease({ ...options, onRest, onQueued: (reason) => (running.reason = reason) }, live);
        this.#running.set(key, running);
        try {
          const end = await running.run.drive();
          // What is left to do is to wait for the store.
          onRest(true);
          await this.#ended(live, end);
          await live.flush();
        } finally {
          this.#running.delete(key);
        }
      });
      const live = tasks.peek(ref);
      if (live?.row.status === 'pending') this.add(live.row);
    } catch {
      this.#later(() => void this.recover(ref), RECOVER_MS);
    } finally {
      finished.resolve();
    }
  }

  async #ended(live: LiveTask, end: RunEnd): Promise<void> {
    const { now, desk, cancelGraceMs, run } = this.#options;
    switch (end.kind) {
      case 'stopped':
        return this.#options.onStopped(live);
      case 'cancelled':
        return this.cancel(live, null);
      case 'failed': {
        const told = run.hint(end.fault, live.row);
        const fault = told === undefined || end.fault.hint ? end.fault : { ...end.fault, hint: told };
        await desk.abort(live, 'the task has failed', 0);
        if (live.row.desired === 'run' && tryAgain(live, now(), fault)) {
          // Those of an attempt that begins anew belong to another program.
          const old = live.row.checkpointId === null ? await run.checkpoints.ofTask(live.ref) : [];
          return live.flush({ dropCheckpoints: old.map(({ checkpointId }) => checkpointId) });
        }
        await desk.abort(live, 'the task has failed', cancelGraceMs);
        const documents = await this.#advanced(live, end.head);
        fail(live, now(), this.#options.retentionMs, fault, end.truncated);
        await live.flush({ documents });
        break;
      }
      case 'succeeded': {
        const files = await storeOutputs(run.store, live.ref, end.files);
        const documents = await this.#advanced(live, end.head);
        succeed(live, now(), this.#options.retentionMs, end.output, files);
        await live.flush({ documents });
        break;
      }
      case 'answered':
        succeed(live, now(), this.#options.retentionMs, live.row.output, live.row.files, end.answer);
        await live.flush();
    }
    if (end.kind !== 'answered' && end.head && live.row.origin) await this.#options.sessions.forget(live.row, live.row.origin.head);
    await this.#options.onEnded(live);
  }

  /** What the end of a task does to the interpreter that it shares. */
  async #advanced(live: LiveTask, head: Uint8Array | undefined): Promise<{ row: DocumentRow; expect: number }[]> {
    return head && live.row.origin ? [await this.#options.sessions.advance(live.row, live.row.origin.head, head)] : [];
  }

  /** Ends a task that has no machine any more. */
  async cancel(live: LiveTask, by: string | null): Promise<void> {
    const { now, desk, cancelGraceMs, onEnded, run } = this.#options;
    run.models.abort(live.ref);
    await desk.abort(live, 'the task was cancelled', cancelGraceMs);
    if (live.ended) return;
    cancel(live, now(), this.#options.retentionMs, by);
    await live.flush();
    await onEnded(live);
  }

  /** A task that runs nowhere, although it is said to: it goes back into the queue. Also used at the start of an engine. */
  async recover(ref: TaskRef): Promise<void> {
    const { tasks, desk } = this.#options;
    try {
      await tasks.use(ref, async (live) => {
        if (live.ended || this.#running.has(keyOf(ref))) return;
        for (const { n } of live.openCalls()) await desk.reclaim(live, n);
        if (live.row.status === 'running') {
          live.record('queued', { reason: 'the worker that ran it is gone' });
          live.change({ status: 'pending', worker: null });
        }
        await this.#options.onStopped(live);
        desk.performReady(live);
        if (live.row.status === 'pending' && (live.row.notBefore ?? 0) <= this.#options.now()) this.add(live.row);
      });
    } catch (error) {
      if (error instanceof FermataError && error.code === 'not_found') return;
      this.#later(() => void this.recover(ref), RECOVER_MS);
    }
  }

  #later(work: () => void, ms: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms);
    timer.unref();
    this.#timers.add(timer);
  }
}
