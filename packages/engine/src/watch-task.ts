/** Waiting for something to become true of a task, as it is stored. */
import { FermataError, type Store, type TaskRef, type TaskRow } from '@fermata/protocol';
import type { EventHub } from './event-hub.ts';
import type { EntryKind } from './journal.ts';

const LONGEST_MS = 2 ** 31 - 1;
/** After these a task is no nearer to rest than before. */
const QUIET: ReadonlySet<string> = new Set<EntryKind>([
  'leased',
  'begun',
  'output',
  'step',
  'step_result',
  'call',
  'call_started',
  'call_settled',
  'delivered',
  'timer',
  'checkpoint',
  'finding',
  'model_asked',
  'model_replied',
  'program',
  'repair',
  'returned',
]);

/** Until `holds`, or for `waitMs`, or until `signal` aborts. Throws `not_found`. */
export async function watchTask(
  store: Store,
  hub: EventHub,
  ref: TaskRef,
  waitMs: number,
  signal: AbortSignal | undefined,
  holds: (row: TaskRow) => boolean | Promise<boolean>,
): Promise<void> {
  const end = performance.now() + waitMs;
  let heard = Promise.withResolvers<void>();
  const ring = () => heard.resolve();
  const unlisten = hub.listen(ref, (events) => {
    if (events.length === 0 || events.some(({ kind }) => !QUIET.has(kind))) ring();
  });
  const timer = setTimeout(ring, Math.max(0, Math.min(waitMs, LONGEST_MS)));
  signal?.addEventListener('abort', ring);
  try {
    for (;;) {
      const row = await store.task(ref);
      if (!row) throw new FermataError('not_found', `there is no task ${ref.taskId}`);
      if ((await holds(row)) || performance.now() >= end || signal?.aborted) return;
      await heard.promise;
      heard = Promise.withResolvers();
    }
  } finally {
    clearTimeout(timer);
    unlisten();
    signal?.removeEventListener('abort', ring);
  }
}

/** Whether somebody has to do something about the task, or it has nothing to do; a timer alone is neither. */
export async function isAtRest(store: Store, row: TaskRow): Promise<boolean> {
  if (row.endedAt !== null || row.status === 'paused') return true;
  return row.status === 'waiting' && (await store.calls(row)).some(({ status }) => status === 'waiting');
}
