/**
 * Pause, resume and cancel, in every state that a task can have; and the wakes of tasks that wait.
 *
 * What is wanted of a task (`desired`) is recorded first and is durable by itself; the state follows when it has become true.
 */
import { ENDED, FermataError, type PauseReason } from '@fermata/protocol';
import type { CallDesk } from './call-desk.ts';
import { tellState } from './endings.ts';
import type { LiveTask } from './live-task.ts';
import type { Queue } from './queue.ts';
import type { Worker } from './worker.ts';

export interface ControlOptions {
  desk: CallDesk;
  queue: Queue;
  worker: Worker;
  now: () => number;
}

export class Control {
  readonly #options: ControlOptions;

  constructor(options: ControlOptions) {
    this.#options = options;
  }

  pause(live: LiveTask, reason: PauseReason, by: string | null): void {
    const { queue, worker } = this.#options;
    this.#mustBeOpen(live, 'paused');
    if (live.row.desired === 'cancel') throw new FermataError('invalid_state', 'the task is being cancelled');
    if (live.row.desired === 'pause') {
      // Who asks for it by name wants it to last longer than until the next start.
      if (live.row.pauseReason === 'shutdown' && reason !== 'shutdown') {
        live.record('asked', { desired: 'pause', by });
        live.change({ pauseReason: reason });
      }
      return;
    }
    live.record('asked', { desired: 'pause', by });
    live.change({ desired: 'pause', pauseReason: reason });
    if (live.row.status === 'running') return worker.runOf(live.ref)?.ring();
    worker.runOf(live.ref)?.abandon();
    queue.remove(live.ref);
    this.#paused(live);
  }

  /** A task that an engine before this one has left, and that goes no further until it is resumed. */
  putDown(live: LiveTask): void {
    if (live.ended) return;
    if (live.row.desired === 'run') {
      live.record('asked', { desired: 'pause', by: 'the engine' });
      live.change({ desired: 'pause', pauseReason: 'shutdown' });
    }
    if (live.row.status !== 'paused') this.#paused(live);
  }

  resume(live: LiveTask, by: string | null): void {
    this.#mustBeOpen(live, 'resumed');
    const { desired, status } = live.row;
    if (desired === 'cancel') throw new FermataError('invalid_state', 'the task is being cancelled');
    if (desired === 'run') return;
    live.record('asked', { desired: 'run', by });
    live.change({ desired: 'run', pauseReason: null });
    if (status === 'paused') this.#goOn(live, 'resumed');
    this.#options.desk.performReady(live);
  }

  /** What is left to be done by the caller: nothing, or to end the task, which has no machine. */
  cancel(live: LiveTask, by: string | null): 'ending' | 'end it' {
    const { queue, worker } = this.#options;
    if (live.row.status === 'cancelled') return 'ending';
    this.#mustBeOpen(live, 'cancelled');
    if (live.row.desired !== 'cancel') live.record('asked', { desired: 'cancel', by });
    live.change({ desired: 'cancel' });
    const run = worker.runOf(live.ref);
    if (live.row.status === 'running' && run) {
      run.ring();
      return 'ending';
    }
    run?.abandon();
    queue.remove(live.ref);
    return 'end it';
  }

  /** No machine runs the task any more, and it has not ended; something else may have been asked for on the way. */
  async stopped(live: LiveTask): Promise<void> {
    const { desired, status } = live.row;
    if (desired === 'cancel') return this.#options.worker.cancel(live, null);
    if (desired === 'pause' && (status === 'waiting' || status === 'pending')) this.#paused(live);
    if (desired === 'run' && status === 'paused') this.#goOn(live, 'resumed');
    else this.wake(live);
  }

  #paused(live: LiveTask): void {
    const { checkpointId, pauseReason } = live.row;
    live.record('paused', { checkpoint_id: checkpointId, reason: pauseReason ?? 'user_request' });
    live.change({ status: 'paused', worker: null });
    live.change({ dueAt: dueOf(live) });
    tellState(live, this.#options.now());
  }

  /** Something has come that may move the task: a result, a time. */
  wake(live: LiveTask): void {
    const { worker } = this.#options;
    if (live.row.status === 'waiting' && live.row.desired === 'run' && this.#canMove(live)) this.#goOn(live, 'an answer or a timer has come');
    else if (!live.ended && live.row.status !== 'running') live.change({ dueAt: dueOf(live) });
    worker.runOf(live.ref)?.ring();
  }

  #goOn(live: LiveTask, reason: string): void {
    if (live.row.parked && !this.#canMove(live)) {
      live.change({ status: 'waiting' });
      live.record('waiting', { checkpoint_id: live.row.checkpointId ?? '', timer_at: live.row.timerAt });
      live.change({ dueAt: dueOf(live) });
      return;
    }
    live.record('queued', { reason });
    live.change({ status: 'pending', parked: false });
    live.change({ dueAt: dueOf(live) });
    this.#options.worker.add(live.row);
  }

  #canMove(live: LiveTask): boolean {
    const { timerAt } = live.row;
    return live.hasAnswer || (timerAt !== null && timerAt <= this.#options.now());
  }

  #mustBeOpen(live: LiveTask, what: string): void {
    if (ENDED.includes(live.row.status)) throw new FermataError('invalid_state', `the task has ${live.row.status}; it cannot be ${what}`);
  }
}

/** When somebody must look at a task that does not run. */
export function dueOf(live: LiveTask): number | null {
  const { status, timerAt, notBefore } = live.row;
  const times = live.openCalls().flatMap((call) => (call.status === 'waiting' && call.expiresAt !== null ? [call.expiresAt] : []));
  if (status === 'waiting' && timerAt !== null) times.push(timerAt);
  if (status === 'pending' && notBefore !== null) times.push(notBefore);
  return times.length > 0 ? Math.min(...times) : null;
}
