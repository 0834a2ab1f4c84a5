/**
 * Copies of data folders.
 *
 * A backup is a folder like any other: a `store.db` of one moment, and every file that it names. It is made while the folder's
 * owner works, by any process. The database comes into its place last, so a backup that was broken off is not taken for one.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { constants, copyFile, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { backup as copyDatabase, DatabaseSync } from 'node:sqlite';
import { FermataError } from '@fermata/protocol';
import { Connection } from './connection.ts';
import { makeFolder, syncFolder } from './durable-folder.ts';
import { OWNER_FILES, takeFolder } from './folder-owner.ts';
import { checkVersion } from './schema.ts';
import { storeError } from './store-error.ts';

/** How often the database is copied again because a file that it names was dropped meanwhile. */
const TRIES = 10;
const ALL_PAGES = 0x7fffffff;

/** Copies a data folder, in use or not, to `target`, which is missing or empty. Throws `store_failed`. */
export async function backup(folder: string, target: string): Promise<void> {
  const source = join(folder, 'store.db');
  if (!existsSync(source)) throw new FermataError('store_failed', `${folder} holds no store`, { hint: 'check the path of the data folder' });
  refuseFull(target);
  try {
    makeFolder(target);
    await copyFolder(folder, source, target);
  } catch (error) {
    throw storeError(error, `the backup in ${target}`);
  }
}

/** Copies a backup to `folder`, which is missing or empty and owned by nobody. Throws `store_locked`, `store_failed` or `environment_mismatch`. */
export async function restoreFolder(source: string, folder: string): Promise<void> {
  refuseFull(folder);
  const owner = takeFolder(folder);
  try {
    refuseFull(folder);
    checkWhole(join(source, 'store.db'));
    await backup(source, folder);
  } finally {
    owner.release();
  }
}

function refuseFull(folder: string): void {
  if (!existsSync(folder) || readdirSync(folder).every((name) => OWNER_FILES.includes(name))) return;
  // a folder that somebody works in is told as such
  if (existsSync(join(folder, 'owner.db'))) takeFolder(folder).release();
  throw new FermataError('store_failed', `${folder} is not empty`, { hint: 'choose a folder that does not exist yet' });
}

async function copyFolder(folder: string, source: string, target: string): Promise<void> {
  const part = join(target, `store.db.${randomUUID()}.part`);
  try {
    await copyFiles(folder, target, await filesIn(join(folder, 'blobs')));
    for (let tries = 1; ; tries++) {
      await copyOfMoment(source, part);
      const named = namedFiles(part);
      if (await copyFiles(folder, target, named)) {
        await removeUnnamed(target, named);
        break;
      }
      if (tries === TRIES) throw new FermataError('store_failed', 'files were dropped faster than they could be copied', { hint: 'make the backup again when less is going on' });
      await rm(part, { force: true });
    }
    await sync(part);
    await rename(part, join(target, 'store.db'));
    await syncFolder(target);
  } finally {
    for (const end of ['', '-wal', '-shm', '-journal']) await rm(part + end, { force: true });
  }
}

/** On a connection of its own and in one step, beside those who read and write. */
async function copyOfMoment(source: string, part: string): Promise<void> {
  const database = new DatabaseSync(source, { timeout: 5000 });
  try {
    await copyDatabase(database, part, { rate: ALL_PAGES });
  } finally {
    database.close();
  }
}

function checkWhole(file: string): void {
  if (!existsSync(file)) return; // told by the copying
  const connection = new Connection(file);
  try {
    checkVersion(connection);
    const [problem] = connection.all<{ quick_check: string }>('PRAGMA quick_check(1)');
    if (problem?.quick_check !== 'ok') throw new FermataError('store_failed', `the backup is damaged: ${problem?.quick_check}`, { hint: 'use an older one' });
  } catch (error) {
    throw storeError(error, file);
  } finally {
    connection.close();
  }
}

function namedFiles(file: string): Set<string> {
  const connection = new Connection(file);
  try {
    checkVersion(connection);
    return new Set(connection.all<{ file: string }>('SELECT file FROM payloads WHERE file IS NOT NULL').map((row) => row.file));
  } finally {
    connection.close();
  }
}

async function filesIn(blobs: string): Promise<string[]> {
  if (!existsSync(blobs)) return [];
  return (await readdir(blobs, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile() && !entry.name.endsWith('.part')).map(({ name }) => name);
}

/** False where one of them is gone; those that are there are copied all the same, once. */
async function copyFiles(folder: string, target: string, names: Iterable<string>): Promise<boolean> {
  let whole = true;
  const folders = new Set<string>();
  for (const name of names) {
    const place = join('blobs', name.slice(0, 2), name);
    const to = join(target, place);
    if (existsSync(to)) continue;
    makeFolder(dirname(to));
    folders.add(dirname(to));
    try {
      await copyFile(join(folder, place), to, constants.COPYFILE_FICLONE);
      await sync(to);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      whole = false;
    }
  }
  for (const path of folders) await syncFolder(path);
  return whole;
}

async function removeUnnamed(target: string, named: ReadonlySet<string>): Promise<void> {
  for (const name of await filesIn(join(target, 'blobs'))) if (!named.has(name)) await rm(join(target, 'blobs', name.slice(0, 2), name), { force: true });
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
