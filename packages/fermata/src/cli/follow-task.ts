/**
 * Follows a durable task for a person at a terminal: shows what happens, decides what may be decided here, and resolves when the
 * task has ended, is paused, or waits for somebody else.
 *
 * Ctrl-C, SIGTERM and `--pause-after` pause it; a second Ctrl-C cancels it. A task that its engine has put down because it was
 * closed goes on in the next engine; where this process has become that one, it sees to it.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { FermataApiError } from '@fermata/client';
import type { TaskWire, WaitingForWire } from '@fermata/protocol/wire';
import type { Connection } from './connection.ts';
import type { Progress } from './progress.ts';
import { wireEvents } from './show-events.ts';
import type { Approval } from './task-options.ts';

export interface FollowOptions {
  json: boolean;
  progress: Progress;
  approve: Approval;
  /** A model writes the program: its answer is the command's output, not what the program prints. */
  asked?: boolean;
  /** Carry out again calls whose outcome is unknown. */
  redo?: boolean;
  pauseAfterMs?: number | undefined;
  /** Number of the last event that is known already. */
  after?: number;
}

const STOPPED = new Set(['waiting', 'paused', 'call_settled', 'call_unknown', 'decided']);
const LOOK_AGAIN_MS = 500;
/** How long a pause waits for calls that are under way in this process. */
const SETTLE_MS = 10_000;
const CONTROL_SECONDS = 60;

export async function followTask(connection: Connection, taskId: string, options: FollowOptions): Promise<TaskWire> {
  const following = new Following(connection, taskId, options);
  try {
    return await following.toItsStop();
  } finally {
    following.end();
    options.progress.end();
  }
}

class Following {
  readonly #connection: Connection;
  readonly #taskId: string;
  readonly #options: FollowOptions;
  readonly #left = new AbortController();
  readonly #stopped = Promise.withResolvers<void>();
  readonly #decided = new Set<string>();
  readonly #timers: NodeJS.Timeout[] = [];
  #interrupts = 0;
  /** Its engine was closed; whoever is next goes on with it. */
  #orphaned = false;

  constructor(connection: Connection, taskId: string, options: FollowOptions) {
    this.#connection = connection;
    this.#taskId = taskId;
    this.#options = options;
  }

  async toItsStop(): Promise<TaskWire> {
    const { pauseAfterMs, after } = this.#options;
    const { tasks } = this.#connection.client;
    process.on('SIGINT', this.#interrupt);
    process.on('SIGTERM', this.#interrupt);
    if (pauseAfterMs !== undefined) this.#timers.push(setTimeout(() => this.#control('pause'), pauseAfterMs));
    this.#timers.push(setInterval(() => this.#orphaned && void this.#look().catch(this.#failed), LOOK_AGAIN_MS));
    void this.#listen().then(this.#stopped.resolve, this.#failed);
    if (after !== undefined) void this.#look().catch(this.#failed);
    await this.#stopped.promise;
    let task = await tasks.get(this.#taskId);
    const until = performance.now() + SETTLE_MS;
    while (this.#connection.store() && isOpen(task) && (task.in_flight ?? []).length > 0 && performance.now() < until && this.#interrupts < 2) {
      await sleep(50);
      task = await tasks.get(this.#taskId);
    }
    // A second Ctrl-C has come meanwhile.
    if (this.#interrupts > 1 && isOpen(task)) task = await tasks.cancel(this.#taskId, { wait_seconds: CONTROL_SECONDS });
    return task;
  }

  end(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#left.abort();
    process.off('SIGINT', this.#interrupt);
    process.off('SIGTERM', this.#interrupt);
  }

  async #listen(): Promise<void> {
    const show = wireEvents(this.#options);
    for await (const event of this.#connection.client.tasks.events(this.#taskId, { after: this.#options.after ?? 0, signal: this.#left.signal })) {
      if (this.#left.signal.aborted) return;
      show(event);
      if (STOPPED.has(event.kind) || (event.kind === 'call' && (event.data as { decision: string }).decision === 'wait')) await this.#look();
    }
  }

  /** Whether it goes no further without somebody. */
  async #look(): Promise<void> {
    const task = await this.#connection.client.tasks.get(this.#taskId, this.#left.signal);
    if (!isOpen(task)) return;
    if (task.status === 'paused') {
      if (task.pause_reason !== 'shutdown' || this.#connection.folder === undefined) return this.#stopped.resolve();
      this.#orphaned = true;
      if (this.#connection.store() && this.#interrupts === 0) await this.#connection.client.tasks.resume(this.#taskId);
      return;
    }
    this.#orphaned = false;
    const mine = (task.waiting_for ?? []).filter((wait) => wait.call_id !== null && !this.#decided.has(wait.call_id));
    const left = [];
    for (const wait of mine) if (!(await this.#decide(wait))) left.push(wait);
    if (task.status === 'waiting' && (task.in_flight ?? []).length === 0 && left.length > 0 && left.length === mine.length) this.#stopped.resolve();
  }

  async #decide(wait: WaitingForWire): Promise<boolean> {
    const { approve, redo } = this.#options;
    const { calls } = this.#connection.client;
    const callId = wait.call_id as string;
    const settle = async (decision: () => Promise<unknown>) => {
      this.#decided.add(callId);
      // Somebody else may be faster.
      await decision().catch((error) => {
        if (!(error instanceof FermataApiError && error.status === 409)) throw error;
      });
      return true;
    };
    if (wait.kind === 'outcome_unknown' && redo) return settle(() => calls.retry(this.#taskId, callId));
    if ((wait.kind !== 'approval' && wait.kind !== 'review') || approve === undefined) return false;
    const said = await approve({ kind: wait.kind, tool: wait.tool ?? '', arguments: wait.arguments });
    if (!said) return false;
    return settle(() => (said.approve ? calls.approve(this.#taskId, callId) : calls.reject(this.#taskId, callId, { reason: said.reason })));
  }

  readonly #interrupt = (): void => {
    this.#interrupts++;
    this.#options.progress.line(this.#interrupts === 1 ? 'pausing, as soon as calls under way have ended; Ctrl-C again cancels the task' : 'cancelling');
    this.#control(this.#interrupts === 1 ? 'pause' : 'cancel');
  };

  /** One that comes too late is not an error. */
  #control(what: 'pause' | 'cancel'): void {
    this.#connection.client.tasks[what](this.#taskId, { wait_seconds: CONTROL_SECONDS }).catch((error) => {
      if (!(error instanceof FermataApiError && error.code === 'invalid_state')) this.#failed(error);
    });
  }

  readonly #failed = (error: unknown): void => {
    if (!this.#left.signal.aborted) this.#stopped.reject(error);
  };
}

function isOpen(task: TaskWire): task is Exclude<TaskWire, { completed_at: string }> {
  return !('completed_at' in task);
}
