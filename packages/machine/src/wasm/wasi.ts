/**
 * The WASI preview 1 imports of a guest, over the in-memory file system, the virtual clock and the seeded random source.
 *
 * Nothing here reaches the host: no path leads out, no call blocks, and every answer is a function of the machine's own
 * state. Waiting is not done here (a guest waits by `exchange`), so `poll_oneoff` completes at once.
 */
import { ERRNO, Errno } from './errno.ts';
import { type DirNode, type FileNode, type FileSystem, type FsNode, newFile } from './file-system.ts';
import type { RandomSource } from './random.ts';
import type { VirtualClock } from './virtual-clock.ts';
import type { WasmImports } from './wasm-types.ts';
import { decodeString, encodeString } from './wtf8.ts';

const MAX_DESCRIPTORS = 512;
const APPEND = 1;
const FILETYPE = { unknown: 0, device: 2, dir: 3, file: 4 } as const;
const OPEN = { create: 1, directory: 2, exclusive: 4, truncate: 8 } as const;
const RIGHT_WRITE = 64n;
const ALL_RIGHTS = 0x1fff_ffffn;
/** Without seek and tell: how wasi-libc recognises a terminal or pipe. */
const STREAM_RIGHTS = ALL_RIGHTS & ~0x24n;

export type Stream = 'stdout' | 'stderr';
export interface Descriptor {
  node: FsNode | Stream;
  position: number;
  flags: number;
}

export interface WasiOptions {
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  fs: FileSystem;
  clock: () => VirtualClock;
  random: () => RandomSource;
  fuel: () => number;
  memory: () => Uint8Array;
  write: (stream: Stream, bytes: Uint8Array) => void;
  exit: (code: number) => never;
}

export class Wasi {
  readonly #o: WasiOptions;
  stdin: FileNode = newFile(0, new Uint8Array(), true);
  descriptors = new Map<number, Descriptor>();

  constructor(options: WasiOptions) {
    this.#o = options;
    this.descriptors.set(0, { node: this.stdin, position: 0, flags: 0 });
    this.descriptors.set(1, { node: 'stdout', position: 0, flags: 0 });
    this.descriptors.set(2, { node: 'stderr', position: 0, flags: 0 });
    this.descriptors.set(3, { node: options.fs.root, position: 0, flags: 0 });
  }

  get nowMs(): number {
    return Number(this.#o.clock().realtimeNs(this.#o.fuel()) / 1_000_000n);
  }

  #view(): DataView {
    return new DataView(this.#o.memory().buffer);
  }
  #descriptor(fd: number): Descriptor {
    const descriptor = this.descriptors.get(fd);
    if (!descriptor) throw new Errno(ERRNO.badf);
    return descriptor;
  }
  #file(fd: number): FileNode {
    const { node } = this.#descriptor(fd);
    if (typeof node === 'string' || node.kind === 'device') throw new Errno(ERRNO.spipe);
    if (node.kind === 'dir') throw new Errno(ERRNO.isdir);
    return node;
  }
  #dir(fd: number): DirNode {
    const { node } = this.#descriptor(fd);
    if (typeof node === 'string' || node.kind !== 'dir') throw new Errno(ERRNO.notdir);
    return node;
  }
  #place(fd: number, pointer: number, length: number) {
    return this.#o.fs.place(decodeString(this.#o.memory().subarray(pointer, pointer + length)), this.#dir(fd));
  }
  #node(fd: number, pointer: number, length: number): FsNode {
    const { node } = this.#place(fd, pointer, length);
    if (!node) throw new Errno(ERRNO.noent);
    return node;
  }
  /** The guest's buffers of a scatter read or gather write. */
  *#vectors(pointer: number, count: number): Generator<Uint8Array> {
    for (let i = 0; i < count; i++) {
      const view = this.#view();
      const start = view.getUint32(pointer + 8 * i, true);
      yield this.#o.memory().subarray(start, start + view.getUint32(pointer + 8 * i + 4, true));
    }
  }
  #strings(strings: readonly string[], pointers: number, buffer: number): void {
    let at = buffer;
    for (const [i, text] of strings.entries()) {
      this.#view().setUint32(pointers + 4 * i, at, true);
      const bytes = encodeString(`${text}\0`);
      this.#o.memory().set(bytes, at);
      at += bytes.length;
    }
  }
  #stringSizes(strings: readonly string[], count: number, size: number): void {
    this.#view().setUint32(count, strings.length, true);
    this.#view().setUint32(
      size,
      strings.reduce((sum, text) => sum + encodeString(text).length + 1, 0),
      true,
    );
  }
  #filestat(pointer: number, node: FsNode | Stream): void {
    const view = this.#view();
    const at = typeof node === 'string' ? undefined : node;
    const time = BigInt(Math.floor(at?.mtimeMs ?? 0)) * 1_000_000n;
    view.setBigUint64(pointer, 1n, true);
    view.setBigUint64(pointer + 8, BigInt(at?.id ?? 0), true);
    view.setBigUint64(pointer + 16, BigInt(at ? FILETYPE[at.kind] : FILETYPE.device), true);
    view.setBigUint64(pointer + 24, 1n, true);
    view.setBigUint64(pointer + 32, BigInt(at?.kind === 'file' ? at.size : 0), true);
    for (const offset of [40, 48, 56]) view.setBigUint64(pointer + offset, time, true);
  }
  #setMtime(node: FsNode | Stream, mtimeNs: bigint, flags: number): void {
    if (typeof node === 'string') return;
    if (node.kind !== 'device' && node.readOnly) throw new Errno(ERRNO.rofs);
    if (flags & 4) node.mtimeMs = Number(mtimeNs / 1_000_000n);
    else if (flags & 8) node.mtimeMs = this.nowMs;
  }

  #read(node: FsNode | Stream, position: number, pointer: number, count: number): number {
    if (typeof node === 'string') throw new Errno(ERRNO.badf);
    if (node.kind === 'dir') throw new Errno(ERRNO.isdir);
    let total = 0;
    for (const target of this.#vectors(pointer, count)) {
      if (node.kind === 'device') {
        if (node.device === 'null') break;
        if (node.device === 'zero') target.fill(0);
        else this.#o.random().fill(target);
        total += target.length;
        continue;
      }
      const from = position + total;
      const part = node.data.subarray(from, Math.min(from + target.length, node.size));
      target.set(part);
      total += part.length;
      if (part.length < target.length) break;
    }
    return total;
  }
  #write(descriptor: Descriptor, position: number, pointer: number, count: number): number {
    const { node } = descriptor;
    let total = 0;
    for (const source of this.#vectors(pointer, count)) {
      if (typeof node === 'string') this.#o.write(node, source);
      else if (node.kind === 'dir') throw new Errno(ERRNO.isdir);
      else if (node.kind === 'file') this.#o.fs.write(node, position + total, source, this.nowMs);
      total += source.length;
    }
    return total;
  }

  #open(dirFd: number, pointer: number, length: number, how: number, rights: bigint, flags: number): number {
    let fd = 4;
    while (this.descriptors.has(fd)) fd++;
    if (fd >= MAX_DESCRIPTORS) throw new Errno(ERRNO.mfile);
    const place = this.#place(dirFd, pointer, length);
    let { node } = place;
    if (node && how & OPEN.create && how & OPEN.exclusive) throw new Errno(ERRNO.exist);
    if (!node) {
      if (!(how & OPEN.create)) throw new Errno(ERRNO.noent);
      node = this.#o.fs.createFile(place, this.nowMs);
    }
    if (how & OPEN.directory && node.kind !== 'dir') throw new Errno(ERRNO.notdir);
    if (node.kind === 'dir' && rights & RIGHT_WRITE) throw new Errno(ERRNO.isdir);
    if (node.kind === 'file') {
      if (node.readOnly && rights & RIGHT_WRITE) throw new Errno(ERRNO.rofs);
      if (how & OPEN.truncate) this.#o.fs.resize(node, 0, this.nowMs);
    }
    if (node.kind === 'file') this.#o.fs.opened(node);
    this.descriptors.set(fd, { node, position: 0, flags });
    return fd;
  }
  #close(fd: number): void {
    const { node } = this.#descriptor(fd);
    this.descriptors.delete(fd);
    if (typeof node !== 'string' && node.kind === 'file' && node.id !== 0) this.#o.fs.closed(node);
  }
  #seek(fd: number, offset: bigint, whence: number): number {
    const descriptor = this.#descriptor(fd);
    const file = this.#file(fd);
    const target = [0, descriptor.position, file.size][whence];
    if (target === undefined) throw new Errno(ERRNO.inval);
    const position = target + Number(offset);
    if (position < 0 || !Number.isSafeInteger(position)) throw new Errno(ERRNO.inval);
    descriptor.position = position;
    return position;
  }
  #readdir(fd: number, buffer: number, length: number, cookie: bigint): number {
    const dir = this.#dir(fd);
    const entries: [string, FsNode][] = [['.', dir], ['..', dir.parent ?? dir], ...dir.entries];
    const memory = this.#o.memory();
    let used = 0;
    for (let i = Number(cookie); i < entries.length && used < length; i++) {
      const [name, node] = entries[i] as [string, FsNode];
      const bytes = encodeString(name);
      const entry = Buffer.alloc(24 + bytes.length);
      entry.writeBigUInt64LE(BigInt(i + 1), 0);
      entry.writeBigUInt64LE(BigInt(node.id), 8);
      entry.writeUInt32LE(bytes.length, 16);
      entry[20] = FILETYPE[node.kind];
      entry.set(bytes, 24);
      const part = entry.subarray(0, length - used);
      memory.set(part, buffer + used);
      used += part.length;
    }
    return used;
  }
  #clock(id: number): bigint {
    const fuel = this.#o.fuel();
    if (id === 0) return this.#o.clock().realtimeNs(fuel);
    if (id === 1) return this.#o.clock().monotonicNs(fuel);
    if (id === 2 || id === 3) return this.#o.clock().cpuNs(fuel);
    throw new Errno(ERRNO.inval);
  }
  #poll(subscriptions: number, events: number, count: number): number {
    const view = this.#view();
    for (let i = 0; i < count; i++) {
      const [from, to] = [subscriptions + 48 * i, events + 32 * i];
      view.setBigUint64(to, view.getBigUint64(from, true), true);
      view.setUint32(to + 8, view.getUint8(from + 8) << 16, true);
      view.setBigUint64(to + 16, 0n, true);
      view.setUint32(to + 24, 0, true);
    }
    return count;
  }

  imports(): WasmImports {
    const { fs } = this.#o;
    const env = Object.entries(this.#o.env).map(([name, value]) => `${name}=${value}`);
    const u32 = (pointer: number, value: number) => this.#view().setUint32(pointer, value, true);
    const u64 = (pointer: number, value: bigint) => this.#view().setBigUint64(pointer, value, true);
    const calls: Record<string, (...args: never[]) => void | number> = {
      args_sizes_get: (count: number, size: number) => this.#stringSizes(this.#o.args, count, size),
      args_get: (pointers: number, buffer: number) => this.#strings(this.#o.args, pointers, buffer),
      environ_sizes_get: (count: number, size: number) => this.#stringSizes(env, count, size),
      environ_get: (pointers: number, buffer: number) => this.#strings(env, pointers, buffer),
      clock_res_get: (_id: number, out: number) => u64(out, 1000n),
      clock_time_get: (id: number, _precision: bigint, out: number) => u64(out, this.#clock(id)),
      random_get: (pointer: number, length: number) => this.#o.random().fill(this.#o.memory().subarray(pointer, pointer + length)),
      proc_exit: (code: number) => this.#o.exit(code),
      proc_raise: () => ERRNO.nosys,
      sched_yield: () => ERRNO.success,
      poll_oneoff: (from: number, to: number, count: number, out: number) => u32(out, this.#poll(from, to, count)),

      fd_prestat_get: (fd: number, out: number) => {
        if (fd !== 3) return ERRNO.badf;
        u32(out, 0);
        u32(out + 4, 1);
      },
      fd_prestat_dir_name: (fd: number, pointer: number) => {
        if (fd !== 3) return ERRNO.badf;
        this.#o.memory()[pointer] = 0x2f;
      },
      fd_fdstat_get: (fd: number, out: number) => {
        const { node, flags } = this.#descriptor(fd);
        const stream = typeof node === 'string' || node.id === 0;
        u32(out, (stream ? FILETYPE.device : FILETYPE[node.kind]) | (flags << 16));
        u32(out + 4, 0);
        u64(out + 8, stream ? STREAM_RIGHTS : ALL_RIGHTS);
        u64(out + 16, ALL_RIGHTS);
      },
      fd_fdstat_set_flags: (fd: number, flags: number) => {
        this.#descriptor(fd).flags = flags;
      },
      fd_fdstat_set_rights: (fd: number) => void this.#descriptor(fd),
      fd_filestat_get: (fd: number, out: number) => this.#filestat(out, this.#descriptor(fd).node),
      fd_filestat_set_size: (fd: number, size: bigint) => fs.resize(this.#file(fd), Number(size), this.nowMs),
      fd_filestat_set_times: (fd: number, _atime: bigint, mtime: bigint, flags: number) => this.#setMtime(this.#descriptor(fd).node, mtime, flags),
      fd_advise: (fd: number) => void this.#descriptor(fd),
      fd_allocate: (fd: number, offset: bigint, length: bigint) => {
        const file = this.#file(fd);
        if (Number(offset + length) > file.size) fs.resize(file, Number(offset + length), this.nowMs);
      },
      fd_datasync: (fd: number) => void this.#descriptor(fd),
      fd_sync: (fd: number) => void this.#descriptor(fd),
      fd_renumber: (from: number, to: number) => {
        const descriptor = this.#descriptor(from);
        if (from === to) return;
        if (this.descriptors.has(to)) this.#close(to);
        this.descriptors.set(to, descriptor);
        this.descriptors.delete(from);
      },
      fd_close: (fd: number) => this.#close(fd),
      fd_seek: (fd: number, offset: bigint, whence: number, out: number) => u64(out, BigInt(this.#seek(fd, offset, whence))),
      fd_tell: (fd: number, out: number) => {
        this.#file(fd);
        u64(out, BigInt(this.#descriptor(fd).position));
      },
      fd_read: (fd: number, pointer: number, count: number, out: number) => {
        const descriptor = this.#descriptor(fd);
        const read = this.#read(descriptor.node, descriptor.position, pointer, count);
        descriptor.position += read;
        u32(out, read);
      },
      fd_pread: (fd: number, pointer: number, count: number, offset: bigint, out: number) => u32(out, this.#read(this.#file(fd), Number(offset), pointer, count)),
      fd_write: (fd: number, pointer: number, count: number, out: number) => {
        const descriptor = this.#descriptor(fd);
        const { node } = descriptor;
        if (typeof node !== 'string' && node.kind === 'file' && descriptor.flags & APPEND) descriptor.position = node.size;
        const written = this.#write(descriptor, descriptor.position, pointer, count);
        descriptor.position += written;
        u32(out, written);
      },
      fd_pwrite: (fd: number, pointer: number, count: number, offset: bigint, out: number) => {
        this.#file(fd);
        u32(out, this.#write(this.#descriptor(fd), Number(offset), pointer, count));
      },
      fd_readdir: (fd: number, buffer: number, length: number, cookie: bigint, out: number) => u32(out, this.#readdir(fd, buffer, length, cookie)),

      path_open: (dir: number, _follow: number, path: number, length: number, how: number, rights: bigint, _inherit: bigint, flags: number, out: number) =>
        u32(out, this.#open(dir, path, length, how, rights, flags)),
      path_filestat_get: (dir: number, _follow: number, path: number, length: number, out: number) => this.#filestat(out, this.#node(dir, path, length)),
      path_filestat_set_times: (dir: number, _follow: number, path: number, length: number, _atime: bigint, mtime: bigint, flags: number) =>
        this.#setMtime(this.#node(dir, path, length), mtime, flags),
      path_create_directory: (dir: number, path: number, length: number) => void fs.createDir(this.#place(dir, path, length), this.nowMs),
      path_unlink_file: (dir: number, path: number, length: number) => fs.remove(this.#place(dir, path, length), 'file', this.nowMs),
      path_remove_directory: (dir: number, path: number, length: number) => fs.remove(this.#place(dir, path, length), 'dir', this.nowMs),
      path_rename: (fromDir: number, from: number, fromLength: number, toDir: number, to: number, toLength: number) =>
        fs.rename(this.#place(fromDir, from, fromLength), this.#place(toDir, to, toLength), this.nowMs),
      // There are no links: what is there is none.
      path_readlink: (dir: number, path: number, length: number) => {
        this.#node(dir, path, length);
        return ERRNO.inval;
      },
      path_link: () => ERRNO.notsup,
      path_symlink: () => ERRNO.notsup,
      sock_accept: () => ERRNO.notsup,
      sock_recv: () => ERRNO.notsup,
      sock_send: () => ERRNO.notsup,
      sock_shutdown: () => ERRNO.notsup,
    };
    return Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, answering(call)]));
  }
}

/** A WASI function returns an error number; pointers outside the memory are the guest's fault. */
function answering(call: (...args: never[]) => void | number): (...args: never[]) => number {
  return (...args) => {
    try {
      return call(...args) ?? ERRNO.success;
    } catch (error) {
      if (error instanceof Errno) return error.errno;
      if (error instanceof RangeError && !/call stack/.test(error.message)) return ERRNO.inval;
      throw error;
    }
  };
}
