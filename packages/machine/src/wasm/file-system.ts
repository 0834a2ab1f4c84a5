/**
 * The file system of a machine, wholly in memory.
 *
 * The image's files and the folders that lead to them are read-only and never part of a snapshot; what a program makes
 * in `/work` and `/tmp` is limited in bytes and is. Node numbers are given in order of making, so that two runs of one
 * program agree on them. No links, no devices but `/dev/null`, `/dev/zero` and `/dev/urandom`.
 */
import { ERRNO, Errno } from './errno.ts';

/** What a file or folder takes of the disk limit besides its bytes. */
export const NODE_BYTES = 256;
const MAX_NAME_BYTES = 255;
/** Folders within folders; deeper ones would make paths that are costly to list. */
const MAX_DEPTH = 64;
/** Room that a file may keep when it shrinks. */
const SPARE_BYTES = 64 * 1024;
export const WRITABLE = ['work', 'tmp'];
const DEVICES = ['null', 'zero', 'urandom'] as const;

export type Device = (typeof DEVICES)[number];
export interface FileNode {
  kind: 'file';
  id: number;
  /** At least `size` bytes; what lies beyond is room to grow. */
  data: Uint8Array;
  size: number;
  readOnly: boolean;
  mtimeMs: number;
  /** Whether a folder names it, and how many descriptors hold it; its bytes are given back when neither is left. */
  named: boolean;
  opens: number;
}
export interface DirNode {
  kind: 'dir';
  id: number;
  entries: Map<string, FsNode>;
  /** Null for the root, and for a folder that was removed while a descriptor holds it. */
  parent: DirNode | null;
  readOnly: boolean;
  mtimeMs: number;
}
export interface DeviceNode {
  kind: 'device';
  id: number;
  device: Device;
  mtimeMs: number;
}
export type FsNode = FileNode | DirNode | DeviceNode;

/** A place in a folder, where something is or could be. */
export interface Place {
  dir: DirNode;
  name: string;
  node: FsNode | undefined;
  /** The path ends with a slash, and so can only be a folder's. */
  folder?: boolean;
}

export function newFile(id: number, data: Uint8Array, readOnly: boolean, mtimeMs = 0): FileNode {
  return { kind: 'file', id, data, size: data.length, readOnly, mtimeMs, named: true, opens: 0 };
}

/** What a file or folder may be called. */
export function validName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name) && Buffer.byteLength(name) <= MAX_NAME_BYTES;
}

/** Throws where a folder would lie too deep, with `below` levels of folders in it. */
export function checkDepth(dir: DirNode, below = 0): void {
  let depth = below;
  for (let at: DirNode | null = dir; at; at = at.parent) if (++depth > MAX_DEPTH) throw new Errno(ERRNO.nametoolong);
}

function height(dir: DirNode): number {
  let highest = 0;
  for (const node of dir.entries.values()) if (node.kind === 'dir') highest = Math.max(highest, height(node));
  return highest + 1;
}

export class FileSystem {
  readonly root: DirNode;
  maxBytes: number;
  #nextId = 1;
  #usedBytes = 0;
  /** How often a write was refused for want of room. */
  refused = 0;

  constructor(imageFiles: readonly { path: string; data: Uint8Array }[], maxBytes: number) {
    this.maxBytes = maxBytes;
    this.root = this.#dir(null, true);
    const dev = this.#child(this.root, 'dev', true);
    for (const device of DEVICES) dev.entries.set(device, { kind: 'device', id: this.#nextId++, device, mtimeMs: 0 });
    for (const name of WRITABLE) this.#child(this.root, name, false);
    for (const { path, data } of imageFiles) {
      const names = path.split('/').filter(Boolean);
      const last = names.pop() as string;
      let dir = this.root;
      for (const name of names) dir = this.#child(dir, name, true);
      dir.entries.set(last, newFile(this.#nextId++, data, true));
    }
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }
  get nextId(): number {
    return this.#nextId;
  }

  #dir(parent: DirNode | null, readOnly: boolean): DirNode {
    return { kind: 'dir', id: this.#nextId++, entries: new Map(), parent, readOnly, mtimeMs: 0 };
  }
  #child(dir: DirNode, name: string, readOnly: boolean): DirNode {
    const there = dir.entries.get(name);
    if (there?.kind === 'dir') return there;
    const made = this.#dir(dir, readOnly);
    dir.entries.set(name, made);
    return made;
  }

  /** The node at `path`, relative to `from`; throws {@link Errno}. */
  lookup(path: string, from: DirNode = this.root): FsNode {
    const node = this.place(path, from).node;
    if (!node) throw new Errno(ERRNO.noent);
    return node;
  }

  /** Where `path` leads; everything but its last part must exist. */
  place(path: string, from: DirNode = this.root): Place {
    let dir = path.startsWith('/') ? this.root : from;
    const parts = path.split('/').filter((part) => part !== '' && part !== '.');
    let place: Place = { dir: dir.parent ?? dir, name: '.', node: dir };
    for (const [i, part] of parts.entries()) {
      if (part === '..') {
        dir = dir.parent ?? dir;
        place = { dir: dir.parent ?? dir, name: '.', node: dir };
        continue;
      }
      if (!validName(part)) throw new Errno(ERRNO.nametoolong);
      const node = dir.entries.get(part);
      place = { dir, name: part, node };
      if (i === parts.length - 1) break;
      if (!node) throw new Errno(ERRNO.noent);
      if (node.kind !== 'dir') throw new Errno(ERRNO.notdir);
      dir = node;
    }
    if (place.node && place.node.kind !== 'dir' && path.endsWith('/')) throw new Errno(ERRNO.notdir);
    return path.endsWith('/') ? { ...place, folder: true } : place;
  }

  createFile({ dir, name, folder }: Place, nowMs: number): FileNode {
    if (folder) throw new Errno(ERRNO.isdir);
    this.#writable(dir);
    this.#charge(NODE_BYTES);
    const file = newFile(this.#nextId++, new Uint8Array(), false, nowMs);
    dir.entries.set(name, file);
    dir.mtimeMs = nowMs;
    return file;
  }

  createDir({ dir, name, node }: Place, nowMs: number): DirNode {
    if (node) throw new Errno(ERRNO.exist);
    this.#writable(dir);
    checkDepth(dir, 1);
    this.#charge(NODE_BYTES);
    const made = this.#child(dir, name, false);
    made.mtimeMs = dir.mtimeMs = nowMs;
    return made;
  }

  /** Takes a name away; a file that is still open lives on until it is closed. */
  remove({ dir, name, node }: Place, kind: 'file' | 'dir', nowMs: number): void {
    if (!node) throw new Errno(ERRNO.noent);
    if (kind === 'file' && node.kind === 'dir') throw new Errno(ERRNO.isdir);
    if (kind === 'dir' && node.kind !== 'dir') throw new Errno(ERRNO.notdir);
    if (node.kind === 'dir' && node.entries.size > 0) throw new Errno(ERRNO.notempty);
    this.#writable(dir);
    if (name === '.' || node.kind === 'device' || (node.kind === 'dir' && node.readOnly)) throw new Errno(ERRNO.rofs);
    dir.entries.delete(name);
    dir.mtimeMs = nowMs;
    if (node.kind === 'dir') {
      node.parent = null;
      this.#usedBytes -= NODE_BYTES;
    } else {
      node.named = false;
      this.#discharge(node);
    }
  }

  opened(file: FileNode): void {
    file.opens++;
  }
  closed(file: FileNode): void {
    file.opens--;
    this.#discharge(file);
  }
  #discharge(file: FileNode): void {
    if (!file.named && file.opens === 0 && !file.readOnly) this.#usedBytes -= NODE_BYTES + file.size;
  }

  rename(from: Place, to: Place, nowMs: number): void {
    const { node } = from;
    if (!node) throw new Errno(ERRNO.noent);
    if (to.node === node) return;
    this.#writable(from.dir);
    this.#writable(to.dir);
    if (from.name === '.' || to.name === '.') throw new Errno(ERRNO.inval);
    for (let dir: DirNode | null = to.dir; dir; dir = dir.parent) if (dir === node) throw new Errno(ERRNO.inval);
    if (node.kind === 'dir') checkDepth(to.dir, height(node));
    if (to.node) {
      if (node.kind === 'dir' && to.node.kind !== 'dir') throw new Errno(ERRNO.notdir);
      this.remove(to, node.kind === 'dir' ? 'dir' : 'file', nowMs);
    }
    from.dir.entries.delete(from.name);
    to.dir.entries.set(to.name, node);
    if (node.kind === 'dir') node.parent = to.dir;
    from.dir.mtimeMs = to.dir.mtimeMs = nowMs;
  }

  write(file: FileNode, at: number, bytes: Uint8Array, nowMs: number): void {
    if (file.readOnly) throw new Errno(ERRNO.rofs);
    if (bytes.length === 0) return;
    if (at + bytes.length > file.size) this.resize(file, at + bytes.length, nowMs);
    file.data.set(bytes, at);
    file.mtimeMs = nowMs;
  }

  resize(file: FileNode, size: number, nowMs: number): void {
    if (file.readOnly) throw new Errno(ERRNO.rofs);
    if (!Number.isSafeInteger(size) || size < 0) throw new Errno(ERRNO.fbig);
    this.#charge(size - file.size);
    if (size > file.data.length) {
      const grown = new Uint8Array(Math.max(size, Math.min(file.data.length * 2, size + (1 << 20)), 64));
      grown.set(file.data.subarray(0, file.size));
      file.data = grown;
    } else if (size < file.size) {
      // What is not counted any more must not be held either.
      if (file.data.length > 2 * size + SPARE_BYTES) file.data = file.data.slice(0, size);
      else file.data.fill(0, size, file.size);
    }
    file.size = size;
    file.mtimeMs = nowMs;
  }

  /** Puts a file at an absolute path inside a writable folder, making the folders on the way. */
  put(path: string, data: Uint8Array, nowMs: number): void {
    const names = path.split('/').filter(Boolean);
    const last = names.pop();
    if (!path.startsWith('/') || last === undefined) throw new Errno(ERRNO.inval);
    let dir = this.root;
    for (const name of names) {
      const place = this.place(name, dir);
      const node = place.node ?? this.createDir(place, nowMs);
      if (node.kind !== 'dir') throw new Errno(ERRNO.notdir);
      dir = node;
    }
    const place = this.place(last, dir);
    const file = place.node ?? this.createFile(place, nowMs);
    if (file.kind !== 'file') throw new Errno(ERRNO.isdir);
    this.resize(file, 0, nowMs);
    this.write(file, 0, data, nowMs);
  }

  /** Files that the program made or was given, by path. */
  *files(): Generator<{ path: string; file: FileNode }> {
    const pending: { path: string; dir: DirNode }[] = [];
    for (const name of WRITABLE) pending.push({ path: `/${name}`, dir: this.root.entries.get(name) as DirNode });
    for (let next = pending.shift(); next; next = pending.shift()) {
      for (const [name, node] of next.dir.entries) {
        const path = `${next.path}/${name}`;
        if (node.kind === 'dir') pending.push({ path, dir: node });
        else if (node.kind === 'file') yield { path, file: node };
      }
    }
  }

  /** Takes over what a snapshot says; the caller has checked it. */
  adopt(nextId: number, usedBytes: number, refused: number): void {
    this.#nextId = nextId;
    this.#usedBytes = usedBytes;
    this.refused = refused;
  }

  #writable(dir: DirNode): void {
    if (dir.readOnly) throw new Errno(ERRNO.rofs);
    if (!dir.parent) throw new Errno(ERRNO.noent);
  }
  #charge(bytes: number): void {
    if (bytes > 0 && this.#usedBytes + bytes > this.maxBytes) {
      this.refused++;
      throw new Errno(ERRNO.nospc);
    }
    this.#usedBytes += bytes;
  }
}
