/**
 * Who owns a data folder.
 *
 * Guarantees: one process at a time, by an exclusive transaction on `owner.db` that the kernel lets go when the process ends,
 * however it ends. `owner.json` beside it says who it is and where it can be asked; it is a note only and may be out of date.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { FermataError } from '@fermata/protocol';
import { makeFolder } from './durable-folder.ts';
import { storeError } from './store-error.ts';

export const OWNER_FILES: readonly string[] = ['owner.db', 'owner.db-journal', 'owner.json'];

/** Owners of this process: a lock that nobody refers to would be collected, and the folder be free. */
const OWNERS = new Set<FolderOwner>();

/** What an owner says of itself. */
export interface OwnerNote {
  pid: number;
  /** Where its API answers: a URL or the path of a socket. */
  url?: string;
  /** Opens it; the note can be read by this user only. */
  key?: string;
  /** The file that its tools are from. */
  tools?: string;
}

export interface FolderOwner extends Disposable {
  readonly folder: string;
  /** Writes the note that others find. */
  tell(note: Partial<OwnerNote>): void;
  release(): void;
}

/** Makes the folder where it is missing. Throws `store_locked`. */
export function takeFolder(folder: string): FolderOwner {
  let lock: DatabaseSync | undefined;
  try {
    makeFolder(folder);
    lock = new DatabaseSync(join(folder, 'owner.db'), { timeout: 0 });
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    if (lock?.isOpen) lock.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === 5) throw locked(folder);
    throw storeError(error, join(folder, 'owner.db'));
  }
  return new Owner(folder, lock);
}

/** What the owner of a folder has told, if there is or was one. */
export function ownerOf(folder: string): OwnerNote | undefined {
  try {
    const note = JSON.parse(readFileSync(join(folder, 'owner.json'), 'utf8')) as OwnerNote;
    return typeof note?.pid === 'number' ? note : undefined;
  } catch {
    return undefined;
  }
}

class Owner implements FolderOwner {
  readonly folder: string;
  readonly #lock: DatabaseSync;

  constructor(folder: string, lock: DatabaseSync) {
    this.folder = folder;
    this.#lock = lock;
    this.tell({});
    OWNERS.add(this);
  }

  tell(told: Partial<OwnerNote>): void {
    const note = join(this.folder, 'owner.json');
    try {
      writeFileSync(`${note}.part`, JSON.stringify({ pid: process.pid, ...told } satisfies OwnerNote), { mode: 0o600 });
      renameSync(`${note}.part`, note);
    } catch (error) {
      throw storeError(error, note);
    }
  }

  release(): void {
    if (!this.#lock.isOpen) return;
    rmSync(join(this.folder, 'owner.json'), { force: true });
    this.#lock.close();
    OWNERS.delete(this);
  }

  [Symbol.dispose](): void {
    this.release();
  }
}

function locked(folder: string): FermataError {
  const note = ownerOf(folder);
  const who = note ? `process ${note.pid}${note.url === undefined ? '' : ` (${note.url})`}` : 'another process';
  return new FermataError('store_locked', `${folder} is owned by ${who}`, {
    hint: 'end it first, or choose another data folder',
  });
}
