/** What the clock asks for: approvals that expire, timers of programs that wait, next attempts, ended tasks that are kept no longer. */
import type { Store, TaskRef } from '@fermata/protocol';
import type { Alarm } from './alarm.ts';
import type { CallDesk } from './call-desk.ts';
import { type Control, dueOf } from './control.ts';
import type { LiveTask } from './live-task.ts';
import type { LiveTasks } from './live-tasks.ts';
import type { Worker } from './worker.ts';

export interface DueTasksOptions {
  store: Store;
  tasks: LiveTasks;
  desk: CallDesk;
  worker: Worker;
  control: Control;
  alarm: Alarm;
  now: () => number;
  /** Ended tasks whose time has come. */
  purge: (ref: TaskRef) => Promise<void>;
}

const AT_ONCE = 100;
/** After the store has failed. */
const AGAIN_MS = 1_000;

export class DueTasks {
  readonly #options: DueTasksOptions;

  constructor(options: DueTasksOptions) {
    this.#options = options;
  }

  /** Deals with all that is due, and sets the alarm for the next. */
  async look(): Promise<void> {
    const { store, tasks, alarm, now } = this.#options;
    try {
      for (;;) {
        const rows = await store.due(now(), AT_ONCE);
        // Purges of one turn share one pass over the store.
        const gone = rows.filter(({ endedAt }) => endedAt !== null).map((ref) => this.#options.purge(ref));
        for (const ref of rows) if (ref.endedAt === null) await tasks.use(ref, async (live) => this.#dealWith(live));
        await Promise.all(gone);
        if (rows.length < AT_ONCE) break;
      }
      alarm.set(await store.nextDue());
    } catch {
      alarm.set(now() + AGAIN_MS);
    }
  }

  #dealWith(live: LiveTask): void {
    const { desk, worker, control } = this.#options;
    const now = this.#options.now();
    for (const call of live.openCalls()) if (call.status === 'waiting' && call.expiresAt !== null && call.expiresAt <= now) desk.expire(live, call);
    const { status, notBefore } = live.row;
    if (status === 'pending' && notBefore !== null && notBefore <= now) {
      live.change({ notBefore: null });
      worker.add(live.row);
    } else control.wake(live);
    if (!live.ended) live.change({ dueAt: dueOf(live) });
  }
}
