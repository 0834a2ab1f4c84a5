/**
 * One entry of the image cache: a folder with the parts of an image, and `entry.json`, which is written last and has the
 * size and SHA-256 of each.
 *
 * Whatever is wrong with an entry, it counts as absent. An entry appears by one rename, so a killed process leaves no half
 * of one, and a good one is never taken away.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** Contents of the parts by file name. */
export type Parts = ReadonlyMap<string, Uint8Array>;

const entrySchema = z.strictObject({
  magic: z.literal('fermata-image'),
  version: z.literal(1),
  parts: z.record(z.string(), z.strictObject({ bytes: z.number().int().nonnegative(), sha256: z.string() })),
});
type Entry = z.infer<typeof entrySchema>;

/** How a system says that the target of a rename is there already. */
const TAKEN = new Set(['EEXIST', 'ENOTEMPTY', 'EPERM', 'ENOTDIR']);

export function sha256Of(...bytes: Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const part of bytes) hash.update(part);
  return hash.digest('hex');
}

/** Reads an entry, with its parts in memory that Workers can share. Sizes are checked, and the digests of `hashed`. */
export async function readEntry(folder: string, hashed: readonly string[]): Promise<Parts | undefined> {
  try {
    const entry = entrySchema.parse(JSON.parse(await readFile(join(folder, 'entry.json'), 'utf8')));
    const parts = await Promise.all(Object.entries(entry.parts).map(async ([name, { bytes }]) => [name, await readShared(join(folder, name), bytes)] as const));
    const read = new Map(parts);
    return hashed.every((name) => isWhole(entry, name, read.get(name))) ? read : undefined;
  } catch {
    return undefined;
  }
}

function isWhole(entry: Entry, name: string, bytes: Uint8Array | undefined): boolean {
  return bytes !== undefined && sha256Of(bytes) === entry.parts[name]?.sha256;
}

async function readShared(path: string, size: number): Promise<Uint8Array> {
  await using file = await open(path);
  if ((await file.stat()).size !== size) throw new Error(`${path} has another size`);
  const bytes = new Uint8Array(new SharedArrayBuffer(size));
  for (let at = 0; at < size; ) {
    const { bytesRead } = await file.read(bytes, at, size - at, at);
    if (bytesRead === 0) throw new Error(`${path} shrank while it was read`);
    at += bytesRead;
  }
  return bytes;
}

/** Makes an entry, in the place of one for which `isGood` says no. */
export async function writeEntry(folder: string, parts: Parts, isGood: () => Promise<boolean>): Promise<void> {
  const [staging, aside] = [`${folder}.${randomUUID()}`, `${folder}.${randomUUID()}`];
  const entry: Entry = { magic: 'fermata-image', version: 1, parts: {} };
  for (const [name, bytes] of parts) entry.parts[name] = { bytes: bytes.length, sha256: sha256Of(bytes) };
  try {
    await mkdir(staging, { recursive: true });
    await Promise.all([...parts].map(([name, bytes]) => writeFile(join(staging, name), bytes, { flush: true })));
    await writeFile(join(staging, 'entry.json'), JSON.stringify(entry), { flush: true });
    if ((await moveTo(staging, folder)) || (await isGood())) return;
    await rename(folder, aside).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    if (!(await moveTo(staging, folder)) && !(await isGood())) throw new Error(`${folder} cannot be replaced`);
  } finally {
    for (const left of [staging, aside]) await rm(left, { recursive: true, force: true });
  }
}

/** Whether it could be moved; false where something is there already. */
async function moveTo(staging: string, folder: string): Promise<boolean> {
  try {
    await rename(staging, folder);
    return true;
  } catch (error) {
    if (TAKEN.has((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}
