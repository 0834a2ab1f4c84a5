/** Whoever reads the events of a task slowly misses none that is kept, and holds up nobody. */
import type { Entry, Store } from '@fermata/protocol';
import { expect, test } from 'vitest';
import { EventHub } from '../src/event-hub.ts';
import { eventOf, taskEvents } from '../src/events.ts';
import { nextEntry } from '../src/journal.ts';

test('a reader who is far behind reads on from the journal, in order, to the end', async () => {
  const ref = { tenant: 'acme', taskId: 't' };
  const entries: Entry[] = [];
  const row = () => ({ status: 'running', seq: entries.length });
  const store = {
    task: async () => row(),
    entries: async (_ref: unknown, after: number, limit: number) => entries.slice(after, after + limit),
  } as unknown as Store;
  const hub = new EventHub();
  const record = (kind: string) => {
    const entry = nextEntry(entries.at(-1) ?? { seq: 0, hash: '' }, 0, kind, { n: entries.length });
    entries.push(entry);
    hub.tell(ref, () => [eventOf(entry), { seq: null, at: 0, kind: 'progress', data: {} }]);
  };
  record('step');
  const read: (number | null)[] = [];
  const reading = (async () => {
    for await (const { seq, kind } of taskEvents(store, hub, ref)) {
      if (seq === null) continue;
      read.push(seq);
      // The rest comes while this one is being looked at.
      if (seq === 1) for (let i = 0; i < 5000; i++) record(i === 4999 ? 'succeeded' : 'step');
      if (kind === 'succeeded') return;
    }
  })();
  await reading;
  expect(read).toEqual(Array.from({ length: 5001 }, (_, i) => i + 1));
});
