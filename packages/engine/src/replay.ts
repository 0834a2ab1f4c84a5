/** What a program was given, as its journal tells it. */
import type { Entry, Store, TaskRef, ToolName } from '@fermata/protocol';
import { bodyOf } from './journal.ts';

export type Delivery = { seq: number; nowMs: number } & ({ kind: 'begun'; tools?: ToolName[] } | { kind: 'delivered'; n: number } | { kind: 'timer' });

const PAGE = 1000;

/** All entries after `after`, in order. */
export async function* readJournal(store: Store, ref: TaskRef, after = 0): AsyncGenerator<Entry> {
  for (;;) {
    const page = await store.entries(ref, after, PAGE);
    yield* page;
    if (page.length < PAGE) return;
    after = (page.at(-1) as Entry).seq;
  }
}

/** Deliveries of the newest round after `after`, in order. */
export async function readDeliveries(store: Store, ref: TaskRef, after: number): Promise<Delivery[]> {
  let deliveries: Delivery[] = [];
  for await (const entry of readJournal(store, ref, after)) {
    const delivery = deliveryOf(entry);
    if (delivery) deliveries.push(delivery);
    if (beginsAnew(entry)) deliveries = [];
  }
  return deliveries;
}

/** Whether what follows is of a program that begins from its start. */
export function beginsAnew(entry: Entry): boolean {
  return entry.kind === 'repair' || bodyOf(entry, 'retry')?.anew === true;
}

export function deliveryOf(entry: Entry): Delivery | undefined {
  const { seq } = entry;
  const begun = bodyOf(entry, 'begun');
  if (begun) return { kind: 'begun', seq, nowMs: begun.now_ms, ...(begun.tools ? { tools: begun.tools } : {}) };
  const delivered = bodyOf(entry, 'delivered');
  if (delivered) return { kind: 'delivered', seq, n: delivered.n, nowMs: delivered.now_ms };
  const timer = bodyOf(entry, 'timer');
  return timer && { kind: 'timer', seq, nowMs: timer.now_ms };
}
