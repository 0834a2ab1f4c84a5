/**
 * Finds the images that this package carries, and keeps them ready to use in a cache folder.
 *
 * The cache holds the unpacked guest, its files and the base, under the image's digest. The base is built at first use
 * by booting the guest, and must have the digest that the manifest pins. Whatever is in the cache can be deleted at any
 * time; what is damaged there is built anew.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FermataError, type ImageName } from '@fermata/protocol';
import { Image, imageDigest } from './image.ts';
import { type Parts, readEntry, sha256Of, writeEntry } from './image-cache.ts';
import { type ImageManifest, imageManifestSchema } from './image-manifest.ts';
import { Machine } from './machine.ts';
import { type MachineState, stateFromValue, stateToValue } from './machine-state.ts';
import { unpacked } from './unpacked.ts';
import { decodeValue, encodeValue } from './value-codec.ts';

/** What a part of an image may unpack to. */
const MAX_PART = 256 * 1024 * 1024;

export const IMAGE_NAMES: readonly ImageName[] = ['cpython', 'quickjs'];

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

/** Modules that programs of an image can import, without those inside others; sorted. */
export function librariesOf(name: ImageName): readonly string[] {
  if (name === 'quickjs') return [];
  cpythonLibraries ??= JSON.parse(readFileSync(join(imageFolder(name), 'libraries.json'), 'utf8')) as string[];
  return cpythonLibraries;
}
let cpythonLibraries: string[] | undefined;

/** The image, from the cache or made into it. */
export async function loadImage(name: ImageName, cacheDir = defaultCacheDir()): Promise<Image> {
  const manifest = await readManifest(name);
  const folder = entryFolder(manifest, cacheDir);
  return (await readCached(manifest, folder)) ?? (await build(name, manifest, folder));
}

function entryFolder(manifest: ImageManifest, cacheDir: string): string {
  return join(cacheDir, 'images', Buffer.from(imageDigest(manifest)).toString('hex'));
}

/** Whatever goes wrong, the image is built anew. */
async function readCached(manifest: ImageManifest, folder: string): Promise<Image | undefined> {
  try {
    const parts = await readEntry(folder, ['base.state']);
    if (!parts) return undefined;
    const { wasm, base, state, files } = partsOf(manifest, parts);
    if (wasm.length !== manifest.wasm.bytes || base.length !== manifest.base.bytes) return undefined;
    return assemble(manifest, await WebAssembly.compile(new Uint8Array(wasm)), base, state, files);
  } catch {
    return undefined;
  }
}

/** Throws where one is absent or cannot be read. */
function partsOf(manifest: ImageManifest, parts: Parts): { wasm: Uint8Array; base: Uint8Array; state: MachineState; files: Uint8Array[] } {
  const part = (name: string) => {
    const bytes = parts.get(name);
    if (!bytes) throw new FermataError('internal', `the cached image has no ${name}`);
    return bytes;
  };
  return {
    wasm: part('guest.wasm'),
    base: part('base.memory'),
    state: stateFromValue(decodeValue(new Uint8Array(part('base.state')))),
    files: manifest.files.map((_, i) => part(`file-${i}`)),
  };
}

function assemble(manifest: ImageManifest, module: WebAssembly.Module, base: Uint8Array, baseState: MachineState, files: Uint8Array[]): Image {
  return new Image({ manifest, module, base, baseState, files: manifest.files.map(({ path }, i) => ({ path, data: files[i] as Uint8Array })) });
}

/** In memory that Workers can share; base and files are, or every thread would have them again. */
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
  const parts = new Map([
    ['guest.wasm', wasm],
    ['base.memory', memory],
    ['base.state', encodeValue(stateToValue(state))],
    ...files.map((data, i): [string, Uint8Array] => [`file-${i}`, data]),
  ]);
  const isGood = async () => (await readCached(manifest, folder)) !== undefined;
  await writeEntry(folder, parts, isGood).catch((error: Error) => {
    process.emitWarning(`the image cache cannot be written, so ${name} will be built anew in every process: ${error.message}`);
  });
  return assemble(manifest, module, shared(memory), state, files.map(shared));
}

/** The artifact's parts, each checked against the manifest. */
async function unpack(name: ImageName, manifest: ImageManifest): Promise<{ wasm: Uint8Array; files: Uint8Array[] }> {
  const part = async ({ file, sha256 }: { file: string; sha256: string }) => {
    const bytes = unpacked(await readFile(join(imageFolder(name), file)), MAX_PART);
    const actual = sha256Of(bytes);
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
  return { memory, state, sha256: baseDigest(memory, state) };
}

function baseDigest(memory: Uint8Array, state: MachineState): string {
  return sha256Of(memory, encodeValue(stateToValue(state)));
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
  const { wasm, files } = await unpack(name, manifest);
  const { memory: base, state } = bootBase(manifest, await WebAssembly.compile(wasm), files);
  return check(name, manifest, { wasm, base, state, files });
}

/** Compares every digest of the image in the cache with the manifest; undefined where it is not there, or not readable. */
export async function verifyCached(name: ImageName, cacheDir = defaultCacheDir()): Promise<ImageCheck | undefined> {
  const manifest = await readManifest(name);
  const parts = await readEntry(entryFolder(manifest, cacheDir), ['base.state']);
  return parts && check(name, manifest, partsOf(manifest, parts));
}

function check(name: ImageName, manifest: ImageManifest, { wasm, base, state, files }: ReturnType<typeof partsOf>): ImageCheck {
  const parts: ImageCheck['parts'] = [
    { part: 'wasm', sha256: sha256Of(wasm), pinned: manifest.wasm.sha256 },
    ...manifest.files.map(({ path, sha256 }, i) => ({ part: path, sha256: sha256Of(files[i] as Uint8Array), pinned: sha256 })),
    { part: `base (${base.length} bytes)`, sha256: baseDigest(base, state), pinned: manifest.base.sha256 },
  ];
  return { name, version: manifest.version, ok: parts.every((part) => part.sha256 === part.pinned), parts };
}
