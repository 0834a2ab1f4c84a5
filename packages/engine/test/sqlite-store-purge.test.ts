/** After a purge nothing of the task is in any file of the folder, wherever SQLite had put it meanwhile. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import { callRow, checkpointRow, entryRow, outboxRow, ref, TENANT, taskRow } from './store-rows.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Short, and repeated: where a value is split over pages, whole ones of it are on both. */
const SECRET = 'hunter2!';
const SECRET_TASKS = ['t3', 't7', 't8'];

/** Where the secret stands, as file and place. */
function found(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('owner.db'))
    .flatMap((entry) => {
      const at = readFileSync(join(entry.parentPath, entry.name)).indexOf(SECRET);
      return at < 0 ? [] : [`${entry.name} at ${at}`];
    });
}

/** A text of about so many bytes. */
const text = (taskId: string, bytes: number) => (SECRET_TASKS.includes(taskId) ? SECRET : 'harmless').repeat(1 + Math.floor(bytes / 8));

test('a secret in code, input, output, journal, arguments, results, checkpoints and outbox is gone, after many updates', async () => {
  const size = fc.oneof(fc.nat(200), fc.nat(3000), fc.nat(60_000));
  const steps = fc.array(fc.record({ task: fc.nat(30), sizes: fc.array(size, { minLength: 8, maxLength: 8 }), n: fc.nat(6), drop: fc.boolean() }), {
    minLength: 200,
    maxLength: 400,
  });
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const folder = temporaryFolder();
      await using store = createSqliteStore({ folder });
      const seqs = new Map<string, number>();
      const group: Promise<void>[] = [];
      for (const { task, sizes, n, drop } of all) {
        const id = `t${task}`;
        const seq = seqs.get(id) ?? 0;
        seqs.set(id, seq + 1);
        const of = (i: number) => text(id, sizes[i] ?? 0);
        group.push(
          store.commit([
            {
              task: { row: taskRow(id, { seq: seq + 1, output: of(0), request: { language: 'python', code: of(1), input: of(2) }, step: of(3).slice(0, 100) }), expect: seq },
              entries: [entryRow(seq + 1, JSON.stringify(of(4)))],
              calls: [callRow(n, { args: of(5), result: of(6), tool: of(0).slice(0, 20), status: drop ? 'waiting' : 'ready' })],
              checkpoint: { row: checkpointRow(`c${seq}`, { reason: of(0).slice(0, 50) }), data: Buffer.from(of(7)) },
              dropCheckpoints: drop ? [`c${seq - 1}`] : [],
              outbox: [outboxRow(`${id}-${n}`, { taskId: id, dueAt: n, body: of(3) })],
              documents: [{ row: { kind: 'k', tenant: TENANT, id, version: 1, createdAt: n, body: 'x'.repeat(sizes[2] ?? 0) } }],
            },
          ]),
        );
        if (group.length === 8) await Promise.all(group.splice(0));
      }
      await Promise.all(group);
      await store.putBlob('file', Buffer.from(text('t3', 100)));
      await store.putBlob('large file', Buffer.from(text('t3', 100_000)));
      expect(found(folder)).not.toEqual([]);
      await Promise.all([store.dropBlob('file'), store.dropBlob('large file'), ...SECRET_TASKS.map((id) => store.purge(ref(id)))]);
      expect(found(folder)).toEqual([]);
      // nor does it come back with pages that were in memory
      for (let i = 0; i < 40; i++) await store.commit([{ task: { row: taskRow(`new${i}`, { output: 'x'.repeat(i * 100) }), expect: 0 }, entries: [entryRow(1)] }]);
      expect(found(folder)).toEqual([]);
      await store.close();
      await createSqliteStore({ folder }).close();
      expect(found(folder)).toEqual([]);
    }),
    { numRuns: 6, endOnFailure: true },
  );
});

test('others keep what they have, and the database stays whole', async () => {
  const folder = temporaryFolder();
  await using store = createSqliteStore({ folder });
  const count = 300;
  const born = Array.from({ length: count }, (_, i) => ({ task: { row: taskRow(`t${i}`, { output: 'y'.repeat(i * 13) }), expect: 0 }, entries: [entryRow(1)] }));
  await store.commit(born);
  for (let i = 0; i < count; i += 2) await store.purge(ref(`t${i}`));
  for (let i = 1; i < count; i += 2) expect(await store.task(ref(`t${i}`))).toEqual(born[i]?.task.row);
  expect((await store.size()).tasks).toBe(count / 2);
  const database = new DatabaseSync(join(folder, 'store.db'));
  expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  database.close();
});

test('a store that is closed meanwhile ends the purge first', async () => {
  const folder = temporaryFolder();
  const store = createSqliteStore({ folder });
  await store.commit([{ task: { row: taskRow('t3', { output: text('t3', 10_000) }), expect: 0 } }]);
  await Promise.all([store.purge(ref('t3')), store.close()]);
  expect(found(folder)).toEqual([]);
});

test('while another process reads it is refused, and done when it is asked for again', async () => {
  const folder = temporaryFolder();
  await using store = createSqliteStore({ folder });
  await store.commit([{ task: { row: taskRow('t3', { output: text('t3', 10_000) }), expect: 0 } }]);
  const reader = new DatabaseSync(join(folder, 'store.db'));
  reader.exec('BEGIN; SELECT count(*) FROM tasks');
  await expect(store.purge(ref('t3'))).rejects.toMatchObject({ code: 'store_failed', hint: expect.stringContaining('purge again') });
  reader.close();
  await store.purge(ref('t3'));
  expect(found(folder)).toEqual([]);
});
