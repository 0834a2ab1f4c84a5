/** Copies of a data folder that is in use, and folders made of them. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { backup, restoreFolder } from '../src/store/sqlite/backup.ts';
import { createSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import { all, birth, checkpointRow, ref, step } from './store-rows.ts';
import { temporaryFolder } from './temporary-folder.ts';

const large = (n: number) => ({ checkpoint: { row: checkpointRow(`c${n}`), data: new Uint8Array(40_000).fill(n) } });
const fresh = () => join(temporaryFolder(), 'new');

test.each([
  ['its store', 0],
  ['another process', 25],
])('a backup that %s makes while tasks change is of one moment, and every file that it names is in it', async (by, restMs) => {
  const folder = temporaryFolder();
  await using store = createSqliteStore({ folder });
  let stop = false;
  let committed = 0;
  const work = async (lane: number) => {
    await store.commit([{ ...birth(`t${lane}`), ...large(1) }]);
    for (let seq = 1; !stop; seq++) {
      // both lines change in one call: a backup has both or none
      await store.commit([
        step(`t${lane}`, seq, {}, { ...large(seq + 1), dropCheckpoints: [`c${seq - 1}`] }),
        { documents: [{ row: { kind: 'seen', tenant: 'acme', id: `t${lane}`, version: seq + 1, createdAt: 1, body: '' } }] },
      ]);
      committed++;
      if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  };
  const lanes = [1, 2, 3].map(work);
  onTestFinished(() => {
    stop = true;
  });
  const targets: string[] = [];
  for (let i = 0; i < 4; i++) {
    const [before, target] = [committed, fresh()];
    while (committed < before + 20) await new Promise((resolve) => setTimeout(resolve, 5));
    await (by === 'its store' ? store.backup(target) : backup(folder, target));
    targets.push(target);
  }
  stop = true;
  await Promise.all(lanes);
  for (const target of targets) {
    const restored = fresh();
    await restoreFolder(target, restored);
    await using copy = createSqliteStore({ folder: restored });
    const tasks = await all(copy.unended());
    expect(tasks).toHaveLength(3);
    for (const { taskId, seq } of tasks) {
      expect((await copy.document('seen', 'acme', taskId))?.version).toBe(seq);
      expect((await copy.entries(ref(taskId), 0, 1e6)).length).toBe(seq);
      const checkpoints = await copy.checkpoints(ref(taskId));
      expect(checkpoints.length).toBe(2);
      for (const { checkpointId } of checkpoints)
        expect((await copy.checkpointData(ref(taskId), checkpointId)).every((byte) => byte === Number(checkpointId.slice(1)) % 256)).toBe(true);
    }
    await copy.commit([birth('goes on')]);
    expect(readdirSync(target).sort()).toEqual(['blobs', 'store.db']);
  }
});

test('a purge waits for the backup that runs', async () => {
  const folder = temporaryFolder();
  const target = fresh();
  await using store = createSqliteStore({ folder });
  await store.commit([{ ...birth('a'), ...large(1) }]);
  await Promise.all([store.backup(target), store.purge(ref('a'))]);
  await using copy = createSqliteStore({ folder: target });
  for (const { taskId } of await all(copy.unended())) expect((await copy.checkpointData(ref(taskId), 'c1')).length).toBe(40_000);
});

test('nothing is written into a folder that holds something, or that somebody owns', async () => {
  const [folder, full, target] = [temporaryFolder(), temporaryFolder(), fresh()];
  await using store = createSqliteStore({ folder });
  await store.commit([birth('a')]);
  writeFileSync(join(full, 'mine'), '');
  for (const attempt of [() => store.backup(full), () => backup(folder, full), () => restoreFolder(folder, full)]) {
    await expect(attempt()).rejects.toMatchObject({ code: 'store_failed', message: expect.stringContaining('not empty'), hint: expect.any(String) });
  }
  await store.backup(target);
  await expect(restoreFolder(target, folder)).rejects.toMatchObject({ code: 'store_locked', hint: expect.any(String) });
  expect(readdirSync(full)).toEqual(['mine']);
});

test('a folder that holds no store, or a damaged one, is not a backup', async () => {
  const [empty, damaged] = [temporaryFolder(), temporaryFolder()];
  await expect(backup(empty, fresh())).rejects.toMatchObject({ code: 'store_failed', hint: expect.any(String) });
  writeFileSync(join(damaged, 'store.db'), 'rubbish'.repeat(1000));
  await expect(restoreFolder(damaged, fresh())).rejects.toMatchObject({ code: 'store_failed', hint: expect.any(String) });
});
