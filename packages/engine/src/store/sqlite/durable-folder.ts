/** Folders whose entries are on the disk: what was made or renamed in them survives a loss of power. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Windows has no handle of a folder that could be synced; NTFS journals its entries itself. */
const SYNCABLE = process.platform !== 'win32';

export async function syncFolder(path: string): Promise<void> {
  if (!SYNCABLE) return;
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function syncFolderNow(path: string): void {
  if (!SYNCABLE) return;
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** The folder and those above it, for this user only. */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  syncFolderNow(dirname(path));
}
