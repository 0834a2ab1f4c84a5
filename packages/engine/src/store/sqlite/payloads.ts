/**
 * Bytes of checkpoints and blobs: small ones in the database, large ones in files `blobs/<2 hex>/<name>`.
 *
 * A file has a name of its own, is written once and never changed: under another name, fsync, rename, fsync of the folder; only
 * then does a transaction name it. A file that no row names is left over from a crash and is removed when the store opens. What
 * is read has the SHA-256 that was noted when it was stored, or is refused with `checkpoint_invalid`.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FermataError } from '@fermata/protocol';
import type { Connection, Row } from './connection.ts';
import { makeFolder, syncFolder } from './durable-folder.ts';

/** Bytes on their way in. */
export interface StagedPayload {
  bytes: number;
  sha256: Uint8Array;
  data: Uint8Array | null;
  file: string | null;
  /** Of the file. */
  durable: Promise<void> | undefined;
}

export class Payloads {
  readonly #connection: () => Connection;
  readonly #folder: string;
  readonly #inlineBytes: number;
  readonly #holds: string[][] = [];

  constructor(connection: () => Connection, folder: string, inlineBytes: number) {
    this.#connection = connection;
    this.#folder = folder;
    this.#inlineBytes = inlineBytes;
  }

  /** Takes a copy of `data` and begins to write it, if it is large. */
  stage(data: Uint8Array): StagedPayload {
    const copy = data.slice();
    const common = { bytes: copy.length, sha256: sha256(copy) };
    if (copy.length <= this.#inlineBytes) return { ...common, data: copy, file: null, durable: undefined };
    const file = randomUUID().replaceAll('-', '');
    const durable = this.#writeFile(file, copy);
    durable.catch(() => {}); // nobody waits for it where the call fails before its turn
    return { ...common, data: null, file, durable };
  }

  /** In a transaction; tells the key of the row. */
  insert({ bytes, sha256, data, file }: StagedPayload): number {
    return this.#connection().insert('INSERT INTO payloads (bytes, sha256, data, file) VALUES (?, ?, ?, ?)', bytes, sha256, data, file);
  }

  /** In a transaction; the file, if there is one, is to be removed when that is durable. */
  delete(key: number): string | undefined {
    return this.#connection().get<{ file: string | null }>('DELETE FROM payloads WHERE key = ? RETURNING file', key)?.file ?? undefined;
  }

  /** `name` is for the error. Throws `checkpoint_invalid`. */
  async read(key: number, name: string): Promise<Uint8Array> {
    const row = this.#connection().get<Row & { file: string | null; data: Uint8Array | null; sha256: Uint8Array }>('SELECT file, data, sha256 FROM payloads WHERE key = ?', key);
    const data = row?.file == null ? row?.data : await readFile(this.#path(row.file)).catch(absent);
    if (!row || !data) throw damaged(name, 'are gone');
    if (Buffer.compare(sha256(data), row.sha256) !== 0) throw damaged(name, 'have changed since they were stored');
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  }

  /** Until `release` no file is removed. */
  hold(): { release(): void } {
    const held: string[] = [];
    this.#holds.push(held);
    return {
      release: () => {
        this.#holds.splice(this.#holds.indexOf(held), 1);
        for (const file of held) this.removeFile(file);
      },
    };
  }

  /** What cannot be removed now is removed when the store opens the next time. */
  removeFile(file: string): void {
    const hold = this.#holds[0];
    if (hold) {
      hold.push(file);
      return;
    }
    try {
      rmSync(this.#path(file), { force: true });
    } catch {}
  }

  sweep(): void {
    if (!existsSync(this.#folder)) return;
    for (const entry of readdirSync(this.#folder, { recursive: true, withFileTypes: true })) {
      if (entry.isFile() && !this.#connection().get('SELECT 1 FROM payloads WHERE file = ?', entry.name)) rmSync(join(entry.parentPath, entry.name), { force: true });
    }
  }

  #path(file: string): string {
    return join(this.#folder, file.slice(0, 2), file);
  }

  async #writeFile(file: string, data: Uint8Array): Promise<void> {
    const path = this.#path(file);
    try {
      makeFolder(dirname(path));
      const handle = await open(`${path}.part`, 'wx', 0o600);
      try {
        await handle.writeFile(data);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(`${path}.part`, path);
      await syncFolder(dirname(path));
    } catch (error) {
      await rm(`${path}.part`, { force: true }).catch(() => {});
      throw error;
    }
  }
}

export function sha256(data: Uint8Array): Buffer {
  return createHash('sha256').update(data).digest();
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

function damaged(name: string, what: string): FermataError {
  return new FermataError('checkpoint_invalid', `the bytes of ${name} ${what}`, { hint: 'use an older checkpoint, or restore the data folder from a backup' });
}
