/**
 * The key that seals snapshots and checkpoints: `FERMATA_SEAL_KEY` (base64 of 32 bytes), else a file in the data folder, made
 * at first use and readable by its owner alone. Whoever has the key can make snapshots that are believed.
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { FermataError, type SealKey } from '@fermata/protocol';

/** `FERMATA_DATA_DIR`, else the user's data folder. */
export function dataDir(): string {
  const { FERMATA_DATA_DIR, XDG_DATA_HOME } = process.env;
  return FERMATA_DATA_DIR ?? join(XDG_DATA_HOME ?? join(homedir(), '.local', 'share'), 'fermata');
}

/** Of this user. Made if there is none. */
export function sealKey(): SealKey {
  return folderKey(dataDir());
}

/** Of a data folder; of this process where there is none. Made if it is missing. */
export function folderKey(folder: string | undefined): SealKey {
  const given = process.env.FERMATA_SEAL_KEY;
  if (given !== undefined) return keyOf(Buffer.from(given, 'base64'), 'FERMATA_SEAL_KEY');
  if (folder === undefined) return keyOf(randomBytes(32), 'a random key');
  const file = keyFile(folder);
  return keyOf(Buffer.from(readOrMake(file), 'base64'), file);
}

/** Whether there is a key, or it would have to be made. */
export function hasSealKey(): boolean {
  return process.env.FERMATA_SEAL_KEY !== undefined || existsSync(keyFile(dataDir()));
}

function keyFile(folder: string): string {
  return join(folder, 'seal.key');
}

function readOrMake(file: string): string {
  try {
    if (!existsSync(file)) make(file);
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new FermataError('sandbox_unavailable', `the key that seals snapshots cannot be kept as ${file}: ${(cause as Error).message}`, {
      hint: 'Set FERMATA_DATA_DIR to a folder that can be written, or FERMATA_SEAL_KEY to the base64 of 32 random bytes.',
      cause,
    });
  }
}

/** Another process may be faster; then its key counts. */
function make(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(file, randomBytes(32).toString('base64'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function keyOf(key: Uint8Array, source: string): SealKey {
  if (key.length !== 32) throw new FermataError('invalid_request', `${source} does not hold the base64 of 32 bytes`);
  return { id: createHash('sha256').update('fermata seal key id').update(key).digest('hex').slice(0, 16), key };
}
