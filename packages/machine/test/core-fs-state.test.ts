/** Files and descriptors of a machine come back from a saved state as they were, and a state that lies is refused. */
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { type DirNode, type FileNode, FileSystem, type FsNode } from '../src/wasm/file-system.ts';
import { loadFiles, saveFiles } from '../src/wasm/fs-state.ts';
import type { FsState } from '../src/wasm/machine-state.ts';
import { RandomSource } from '../src/wasm/random.ts';
import { decodeValue, encodeValue } from '../src/wasm/value-codec.ts';
import { VirtualClock } from '../src/wasm/virtual-clock.ts';
import { Wasi } from '../src/wasm/wasi.ts';

const image = [{ path: '/usr/lib/a.txt', data: new Uint8Array([1, 2, 3]) }];

interface Disk {
  fs: FileSystem;
  wasi: Wasi;
}
function emptyDisk(): Disk {
  const fs = new FileSystem(image, 1 << 20);
  const random = new RandomSource(new Uint8Array(32));
  const clock = new VirtualClock(1);
  const unused = () => {
    throw new Error('not called here');
  };
  return {
    fs,
    wasi: new Wasi({ args: [], env: {}, fs, clock: () => clock, random: () => random, fuel: () => 0, memory: () => new Uint8Array(), write: unused, exit: unused }),
  };
}
/** As a snapshot does it: through bytes. */
function reloaded({ fs, wasi }: Disk): Disk {
  const state = decodeValue(encodeValue(saveFiles(fs, wasi))) as unknown as FsState;
  const copy = emptyDisk();
  loadFiles(state, copy.fs, copy.wasi);
  return copy;
}
function open({ fs, wasi }: Disk, fd: number, node: FsNode, position = 0): void {
  if (node.kind === 'file') fs.opened(node);
  wasi.descriptors.set(fd, { node, position, flags: 0 });
}
/** All that a program could see, as plain values. */
function seen({ fs, wasi }: Disk) {
  const look = (node: FsNode | string): unknown => {
    if (typeof node === 'string' || node.kind === 'device') return node;
    if (node.kind === 'dir') return { id: node.id, mtimeMs: node.mtimeMs, parent: node.parent?.id, entries: [...node.entries].map(([name, inner]) => [name, look(inner)]) };
    const { id, mtimeMs, named, opens, readOnly } = node;
    return { id, mtimeMs, named, opens, readOnly, data: [...node.data.subarray(0, node.size)] };
  };
  const descriptors = [...wasi.descriptors].map(([fd, { node, position, flags }]) => [fd, position, flags, look(node)]);
  return { root: look(fs.root), descriptors, usedBytes: fs.usedBytes, nextId: fs.nextId, refused: fs.refused };
}

let disk: Disk;
beforeEach(() => {
  disk = emptyDisk();
});
const dir = (path: string) => disk.fs.lookup(path) as DirNode;
const file = (path: string) => disk.fs.lookup(path) as FileNode;

test('any tree of files and folders comes back: names, order, contents, times, numbers', () => {
  const part = fc.constantFrom('a', 'b', 'c', '__proto__', '\ud800');
  const entry = fc.record({
    names: fc.array(part, { minLength: 1, maxLength: 4 }),
    data: fc.uint8Array({ maxLength: 30 }),
    top: fc.constantFrom('/work', '/tmp'),
    gone: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 15 }), (entries) => {
      const disk = emptyDisk();
      for (const [i, { names, data, top, gone }] of entries.entries()) {
        const path = [top, ...names].join('/');
        try {
          disk.fs.put(path, data, 1000 + i);
        } catch {
          continue;
        }
        open(disk, 10 + i, disk.fs.lookup(path), i);
        if (gone) disk.fs.remove(disk.fs.place(path), 'file', 2000 + i);
      }
      expect(seen(reloaded(disk))).toEqual(seen(disk));
      expect(seen(reloaded(reloaded(disk)))).toEqual(seen(disk));
    }),
  );
});

describe('what comes back', () => {
  test('is the time of the last change of /work and /tmp', () => {
    disk.fs.put('/work/a', new Uint8Array(1), 1234);
    disk.fs.remove(disk.fs.place('/work/a'), 'file', 5678);
    expect((reloaded(disk).fs.lookup('/work') as DirNode).mtimeMs).toBe(5678);
    expect((reloaded(disk).fs.lookup('/tmp') as DirNode).mtimeMs).toBe(0);
  });

  test('is one file where two descriptors share it, named or not', () => {
    disk.fs.put('/tmp/a', new Uint8Array([1, 2]), 0);
    open(disk, 4, file('/tmp/a'), 1);
    open(disk, 5, file('/tmp/a'), 2);
    disk.fs.remove(disk.fs.place('/tmp/a'), 'file', 0);
    const { wasi, fs } = reloaded(disk);
    const [first, second] = [wasi.descriptors.get(4), wasi.descriptors.get(5)];
    expect(first?.node).toBe(second?.node);
    fs.closed(first?.node as FileNode);
    expect(fs.usedBytes).toBeGreaterThan(0);
    fs.closed(first?.node as FileNode);
    expect(fs.usedBytes).toBe(0);
  });

  test('is a folder that was removed while it is open, in which nothing can be made', () => {
    disk.fs.put('/work/d/a', new Uint8Array(1), 0);
    open(disk, 4, dir('/work/d'));
    disk.fs.remove(disk.fs.place('/work/d/a'), 'file', 0);
    disk.fs.remove(disk.fs.place('/work/d'), 'dir', 0);
    const copy = reloaded(disk);
    expect(seen(copy)).toEqual(seen(disk));
    for (const { fs, wasi } of [disk, copy]) {
      const gone = wasi.descriptors.get(4)?.node as DirNode;
      expect(() => fs.createFile(fs.place('a', gone), 0)).toThrow('errno 44');
      expect(fs.usedBytes).toBe(0);
    }
  });

  test('is standard input with what was not yet read of it', () => {
    disk.wasi.stdin.data = new TextEncoder().encode('unread');
    disk.wasi.stdin.size = 6;
    (disk.wasi.descriptors.get(0) as { position: number }).position = 2;
    const { wasi } = reloaded(disk);
    expect(Buffer.from(wasi.stdin.data).toString()).toBe('unread');
    expect(wasi.descriptors.get(0)).toMatchObject({ node: wasi.stdin, position: 2 });
  });

  test('is a copy: neither side sees what the other writes', () => {
    disk.fs.put('/work/a', new Uint8Array([1, 2]), 0);
    const state = saveFiles(disk.fs, disk.wasi);
    const copy = emptyDisk();
    loadFiles(state, copy.fs, copy.wasi);
    copy.fs.write(copy.fs.lookup('/work/a') as FileNode, 0, new Uint8Array([9]), 0);
    expect([...file('/work/a').data.subarray(0, 2)]).toEqual([1, 2]);
    const again = emptyDisk();
    loadFiles(state, again.fs, again.wasi);
    expect((again.fs.lookup('/work/a') as FileNode).data[0]).toBe(1);
  });
});

describe('a state is refused that', () => {
  const data = new Uint8Array(1);
  const change = (edit: (state: FsState, work: number) => void) => () => {
    disk.fs.put('/work/a', data, 0);
    const state = structuredClone(saveFiles(disk.fs, disk.wasi));
    edit(state, dir('/work').id);
    const copy = emptyDisk();
    loadFiles(state, copy.fs, copy.wasi);
  };
  test.each<[string, (state: FsState, work: number) => void]>([
    ['has a node twice', (state) => state.nodes.push(state.nodes[0] as FsState['nodes'][number])],
    ['has two nodes of one number', (state, work) => state.nodes.push([work, state.nodes[0]?.[1] as number, 'b', 0, data])],
    ['uses a number of the image', (state, work) => state.nodes.push([work, 1, 'b', 0, data])],
    ['uses a number that was not given yet', (state, work) => state.nodes.push([work, state.nextId, 'b', 0, data])],
    ['puts a file into the image', (state) => state.nodes.push([1, state.nextId++, 'b', 0, data])],
    ['puts a file into a file', (state) => state.nodes.push([state.nodes[0]?.[1] as number, state.nextId++, 'b', 0, data])],
    ['names a parent that is not there', (state) => state.nodes.push([999, state.nextId++, 'b', 0, data])],
    ['has a name with a slash', (state, work) => state.nodes.push([work, state.nextId++, 'b/c', 0, data])],
    ['has an empty name', (state, work) => state.nodes.push([work, state.nextId++, '', 0, data])],
    ['has a descriptor of nothing', (state) => state.descriptors.push([9, 999, 0, 0])],
    ['counts fewer bytes than there are', (state) => Object.assign(state, { usedBytes: 0 })],
  ])('%s', (_what, edit) => {
    expect(change(edit)).toThrow(expect.objectContaining({ code: 'checkpoint_invalid' }));
  });
});
