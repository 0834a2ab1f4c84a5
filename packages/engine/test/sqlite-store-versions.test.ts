/** How the database of a SQLite store becomes a newer one, and what is refused. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { Connection } from '../src/store/sqlite/connection.ts';
import { APPLICATION_ID, migrate, STEPS } from '../src/store/sqlite/schema.ts';
import { createSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import { birth, ref, taskRow } from './store-rows.ts';
import { temporaryFolder } from './temporary-folder.ts';

async function filled(): Promise<{ folder: string; file: string }> {
  const folder = temporaryFolder();
  await using store = createSqliteStore({ folder });
  await store.commit([birth('a')]);
  return { folder, file: join(folder, 'store.db') };
}

function change(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

test('a database of version 1 is brought through every later step, each once, with what is in it', async () => {
  const file = join(temporaryFolder(), 'store.db');
  change(file, `PRAGMA application_id = ${APPLICATION_ID}; BEGIN; ${STEPS[0]}; INSERT INTO blobs VALUES ('a', 7); PRAGMA user_version = 1; COMMIT`);
  const connection = new Connection(file);
  const later = [...STEPS, 'ALTER TABLE blobs ADD COLUMN note TEXT', "UPDATE blobs SET note = coalesce(note, '') || payload"];
  migrate(connection, later);
  migrate(connection, later);
  expect(connection.pragma('user_version')).toBe(later.length);
  expect(connection.get('SELECT * FROM blobs')).toEqual({ id: 'a', payload: 7, note: '7' });
  connection.close();
});

test('a step that fails leaves the database at the version before', async () => {
  const { file } = await filled();
  const connection = new Connection(file);
  expect(() => migrate(connection, [...STEPS, 'DELETE FROM tasks; DELETE FROM nowhere'])).toThrow(/nowhere/);
  expect(connection.pragma('user_version')).toBe(STEPS.length);
  expect(connection.get('SELECT task_id FROM tasks')).toEqual({ task_id: 'a' });
  connection.close();
});

test('a database of a newer version is refused and left as it is', async () => {
  const { folder, file } = await filled();
  change(file, 'PRAGMA user_version = 99');
  expect(() => createSqliteStore({ folder })).toThrow(
    expect.objectContaining({ code: 'environment_mismatch', message: expect.stringContaining('version 99'), hint: expect.any(String) }),
  );
  change(file, `PRAGMA user_version = ${STEPS.length}`);
  await using store = createSqliteStore({ folder });
  expect(await store.task(ref('a'))).toEqual(taskRow('a'));
});

test('a database of another program is refused and left as it is', async () => {
  const folder = temporaryFolder();
  change(join(folder, 'store.db'), 'CREATE TABLE mine (a)');
  expect(() => createSqliteStore({ folder })).toThrow(expect.objectContaining({ code: 'environment_mismatch', hint: expect.any(String) }));
  change(join(folder, 'store.db'), 'INSERT INTO mine VALUES (1)');
});
