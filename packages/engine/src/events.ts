/** The events of a task: its journal from some place on, and then whatever happens. */
import { ENDED, type Entry, FermataError, type Store, type TaskRef } from '@fermata/protocol';
import type { TaskEvent } from './engine-api.ts';
import type { EventHub } from './event-hub.ts';
import { readJournal } from './replay.ts';

/** Events that are held for a reader who is slow. Beyond that the journal holds them, and what is not in it is lost on him. */
const MOST_HELD = 1000;

export function eventOf({ seq, at, kind, body }: Entry): TaskEvent {
  return { seq, at, kind, data: JSON.parse(body) };
}

export async function* taskEvents(
  store: Store,
  hub: EventHub,
  ref: TaskRef,
  { after = 0, live = true, signal }: { after?: number; live?: boolean; signal?: AbortSignal } = {},
): AsyncGenerator<TaskEvent> {
  const row = await store.task(ref);
  if (!row) throw new FermataError('not_found', `there is no task ${ref.taskId}`);
  let queued: TaskEvent[] = [];
  let isBehind = false;
  let heard = Promise.withResolvers<void>();
  const unlisten = hub.listen(ref, (events) => {
    for (const event of events) if (live || event.seq !== null) queued.push(event);
    if (queued.length > MOST_HELD) {
      isBehind = true;
      queued = [];
    }
    heard.resolve();
  });
  const stop = () => heard.resolve();
  signal?.addEventListener('abort', stop);
  try {
    let last = after;
    for await (const entry of readJournal(store, ref, after)) {
      yield eventOf(entry);
      last = entry.seq;
      if (signal?.aborted) return;
    }
    const now = await store.task(ref);
    let over = now !== undefined && ENDED.includes(now.status) && last >= now.seq;
    while (!over && !signal?.aborted) {
      await heard.promise;
      heard = Promise.withResolvers();
      const events = isBehind ? readEvents(store, ref, last) : queued;
      isBehind = false;
      queued = [];
      for await (const event of events) {
        if (event.seq !== null && event.seq <= last) continue;
        if (event.seq !== null) last = event.seq;
        yield event;
        if ((ENDED as readonly string[]).includes(event.kind)) over = true;
      }
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    unlisten();
  }
}

async function* readEvents(store: Store, ref: TaskRef, after: number): AsyncGenerator<TaskEvent> {
  for await (const entry of readJournal(store, ref, after)) yield eventOf(entry);
}
