/** What a SQLite store keeps when its process is killed, its disk is full, or its files are damaged. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { takeFolder } from '../src/store/sqlite/folder-owner.ts';
import { createSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import { all, birth, checkpointRow, ref, step } from './store-rows.ts';
import { temporaryFolder } from './temporary-folder.ts';

const code = (name: string) => expect.objectContaining({ code: name });
const advice = { hint: expect.any(String) };
const CHILD = fileURLToPath(new URL('store-child.ts', import.meta.url));

function child(...args: string[]) {
  const process_ = spawn(process.execPath, [CHILD, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void process_.kill('SIGKILL'));
  return process_;
}

function blobFiles(folder: string): string[] {
  const blobs = join(folder, 'blobs');
  return existsSync(blobs) ? readdirSync(blobs, { recursive: true, withFileTypes: true }).flatMap((entry) => (entry.isFile() ? join(entry.parentPath, entry.name) : [])) : [];
}

describe('a process that is killed', () => {
  test('has kept every commit and every purge that had resolved, whole, round after round', async () => {
    const folder = temporaryFolder();
    const told = new Map<string, { what: string; bytes: number; fill: number }>();
    for (let round = 0; round < 6; round++) {
      const worker = child('commit', folder, String(round));
      let lines = 0;
      const killAt = 20 + Math.floor(Math.random() * 300);
      for await (const line of createInterface({ input: worker.stdout })) {
        const [what = '', id = '', bytes, fill] = line.split(' ');
        told.set(id, { what, bytes: Number(bytes), fill: Number(fill) });
        if (++lines === killAt) worker.kill('SIGKILL');
      }
      await using store = createSqliteStore({ folder });
      for (const [id, { what, bytes, fill }] of told) {
        const task = await store.task(ref(id));
        if (what === 'gone') {
          expect(task, id).toBeUndefined();
          continue;
        }
        // its purge was not told any more
        if (!task && what === 'done' && id.split('-')[1] === '1') continue;
        expect(task, id).toBeDefined();
        if (what === 'done') expect(task?.status, id).toBe('succeeded');
        expect((await store.entries(ref(id), 0, 9)).length, id).toBe(task?.seq);
        if (task?.status === 'pending' || fill % 2 === 0) expect(await store.checkpointData(ref(id), 'c'), id).toEqual(new Uint8Array(bytes).fill(fill));
      }
      const { items } = await store.tasks({ tenant: 'acme', limit: 100_000 });
      const large = await Promise.all(items.map(async ({ taskId }) => ((await store.checkpoints(ref(taskId))).length ? (await store.checkpointData(ref(taskId), 'c')).length : 0)));
      expect(blobFiles(folder)).toHaveLength(large.filter((bytes) => bytes > 32 * 1024).length);
    }
    const database = new DatabaseSync(join(folder, 'store.db'));
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    database.close();
  });
});

describe('a folder', () => {
  test('has one owner, who is named to others, until that one is gone', async () => {
    const folder = temporaryFolder();
    const holder = child('hold', folder);
    await once(holder.stdout, 'data');
    const refused = expect.objectContaining({ code: 'store_locked', message: expect.stringMatching(new RegExp(`process ${holder.pid} .*http://127.0.0.1:7777`)), ...advice });
    expect(() => takeFolder(folder)).toThrow(refused);
    expect(() => createSqliteStore({ folder })).toThrow(refused);
    holder.kill('SIGKILL');
    await once(holder, 'close');
    takeFolder(folder).release();
  });

  test('has one owner in a process too, and is free when its store is closed', async () => {
    const folder = temporaryFolder();
    const store = createSqliteStore({ folder });
    expect(() => createSqliteStore({ folder })).toThrow(code('store_locked'));
    await store.close();
    await createSqliteStore({ folder }).close();
  });

  test('that was taken before is given to the store, and stays taken after it', async () => {
    const owner = takeFolder(temporaryFolder());
    await createSqliteStore({ folder: owner.folder, owner }).close();
    expect(() => takeFolder(owner.folder)).toThrow(code('store_locked'));
    owner.release();
    takeFolder(owner.folder).release();
  });

  test('where nothing can be made gives `store_failed`', () => {
    expect(() => createSqliteStore({ folder: '/proc/nothing' })).toThrow(expect.objectContaining({ code: 'store_failed', ...advice }));
  });
});

describe('a full disk', () => {
  test('fails the whole group with `store_failed`; when there is room again the store goes on', async () => {
    const folder = smallDisk(2);
    if (!folder) return;
    const store = createSqliteStore({ folder });
    await store.commit([birth('a')]);
    const fill = join(folder, 'fill');
    execFileSync('sh', ['-c', `cat /dev/zero > ${fill} 2>/dev/null || true`]);
    const big = (id: string) => birth(id, { request: { language: 'javascript', code: 'x'.repeat(100_000) } });
    for (let round = 0; round < 3; round++) {
      const outcomes = await Promise.allSettled([store.commit([big('b')]), store.commit([big('c')])]);
      for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'store_failed', hint: expect.stringMatching(/make room/) } });
    }
    await expect(store.commit([step('a', 1, {}, { checkpoint: { row: checkpointRow('c'), data: new Uint8Array(40_000) } })])).rejects.toMatchObject({
      code: 'checkpoint_failed',
      ...advice,
    });
    await expect(store.putBlob('x', new Uint8Array(40_000))).rejects.toMatchObject({ code: 'store_failed', ...advice });
    expect((await store.task(ref('a')))?.seq).toBe(1);
    rmSync(fill);
    await Promise.all([store.commit([big('b')]), store.commit([step('a', 1, {}, { checkpoint: { row: checkpointRow('c'), data: new Uint8Array(40_000) } })])]);
    await store.close();
    const again = createSqliteStore({ folder });
    expect((await all(again.unended())).map(({ taskId, seq }) => taskId + seq)).toEqual(['a2', 'b1']);
    expect(blobFiles(folder)).toHaveLength(1);
    await again.close();
  });

  test('for the file of a checkpoint fails that call only', async () => {
    const folder = smallDisk(2);
    if (!folder) return;
    await using store = createSqliteStore({ folder });
    const outcomes = await Promise.allSettled([
      store.commit([birth('a')]),
      store.commit([{ ...birth('b'), checkpoint: { row: checkpointRow('c'), data: new Uint8Array(4_000_000) } }]),
      store.commit([birth('c')]),
    ]);
    expect(outcomes).toMatchObject([{ status: 'fulfilled' }, { reason: { code: 'checkpoint_failed', ...advice } }, { status: 'fulfilled' }]);
    expect((await all(store.unended())).map(({ taskId }) => taskId)).toEqual(['a', 'c']);
    expect(blobFiles(folder)).toEqual([]);
  });
});

/** A file system of so many MiB, where one can be mounted. */
function smallDisk(mebibytes: number): string | undefined {
  const folder = temporaryFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync('umount', ['-l', folder]));
  return folder;
}

describe('a damaged database', () => {
  async function filled(): Promise<string> {
    const folder = temporaryFolder();
    await using store = createSqliteStore({ folder });
    await store.commit(Array.from({ length: 200 }, (_, i) => birth(`t${i}`)));
    return folder;
  }
  /** Opens the store and reads all of it. */
  async function readAll(folder: string): Promise<void> {
    await using store = createSqliteStore({ folder });
    for (const { taskId } of await all(store.unended())) await store.entries(ref(taskId), 0, 10);
    await store.tasks({ tenant: 'acme', limit: 1000 });
    await store.commit([birth('new')]);
  }

  test.each([
    ['is overwritten', (file: string) => writeFileSync(file, Buffer.alloc(100_000, 'rubbish '))],
    ['is empty', (file: string) => truncateSync(file, 0)],
    ['is cut within a page', (file: string) => truncateSync(file, 10_001)],
    ['is cut between pages', (file: string) => truncateSync(file, 8192)],
    ['is zeroed from its second page on', (file: string) => overwrite(file, 4096, 0)],
    ['is rubbish from its second page on', (file: string) => overwrite(file, 4096, 0xa7)],
  ])('that %s gives `store_failed` and what to do', async (_, damage) => {
    const folder = await filled();
    damage(join(folder, 'store.db'));
    await expect(readAll(folder)).rejects.toMatchObject({ code: expect.stringMatching(/^(store_failed|environment_mismatch)$/), ...advice });
    takeFolder(folder).release();
  });

  test('with any byte changed is read right or refused by name', async () => {
    const folder = await filled();
    const file = join(folder, 'store.db');
    const whole = readFileSync(file);
    for (let round = 0; round < 60; round++) {
      const changed = Buffer.from(whole);
      const at = round < 20 ? round * 5 : Math.floor(Math.random() * whole.length);
      changed[at] = Math.floor(Math.random() * 256);
      writeFileSync(file, changed);
      for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
      await readAll(folder).catch((error) => expect(error, `byte ${at}`).toMatchObject({ name: 'FermataError' }));
    }
  });

  function overwrite(file: string, from: number, value: number): void {
    const handle = openSync(file, 'r+');
    writeSync(handle, Buffer.alloc(statSync(file).size - from, value), 0, undefined, from);
    closeSync(handle);
  }
});

describe('bytes of a checkpoint', () => {
  const checkpoint = { row: checkpointRow('c'), data: new Uint8Array(50_000).fill(1) };

  test('that changed, were cut or are gone are refused with `checkpoint_invalid`', async () => {
    const folder = temporaryFolder();
    await using store = createSqliteStore({ folder });
    await store.commit([{ ...birth('a'), checkpoint }]);
    await store.putBlob('b', checkpoint.data);
    for (const file of blobFiles(folder)) {
      const whole = readFileSync(file);
      const refused = async () => {
        const outcomes = await Promise.allSettled([store.checkpointData(ref('a'), 'c'), store.blob('b')]);
        expect(outcomes.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: { code: 'checkpoint_invalid', ...advice } }]);
      };
      const changed = Buffer.from(whole);
      changed[777] = 2;
      writeFileSync(file, changed);
      await refused();
      truncateSync(file, 100);
      await refused();
      rmSync(file);
      await refused();
      writeFileSync(file, whole);
    }
    expect(await store.checkpointData(ref('a'), 'c')).toEqual(checkpoint.data);
  });

  test('that changed inside the database are refused too', async () => {
    const folder = temporaryFolder();
    await using store = createSqliteStore({ folder });
    await store.commit([{ ...birth('a'), checkpoint: { ...checkpoint, data: new Uint8Array(100) } }]);
    const database = new DatabaseSync(join(folder, 'store.db'));
    database.exec("UPDATE payloads SET data = x'00'");
    database.close();
    await expect(store.checkpointData(ref('a'), 'c')).rejects.toEqual(code('checkpoint_invalid'));
  });

  test('in files that no row names are removed when the store opens; others stay', async () => {
    const folder = temporaryFolder();
    const store = createSqliteStore({ folder });
    await store.commit([{ ...birth('a'), checkpoint }]);
    await expect(store.commit([{ ...birth('a'), checkpoint }])).rejects.toEqual(code('conflict'));
    expect(blobFiles(folder)).toHaveLength(1);
    await store.close();
    const [kept = ''] = blobFiles(folder);
    for (const name of ['0123', '0123.part']) writeFileSync(join(kept, '..', name), 'left over');
    await using again = createSqliteStore({ folder });
    expect(blobFiles(folder)).toEqual([kept]);
    expect(await again.checkpointData(ref('a'), 'c')).toEqual(checkpoint.data);
  });
});
