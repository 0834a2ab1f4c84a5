/** A lease of a task, as whoever gives it sees it: it drives the task until it ends, parks or stops. */
import type { CheckpointRow, Host, Limits, Program, TaskFault, TaskRow, TaskUsage } from '@fermata/protocol';
import type { ModelDesk } from './author/model-desk.ts';
import type { CallDesk } from './call-desk.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { EngineOptions, Moment } from './engine-options.ts';
import type { LiveTask } from './live-task.ts';
import type { Sessions } from './sessions.ts';

/** How a lease ended, where the task has not been parked, paused or cancelled by it. */
export type RunEnd =
  | { kind: 'succeeded'; output: unknown; files: { path: string; data: Uint8Array }[]; head?: Uint8Array }
  /** `head`: of the interpreter that it shares, where it may go on with other tasks. */
  | { kind: 'failed'; fault: TaskFault; truncated: boolean; head?: Uint8Array }
  /** After a program whose result is durable already; null where the model could not be asked. */
  | { kind: 'answered'; answer: string | null }
  /** Parked or paused; durable. */
  | { kind: 'stopped' }
  | { kind: 'cancelled' };

export interface Lease {
  readonly live: LiveTask;
  /** Whether it has a machine; before that the task is still in the queue. */
  readonly isOpen: boolean;
  readonly usage: TaskUsage;
  readonly line: number | null;
  /** Something has changed: a result has come, or something else is wanted of the task. */
  ring(): void;
  /** Gives up at once, without a word to the task. */
  abandon(): void;
  /** A checkpoint at the next place where the machine can stop. */
  checkpoint(): Promise<CheckpointRow>;
  /** Until the task ends, parks or stops. Rejects where the store fails; the task goes on from what is durable then. */
  drive(): Promise<RunEnd>;
}

export interface RunOptions extends Pick<EngineOptions, 'store' | 'tools' | 'prepare' | 'check' | 'sealKey' | 'oldKeys'> {
  host: Host;
  checkpoints: Checkpoints;
  desk: CallDesk;
  models: ModelDesk;
  sessions: Sessions;
  worker: string;
  keepForTimerMs: number;
  checkpointEveryCpuMs: number;
  now: () => number;
  moment: (moment: Moment) => void;
  program: (live: LiveTask) => Promise<Program>;
  limits: (live: LiveTask) => Limits;
  /** What to do about a fault, in one sentence. */
  hint: (fault: TaskFault, row: TaskRow) => string | undefined;
  /** Told what passes and is not kept. */
  tell: (live: LiveTask, kind: string, data: unknown) => void;
  /** Told that the task has to wait for a place, and why. */
  onQueued: (reason: string) => void;
  /** Told when the program begins to wait for results, and when it goes on. */
  onRest: (resting: boolean) => void;
}

/** The task has a worker now: it runs. */
export function takeLease({ worker, now }: Pick<RunOptions, 'worker' | 'now'>, live: LiveTask, checkpointId: string | null): void {
  const { epoch, attempt, startedAt } = live.row;
  live.change({ status: 'running', epoch: epoch + 1, attempt: Math.max(1, attempt), worker, startedAt: startedAt ?? now(), pauseReason: null, timerAt: null });
  live.record('leased', { epoch: live.row.epoch, worker, attempt: live.row.attempt, checkpoint_id: checkpointId });
}
