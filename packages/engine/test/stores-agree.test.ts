/** Whatever is done to a store in memory and to one on SQLite, they give the same answers; also when the latter is closed and opened between. */
import type { Commit, Page, Store } from '@fermata/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMemoryStore } from '../src/store/memory/memory-store.ts';
import { createSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import { all, callRow, checkpointRow, documentRow, entryRow, outboxRow, taskRow } from './store-rows.ts';
import { temporaryFolder } from './temporary-folder.ts';

const TENANTS = ['acme', 'other'];
const IDS = ['a', 'b', 'c', 'd'];
const some = <T>(arbitrary: fc.Arbitrary<T>, maxLength = 3) => fc.array(arbitrary, { maxLength });
const id = fc.constantFrom(...IDS);
const tenant = fc.constantFrom(...TENANTS);
const time = fc.nat(6);
const text = fc.string({ unit: 'binary' });
const json = fc.jsonValue();

const task = fc.record({
  tenant,
  taskId: id,
  status: fc.constantFrom('pending', 'running', 'waiting', 'paused', 'succeeded', 'failed', 'cancelled'),
  createdAt: time,
  updatedAt: fc.double({ min: 0, max: 1e13, noNaN: true }).map((at) => at + 0),
  dueAt: fc.option(time),
  sessionId: fc.option(id),
  batchId: fc.option(id),
  priority: fc.integer({ min: -3, max: 3 }),
  output: json,
  request: fc.record({ language: fc.constantFrom('python', 'javascript'), code: fc.string({ unit: 'binary' }), input: json }),
});
const call = fc.record({
  n: fc.integer({ min: 1, max: 4 }),
  tool: fc.constantFrom('search', 'mail'),
  status: fc.constantFrom('ready', 'started', 'waiting', 'settled', 'abandoned'),
  waitsFor: fc.constantFrom(null, 'approval', 'review', 'client_tool', 'outcome_unknown'),
  args: text,
  result: fc.option(text),
  createdAt: time,
  by: fc.option(text),
});
const bytes = fc.record({ length: fc.constantFrom(0, 3, 900, 5000), fill: fc.nat(255) }).map(({ length, fill }) => new Uint8Array(length).fill(fill));
const commit = fc.record({
  task: fc.option(task, { freq: 8 }),
  /** Added to what is right, so that some are refused. */
  off: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1, -1),
  entries: some(fc.string({ unit: 'binary', maxLength: 2000 })),
  calls: some(call),
  checkpoint: fc.option(fc.record({ checkpointId: id, createdAt: time, data: bytes })),
  dropCheckpoints: some(id),
  outbox: some(fc.record({ id, tenant, taskId: fc.option(id), dueAt: fc.option(time), body: text })),
  dropOutbox: some(id, 1),
  documents: some(fc.record({ row: fc.record({ kind: fc.constantFrom('batch', 'session'), tenant, id, version: fc.nat(2), createdAt: time }), expect: fc.option(fc.nat(2)) })),
  dropDocuments: some(fc.record({ kind: fc.constantFrom('batch', 'session'), tenant, id }), 1),
});
const action = fc.oneof(
  { weight: 12, arbitrary: fc.record({ do: fc.constant('commit' as const), calls: fc.array(fc.array(commit, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('purge' as const), tenant, taskId: id }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('blob' as const), id, data: fc.option(bytes) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const) }) },
);

/** As the contract has it, from what was drawn; `seqs` is what the writer believes. */
function commitOf(drawn: typeof commit extends fc.Arbitrary<infer T> ? T : never, seqs: Map<string, number>): Commit {
  const { task, off, entries, calls, checkpoint, dropCheckpoints } = drawn;
  const rest: Commit = {
    outbox: drawn.outbox.map((row) => outboxRow(row.id, row)),
    dropOutbox: drawn.dropOutbox,
    documents: drawn.documents.map(({ row, expect }) => ({ row: documentRow(row.id, row), ...(expect !== null && { expect }) })),
    dropDocuments: drawn.dropDocuments,
  };
  if (!task) return rest;
  const name = task.tenant + task.taskId;
  const before = seqs.get(name) ?? 0;
  const seq = before + Math.max(1, entries.length);
  seqs.set(name, seq);
  return {
    ...rest,
    task: { row: taskRow(task.taskId, { ...task, seq } as Parameters<typeof taskRow>[1]), expect: Math.max(0, before + off) },
    entries: entries.map((body, i) => entryRow(before + i + 1, body)),
    calls: calls.map((row) => callRow(row.n, row as Parameters<typeof callRow>[1])),
    ...(checkpoint && { checkpoint: { row: checkpointRow(checkpoint.checkpointId, { createdAt: checkpoint.createdAt }), data: checkpoint.data } }),
    dropCheckpoints,
  };
}

async function outcome(promise: Promise<unknown>): Promise<unknown> {
  try {
    return { value: (await promise) ?? null };
  } catch (error) {
    return { code: (error as { code: string }).code };
  }
}

async function pages<T>(page: (cursor?: string) => Promise<Page<T>>): Promise<T[][]> {
  const found: T[][] = [];
  let cursor: string | undefined;
  do {
    const one = await page(cursor);
    found.push(one.items);
    cursor = one.cursor;
  } while (cursor !== undefined);
  return found;
}

/** All answers that a store gives. */
async function answers(store: Store): Promise<unknown> {
  const at = (cursor?: string) => cursor !== undefined && { cursor };
  const refs = TENANTS.flatMap((tenant) => IDS.map((taskId) => ({ tenant, taskId })));
  const filters = [{}, { status: ['running', 'failed'] }, { sessionId: 'a' }, { batchId: 'b' }, { tool: 'mail' }, { createdAfter: 3, status: ['pending'] }];
  const perTask = refs.map(async (ref) => {
    const data = await Promise.all(IDS.map((id) => outcome(store.checkpointData(ref, id))));
    return [await store.task(ref), await store.entries(ref, 1, 4), await store.calls(ref), await store.checkpoints(ref), data, await store.outboxOf(ref)];
  });
  const perTenant = TENANTS.map(async (tenant) => [
    await Promise.all(filters.map((filter) => pages((cursor) => store.tasks({ tenant, limit: 2, ...filter, ...at(cursor) })))),
    await pages((cursor) => store.waits({ tenant, limit: 2, ...at(cursor) })),
    await pages((cursor) => store.waits({ tenant, kinds: ['approval', 'review'], limit: 2, ...at(cursor) })),
    await Promise.all(['batch', 'session'].map((kind) => pages((cursor) => store.documents({ kind, tenant, limit: 2, ...at(cursor) })))),
    await store.counts(tenant),
    await store.counts(tenant, 'a'),
  ]);
  return [
    await Promise.all(perTask),
    await Promise.all(perTenant),
    [
      await store.counts(),
      await all(store.unended()),
      await store.due(3, 5),
      await store.nextDue(),
      await store.openCalls(),
      await store.outboxDue(3, 5),
      await store.nextOutboxDue(),
    ],
    await Promise.all(IDS.map((id) => store.blob(id))),
    (await store.size()).tasks,
  ];
}

test('a store in memory and one on SQLite agree', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 14 }), async (actions) => {
      const folder = temporaryFolder();
      const open = () => createSqliteStore({ folder, inlineBytes: 1000 });
      const memory = createMemoryStore();
      let sqlite: Store = open();
      try {
        const seqs = new Map<string, number>();
        for (const one of actions) {
          const both = async (work: (store: Store) => Promise<unknown>) => {
            const [expected, actual] = await Promise.all([work(memory), work(sqlite)]);
            expect(actual).toEqual(expected);
          };
          if (one.do === 'commit') {
            const calls = one.calls.map((commits) => commits.map((drawn) => commitOf(drawn, seqs)));
            await both((store) => Promise.all(calls.map((commits) => outcome(store.commit(commits)))));
            for (const name of seqs.keys()) seqs.set(name, (await memory.task({ tenant: name.slice(0, -1), taskId: name.slice(-1) }))?.seq ?? 0);
          } else if (one.do === 'purge') {
            await both((store) => outcome(store.purge(one)));
            seqs.delete(one.tenant + one.taskId);
          } else if (one.do === 'blob') {
            await both((store) => outcome(one.data ? store.putBlob(one.id, one.data) : store.dropBlob(one.id)));
          } else {
            await sqlite.close();
            sqlite = open();
          }
          await both(answers);
        }
      } finally {
        await sqlite.close();
      }
    }),
    { numRuns: 60 },
  );
});
