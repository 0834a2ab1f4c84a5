/** When a commit has resolved, it is on the disk; what is not yet there is shown to nobody. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSqliteStore, type SqliteStore } from '../src/index.ts';
import { Connection } from '../src/store/sqlite/connection.ts';
import { temporaryFolder } from './temporary-folder.ts';

let folder: string;
let store: SqliteStore;

beforeEach(() => {
  folder = temporaryFolder();
  store = createSqliteStore({ folder });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await store.close();
});

const row = (id: string) => ({ kind: 'test', tenant: 'acme', id, version: 1, createdAt: 1, body: '{}' });
const commit = (id: string) => store.commit([{ documents: [{ row: row(id) }] }]);
const soon = () => new Promise((resolve) => setTimeout(resolve, 30));

test('a commit resolves when its sync has, and until then what it has changed is not told', async () => {
  const synced = Promise.withResolvers<void>();
  vi.spyOn(Connection.prototype, 'sync').mockReturnValueOnce(synced.promise);
  const told: string[] = [];
  const committing = commit('a').then(() => told.push('committed'));
  await soon();
  const reading = store.document('test', 'acme', 'a').then((found) => told.push(`read ${found?.id}`));
  await soon();
  expect(told).toEqual([]);
  synced.resolve();
  await Promise.all([committing, reading]);
  expect(told.sort()).toEqual(['committed', 'read a']);
});

test('what comes during a sync shares the next one', async () => {
  const synced = Promise.withResolvers<void>();
  const sync = vi.spyOn(Connection.prototype, 'sync').mockReturnValueOnce(synced.promise);
  const first = commit('a');
  await soon();
  const others = ['b', 'c', 'd'].map(commit);
  await soon();
  expect(sync).toHaveBeenCalledTimes(1);
  synced.resolve();
  await Promise.all([first, ...others]);
  expect(sync).toHaveBeenCalledTimes(2);
});

test('after a sync that failed nothing is taken and nothing is told, and the next start shows what is there', async () => {
  await commit('before');
  vi.spyOn(Connection.prototype, 'sync').mockRejectedValueOnce(new Error('EIO: i/o error'));
  await expect(commit('a')).rejects.toMatchObject({ code: 'store_failed', message: expect.stringContaining('could not be synced') });
  await expect(commit('b')).rejects.toMatchObject({ code: 'store_failed' });
  await expect(store.document('test', 'acme', 'before')).rejects.toMatchObject({ code: 'store_failed' });
  await store.close();
  store = createSqliteStore({ folder });
  expect(await store.document('test', 'acme', 'before')).toMatchObject({ id: 'before' });
  expect(await store.document('test', 'acme', 'b')).toBeUndefined();
});
