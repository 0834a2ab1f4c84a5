/** The file system against a simple model: same answers, same contents, and every byte that was charged is given back. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ERRNO, Errno } from '../src/wasm/errno.ts';
import { type DirNode, type FileNode, FileSystem } from '../src/wasm/file-system.ts';

const NODE_BYTES = 256;
const LIMIT = 4000;
const image = [{ path: '/usr/lib/a.txt', data: new Uint8Array([1, 2, 3]) }];
const codeOf = (act: () => unknown): number => {
  try {
    act();
    return ERRNO.success;
  } catch (error) {
    if (error instanceof Errno) return error.errno;
    throw error;
  }
};
const contents = (file: FileNode) => [...file.data.subarray(0, file.size)];

type Step =
  | { do: 'create' | 'mkdir' | 'unlink' | 'rmdir' | 'open'; path: string }
  | { do: 'rename'; path: string; to: string }
  | { do: 'write'; path: string; at: number; bytes: number[] }
  | { do: 'truncate'; path: string; size: number }
  | { do: 'close'; which: number };

const name = fc.constantFrom('a', 'b');
const path = fc.oneof(
  fc.tuple(fc.constantFrom('/work', '/tmp'), name).map((parts) => parts.join('/')),
  fc.tuple(fc.constantFrom('/work', '/tmp'), name, name).map((parts) => parts.join('/')),
  fc.tuple(fc.constantFrom('/work', '/tmp'), name, name, name).map((parts) => parts.join('/')),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom('create', 'mkdir', 'mkdir', 'unlink', 'rmdir', 'open'), path }),
  fc.record({ do: fc.constant('rename'), path, to: path }),
  fc.record({ do: fc.constant('write'), path, at: fc.nat(300), bytes: fc.array(fc.nat(255), { maxLength: 40 }) }),
  fc.record({ do: fc.constant('truncate'), path, size: fc.oneof(fc.nat(400), fc.nat(6000)) }),
  fc.record({ do: fc.constant('close'), which: fc.nat() }),
) as fc.Arbitrary<Step>;

/** Paths to contents (null: a folder). Files that are open stand in `held`, by the same object. */
class Model {
  readonly nodes = new Map<string, { bytes: number[] } | null>([
    ['/work', null],
    ['/tmp', null],
  ]);
  readonly held: { bytes: number[] }[] = [];

  get used(): number {
    const files = new Set([...this.held, ...[...this.nodes.values()].filter((node) => node !== null)]);
    const folders = [...this.nodes.values()].filter((node) => node === null).length - 2;
    return folders * NODE_BYTES + [...files].reduce((sum, { bytes }) => sum + NODE_BYTES + bytes.length, 0);
  }
  #parent(path: string): number {
    const above = path.slice(0, path.lastIndexOf('/'));
    for (let end = above.indexOf('/', 1); ; end = above.indexOf('/', end + 1)) {
      const node = this.nodes.get(end < 0 ? above : above.slice(0, end));
      if (node === undefined) return ERRNO.noent;
      if (node !== null) return ERRNO.notdir;
      if (end < 0) return ERRNO.success;
    }
  }
  #isEmpty(path: string): boolean {
    return ![...this.nodes.keys()].some((other) => other.startsWith(`${path}/`));
  }
  #room(bytes: number): boolean {
    return bytes <= 0 || this.used + bytes <= LIMIT;
  }

  apply(step: Step): number {
    if (step.do === 'close') {
      this.held.splice(step.which % this.held.length, this.held.length > 0 ? 1 : 0);
      return ERRNO.success;
    }
    const bad = this.#parent(step.path);
    if (bad) return bad;
    const node = this.nodes.get(step.path);
    switch (step.do) {
      case 'create':
      case 'mkdir':
        if (node !== undefined) return ERRNO.exist;
        if (!this.#room(NODE_BYTES)) return ERRNO.nospc;
        this.nodes.set(step.path, step.do === 'mkdir' ? null : { bytes: [] });
        return ERRNO.success;
      case 'rmdir':
        if (node === undefined) return ERRNO.noent;
        if (node !== null) return ERRNO.notdir;
        if (!this.#isEmpty(step.path)) return ERRNO.notempty;
        this.nodes.delete(step.path);
        return ERRNO.success;
      case 'rename':
        return this.#rename(step.path, step.to);
    }
    if (node === undefined) return ERRNO.noent;
    if (node === null) return ERRNO.isdir;
    if (step.do === 'unlink') this.nodes.delete(step.path);
    if (step.do === 'open') this.held.push(node);
    if (step.do === 'truncate') {
      if (!this.#room(step.size - node.bytes.length)) return ERRNO.nospc;
      node.bytes = Array.from({ length: step.size }, (_, i) => node.bytes[i] ?? 0);
    }
    if (step.do === 'write' && step.bytes.length > 0) {
      const size = Math.max(node.bytes.length, step.at + step.bytes.length);
      if (!this.#room(size - node.bytes.length)) return ERRNO.nospc;
      node.bytes = Array.from({ length: size }, (_, i) => step.bytes[i - step.at] ?? node.bytes[i] ?? 0);
    }
    return ERRNO.success;
  }

  #rename(from: string, to: string): number {
    const bad = this.#parent(to);
    if (bad) return bad;
    const [node, target] = [this.nodes.get(from), this.nodes.get(to)];
    if (node === undefined) return ERRNO.noent;
    if (from === to) return ERRNO.success;
    if (node === null && to.startsWith(`${from}/`)) return ERRNO.inval;
    if (node === null && target !== undefined && target !== null) return ERRNO.notdir;
    if (node !== null && target === null) return ERRNO.isdir;
    if (target === null && !this.#isEmpty(to)) return ERRNO.notempty;
    const moved = [...this.nodes].filter(([path]) => path === from || path.startsWith(`${from}/`));
    for (const [path] of moved) this.nodes.delete(path);
    this.nodes.delete(to);
    for (const [path, inner] of moved) this.nodes.set(to + path.slice(from.length), inner);
    return ERRNO.success;
  }
}

function applyTo(fs: FileSystem, held: FileNode[], step: Step): number {
  if (step.do === 'close') {
    const [file] = held.splice(step.which % held.length, held.length > 0 ? 1 : 0);
    if (file) fs.closed(file);
    return ERRNO.success;
  }
  const file = () => {
    const node = fs.lookup(step.path);
    if (node.kind !== 'file') throw new Errno(ERRNO.isdir);
    return node;
  };
  return codeOf(() => {
    switch (step.do) {
      case 'create':
        if (fs.place(step.path).node) throw new Errno(ERRNO.exist);
        return fs.createFile(fs.place(step.path), 0);
      case 'mkdir':
        return fs.createDir(fs.place(step.path), 0);
      case 'unlink':
        return fs.remove(fs.place(step.path), 'file', 0);
      case 'rmdir':
        return fs.remove(fs.place(step.path), 'dir', 0);
      case 'rename':
        return fs.rename(fs.place(step.path), fs.place(step.to), 0);
      case 'open':
        fs.opened(file());
        return held.push(file());
      case 'write':
        return fs.write(file(), step.at, new Uint8Array(step.bytes), 0);
      case 'truncate':
        return fs.resize(file(), step.size, 0);
    }
  });
}

function removeAll(fs: FileSystem, path: string): void {
  for (const [name, node] of (fs.lookup(path) as DirNode).entries) {
    if (node.kind === 'dir') removeAll(fs, `${path}/${name}`);
    fs.remove(fs.place(`${path}/${name}`), node.kind === 'dir' ? 'dir' : 'file', 0);
  }
}

test('any sequence of operations answers, stores and charges as the model does, and all is given back in the end', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (steps) => {
      const [fs, model, held] = [new FileSystem(image, LIMIT), new Model(), [] as FileNode[]];
      for (const step of steps) {
        expect(applyTo(fs, held, step), JSON.stringify(step)).toBe(model.apply(step));
        expect(fs.usedBytes).toBe(model.used);
        expect(fs.usedBytes).toBeLessThanOrEqual(LIMIT);
      }
      const files = [...fs.files()].map(({ path, file }) => [path, contents(file)] as const);
      const expected = [...model.nodes].flatMap(([path, node]) => (node ? [[path, node.bytes] as const] : []));
      expect(Object.fromEntries(files)).toEqual(Object.fromEntries(expected));
      expect(held.map(contents)).toEqual(model.held.map(({ bytes }) => bytes));
      for (const top of ['/work', '/tmp']) removeAll(fs, top);
      for (const file of held) fs.closed(file);
      expect(fs.usedBytes).toBe(0);
    }),
    { numRuns: 500 },
  );
});

describe('an open file without a name', () => {
  test('can be written until it is closed, and counts as long', () => {
    const fs = new FileSystem([], LIMIT);
    fs.put('/tmp/a', new Uint8Array(100), 0);
    const file = fs.lookup('/tmp/a') as FileNode;
    fs.opened(file);
    fs.remove(fs.place('/tmp/a'), 'file', 0);
    fs.write(file, 100, new Uint8Array(50), 0);
    expect(fs.usedBytes).toBe(NODE_BYTES + 150);
    fs.closed(file);
    expect(fs.usedBytes).toBe(0);
  });
});

describe('what belongs to the image', () => {
  const fs = new FileSystem(image, LIMIT);
  test.each<[string, () => unknown]>([
    ['a file cannot be written', () => fs.write(fs.lookup('/usr/lib/a.txt') as FileNode, 0, new Uint8Array([9]), 0)],
    ['a file cannot be cut', () => fs.resize(fs.lookup('/usr/lib/a.txt') as FileNode, 0, 0)],
    ['a file cannot be removed', () => fs.remove(fs.place('/usr/lib/a.txt'), 'file', 0)],
    ['a file cannot be moved away', () => fs.rename(fs.place('/usr/lib/a.txt'), fs.place('/tmp/a'), 0)],
    ['a folder takes no new file', () => fs.createFile(fs.place('/usr/lib/b'), 0)],
    ['the root takes no new folder', () => fs.createDir(fs.place('/b'), 0)],
    ['a device cannot be removed', () => fs.remove(fs.place('/dev/null'), 'file', 0)],
    ['the writable folders stay', () => fs.remove(fs.place('/work'), 'dir', 0)],
    ['the writable folders stay where they are', () => fs.rename(fs.place('/work'), fs.place('/tmp/w'), 0)],
    ['a file cannot be put there', () => fs.put('/usr/x', new Uint8Array(1), 0)],
  ])('%s', (_what, act) => {
    expect(codeOf(act)).toBe(ERRNO.rofs);
    expect(contents(fs.lookup('/usr/lib/a.txt') as FileNode)).toEqual([1, 2, 3]);
    expect(fs.usedBytes).toBe(0);
  });
});

describe('paths', () => {
  const fs = new FileSystem(image, LIMIT);
  fs.put('/work/d/f', new Uint8Array(1), 0);
  const work = fs.lookup('/work') as DirNode;
  test.each([
    ['/work/../work/./d//f', ERRNO.success],
    ['/../../work/d/f', ERRNO.success],
    ['d/../d/f', ERRNO.success],
    ['/work/none/f', ERRNO.noent],
    ['/work/d/f/g', ERRNO.notdir],
    ['/work/d/f/', ERRNO.notdir],
    ['/work/d/f/..', ERRNO.notdir],
    [`/work/${'n'.repeat(256)}`, ERRNO.nametoolong],
  ])('%s is answered with %i', (path, code) => {
    expect(codeOf(() => fs.lookup(path, work))).toBe(code);
  });

  test('a name with a slash behind it can become a folder, and no file', () => {
    expect(codeOf(() => fs.createFile(fs.place('none/', work), 0))).toBe(ERRNO.isdir);
    expect(fs.createDir(fs.place('new/', work), 0).kind).toBe('dir');
    fs.remove(fs.place('new/', work), 'dir', 0);
  });

  test('a write that would not fit changes nothing and is counted', () => {
    expect(codeOf(() => fs.put('/work/big', new Uint8Array(LIMIT), 0))).toBe(ERRNO.nospc);
    expect(fs.refused).toBe(1);
    expect(fs.usedBytes).toBe(3 * NODE_BYTES + 1);
  });
});
