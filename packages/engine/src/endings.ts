/**
 * How tasks end: the changes of the row, the journal and the calls that go into one commit with the end.
 *
 * A task that failed and may be tried again begins anew, and results of the calls that it has made are used again for calls of
 * the same tool with the same arguments.
 */
import { randomBytes } from 'node:crypto';
import type { TaskFault, TaskRow } from '@fermata/protocol';
import type { LiveTask } from './live-task.ts';

/** Of these another attempt from the start may be better. */
const WORTH_A_RETRY = new Set(['guest_error', 'tool_error', 'timeout', 'approval_rejected', 'sandbox_lost', 'internal', 'model_error']);
/** Of these the program is not to blame: it goes on from where it was. */
const NOT_ITS_OWN = new Set(['sandbox_lost', 'internal', 'model_error']);

const OVER = { worker: null, timerAt: null, notBefore: null, parked: false, pauseReason: null } satisfies Partial<TaskRow>;

/** `keptMs`: how long an ended task is kept. `answer`: of an instruction. */
export function succeed(live: LiveTask, now: number, keptMs: number | undefined, output: unknown, files: TaskRow['files'], answer?: string | null): void {
  abandonCalls(live);
  live.record('succeeded', { output, ...(answer === undefined ? {} : { answer }) });
  live.change({ ...OVER, status: 'succeeded', endedAt: now, dueAt: purgeAt(now, keptMs), output, files, answer: answer ?? null, error: null });
  tellState(live, now);
}

/** `truncated`: its output was cut at the limit. */
export function fail(live: LiveTask, now: number, keptMs: number | undefined, error: TaskFault, truncated: boolean): void {
  abandonCalls(live);
  live.record('failed', { error });
  live.change({ ...OVER, status: 'failed', endedAt: now, dueAt: purgeAt(now, keptMs), error, truncated });
  tellState(live, now);
}

export function cancel(live: LiveTask, now: number, keptMs: number | undefined, by: string | null): void {
  abandonCalls(live);
  live.record('cancelled', { by });
  live.change({ ...OVER, status: 'cancelled', endedAt: now, dueAt: purgeAt(now, keptMs) });
  tellState(live, now);
}

/** Whether the task is tried again, after a while; it is pending then. */
export function tryAgain(live: LiveTask, now: number, error: TaskFault): boolean {
  const { attempt, request } = live.row;
  const { maxAttempts = 1, backoffMs = 1000 } = request.retry ?? {};
  if (attempt >= maxAttempts || !WORTH_A_RETRY.has(error.code)) return false;
  const notBefore = now + backoffMs * 2 ** (attempt - 1);
  const anew = !NOT_ITS_OWN.has(error.code);
  live.record('retry', { attempt: attempt + 1, not_before: notBefore, error, anew });
  live.change({ ...OVER, status: 'pending', attempt: attempt + 1, notBefore, dueAt: notBefore, error });
  if (anew) beginAnew(live);
  return true;
}

/** The next program of the task, or the same one, begins from its start; checkpoints there are of no use any more. */
export function beginAnew(live: LiveTask): void {
  const { round, attempt } = live.row;
  abandonCalls(live);
  for (const { n } of live.calls()) live.changeCall(n, { delivered: true });
  live.change({ origin: null, mark: { outputBytes: 0, calls: 0, notes: 0 }, checkpointId: null, step: null, progress: null, seed: randomBytes(32).toString('hex') });
  live.change({ round: round === undefined ? attempt - 1 : round + 1, usage: { ...live.row.usage, wallMs: 0, cpuMs: 0 } });
}

function purgeAt(now: number, keptMs: number | undefined): number | null {
  return keptMs === undefined ? null : now + keptMs;
}

/** Nobody waits for them any more. */
function abandonCalls(live: LiveTask): void {
  for (const { n } of live.openCalls()) live.changeCall(n, { status: 'abandoned', waitsFor: null, expiresAt: null, notBefore: null });
}

/** Has whoever asked for it told of the state that the task has now. */
export function tellState(live: LiveTask, now: number): void {
  const { request, status, tenant, taskId } = live.row;
  const message = { type: `task.${status}`, task_id: taskId };
  const tell = (body: object) => live.tell({ id: `msg_${randomBytes(12).toString('hex')}`, tenant, taskId, kind: 'webhook', dueAt: now, tries: 0, body: JSON.stringify(body) });
  if (request.callbackUrl) tell({ url: request.callbackUrl, ...message });
  if (live.isListenedTo) tell(message);
}
