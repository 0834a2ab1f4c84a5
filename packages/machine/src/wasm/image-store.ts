/**
 * Finds the images that this package carries, and keeps them ready to use in a cache folder.
 *
 * The cache holds the unpacked guest, its files and the base, under the image's digest. The base is built at first use
 * by booting the guest, and must have the digest that the manifest pins. An entry appears by one rename, so a killed
 * process leaves no half of one; whatever is in the cache can be deleted at any time.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { zstdDecompressSync } from 'node:zlib';
import { FermataError, type Language, type Value } from '@fermata/protocol';
import { Image, type ImageManifest, imageDigest, imageManifestSchema } from './image.ts';
import { Machine } from './machine.ts';
import { type MachineState, stateFromValue, stateToValue } from './machine-state.ts';
import { decodeValue, encodeValue } from './value-codec.ts';

export const IMAGE_NAMES = ['cpython', 'quickjs'] as const;
export type ImageName = (typeof IMAGE_NAMES)[number];

export const imageOfLanguage: Record<Language, ImageName> = { python: 'cpython', javascript: 'quickjs', typescript: 'quickjs' };

/** `FERMATA_CACHE_DIR`, else the user's cache folder. */
export function defaultCacheDir(): string {
  const { FERMATA_CACHE_DIR, XDG_CACHE_HOME } = process.env;
  return FERMATA_CACHE_DIR ?? join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'fermata');
}

/** Where the image's manifest, artifact and build script lie. */
export function imageFolder(name: ImageName): string {
  return fileURLToPath(new URL(`../../${name}/`, import.meta.url));
}

export async function readManifest(name: ImageName): Promise<ImageManifest> {
  return imageManifestSchema.parse(JSON.parse(await readFile(join(imageFolder(name), 'image.json'), 'utf8')));
}

/** The image, from the cache or made into it. */
export async function loadImage(name: ImageName, cacheDir = defaultCacheDir()): Promise<Image> {
  const manifest = await readManifest(name);
  const folder = join(cacheDir, 'images', Buffer.from(imageDigest(manifest)).toString('hex'));
  return (await readCached(manifest, folder)) ?? (await build(name, manifest, folder));
}

async function readCached(manifest: ImageManifest, folder: string): Promise<Image | undefined> {
  const at = (file: string) => join(folder, file);
  try {
    const [wasm, state, base, ...files] = await Promise.all([
      readFile(at('guest.wasm')),
      readFile(at('base.state')),
      readShared(at('base.memory')),
      ...manifest.files.map((_, i) => readShared(at(`file-${i}`))),
    ]);
    if (wasm.length !== manifest.wasm.bytes || base.length !== manifest.base.bytes) return undefined;
    return assemble(manifest, await WebAssembly.compile(wasm), base, stateFromValue(decodeValue(state)), files);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function assemble(manifest: ImageManifest, module: WebAssembly.Module, base: Uint8Array, baseState: MachineState, files: Uint8Array[]): Image {
  return new Image({ manifest, module, base, baseState, files: manifest.files.map(({ path }, i) => ({ path, data: files[i] as Uint8Array })) });
}

/** A file in memory that Workers can share; base and files are, or every thread would have them again. */
async function readShared(path: string): Promise<Uint8Array> {
  await using file = await open(path);
  const bytes = new Uint8Array(new SharedArrayBuffer((await file.stat()).size));
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, bytes.length - at, at);
    if (bytesRead === 0) throw new FermataError('internal', `${path} shrank while it was read`);
    at += bytesRead;
  }
  return bytes;
}

function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

async function build(name: ImageName, manifest: ImageManifest, folder: string): Promise<Image> {
  const { wasm, files } = await unpack(name, manifest);
  const module = await WebAssembly.compile(wasm);
  const { memory, state, sha256 } = bootBase(manifest, module, files);
  if (sha256 !== manifest.base.sha256) {
    throw new FermataError('sandbox_unavailable', `the base image of ${name} came out as ${sha256}, not as ${manifest.base.sha256}`, {
      hint: 'This Node or processor computes something else than the one it was pinned on. Please report it with the output of `fermata doctor`.',
    });
  }
  const entries: [string, Uint8Array][] = [
    ['guest.wasm', wasm],
    ['base.memory', memory],
    ['base.state', encodeValue(stateToValue(state))],
    ...files.map((data, i): [string, Uint8Array] => [`file-${i}`, data]),
  ];
  await publish(folder, entries).catch((error: Error) => {
    process.emitWarning(`the image cache cannot be written, so ${name} will be built anew in every process: ${error.message}`);
  });
  return assemble(manifest, module, shared(memory), state, files.map(shared));
}

async function publish(folder: string, entries: readonly [string, Uint8Array][]): Promise<void> {
  const staging = `${folder}.${randomUUID()}`;
  await mkdir(staging, { recursive: true });
  await Promise.all(entries.map(([file, bytes]) => writeFile(join(staging, file), bytes)));
  await rm(folder, { recursive: true, force: true });
  await rename(staging, folder).catch(async (error: NodeJS.ErrnoException) => {
    await rm(staging, { recursive: true, force: true });
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
}

/** The artifact's parts, each checked against the manifest. */
async function unpack(name: ImageName, manifest: ImageManifest): Promise<{ wasm: Uint8Array; files: Uint8Array[] }> {
  const part = async ({ file, sha256 }: { file: string; sha256: string }) => {
    const bytes = zstdDecompressSync(await readFile(join(imageFolder(name), file)));
    const actual = createHash('sha256').update(bytes).digest('hex');
    if (actual !== sha256) throw new FermataError('sandbox_unavailable', `${name}/${file} has the digest ${actual}, not ${sha256}`);
    return bytes;
  };
  return { wasm: await part(manifest.wasm), files: await Promise.all(manifest.files.map(part)) };
}

function bootBase(manifest: ImageManifest, module: WebAssembly.Module, files: Uint8Array[]): { memory: Uint8Array; state: MachineState; sha256: string } {
  const bare = new Image({
    manifest,
    module,
    files: manifest.files.map(({ path }, i) => ({ path, data: files[i] as Uint8Array })),
    base: new Uint8Array(),
    baseState: undefined as never,
  });
  const { memory, state } = Machine.boot(bare);
  const sha256 = createHash('sha256')
    .update(memory)
    .update(encodeValue(state as unknown as Value))
    .digest('hex');
  return { memory, state, sha256 };
}

/** What `image verify` reports: the digests found, each against the pinned one. */
export interface ImageCheck {
  name: ImageName;
  version: string;
  ok: boolean;
  parts: { part: string; sha256: string; pinned: string }[];
}

/** Unpacks and boots the image anew, without the cache, and compares every digest with the manifest. */
export async function verifyImage(name: ImageName): Promise<ImageCheck> {
  const manifest = await readManifest(name);
  const parts: ImageCheck['parts'] = [];
  const { wasm, files } = await unpack(name, manifest);
  parts.push({ part: 'wasm', sha256: createHash('sha256').update(wasm).digest('hex'), pinned: manifest.wasm.sha256 });
  for (const [i, { path, sha256 }] of manifest.files.entries()) {
    parts.push({
      part: path,
      sha256: createHash('sha256')
        .update(files[i] as Uint8Array)
        .digest('hex'),
      pinned: sha256,
    });
  }
  const base = bootBase(manifest, await WebAssembly.compile(wasm), files);
  parts.push({ part: `base (${base.memory.length} bytes)`, sha256: base.sha256, pinned: manifest.base.sha256 });
  return { name, version: manifest.version, ok: parts.every((part) => part.sha256 === part.pinned), parts };
}
