/** Files and descriptors of a machine, into a snapshot's state and back. */
import { FermataError } from '@fermata/protocol';
import { checkDepth, type DirNode, type FileNode, type FileSystem, type FsNode, NODE_BYTES, newFile, validName, WRITABLE } from './file-system.ts';
import type { FsState } from './machine-state.ts';
import type { Descriptor, Wasi } from './wasi.ts';

export function saveFiles(fs: FileSystem, wasi: Wasi): FsState {
  const nodes: FsState['nodes'] = [];
  const pending: DirNode[] = [];
  for (const name of WRITABLE) {
    const dir = fs.root.entries.get(name) as DirNode;
    if (dir.mtimeMs !== 0) nodes.push([fs.root.id, dir.id, name, dir.mtimeMs, null]);
    pending.push(dir);
  }
  for (let dir = pending.shift(); dir; dir = pending.shift()) {
    for (const [name, node] of dir.entries) {
      nodes.push([dir.id, node.id, name, node.mtimeMs, node.kind === 'file' ? contents(node) : null]);
      if (node.kind === 'dir') pending.push(node);
    }
  }
  const unnamed = new Map<number, FsState['unnamed'][number]>();
  const descriptors: FsState['descriptors'] = [];
  for (const [fd, { node, position, flags }] of wasi.descriptors) {
    descriptors.push([fd, nodeKey(node, wasi), position, flags]);
    if (typeof node === 'string' || node.kind === 'device') continue;
    const isFile = node.kind === 'file';
    if (isFile ? !node.named : !node.parent && node !== fs.root) unnamed.set(node.id, [node.id, node.mtimeMs, isFile ? contents(node) : null]);
  }
  return { nextId: fs.nextId, usedBytes: fs.usedBytes, refused: fs.refused, stdin: contents(wasi.stdin), nodes, unnamed: [...unnamed.values()], descriptors };
}

/** Puts a saved state into a fresh file system; throws `checkpoint_invalid` where it does not hold together. */
export function loadFiles(state: FsState, fs: FileSystem, wasi: Wasi): void {
  const bad = (what: string) => new FermataError('checkpoint_invalid', `the snapshot's files are malformed: ${what}`);
  const nodes = new Map<number, FsNode>();
  collect(fs.root, nodes);
  let usedBytes = 0;
  const claim = (node: FsNode) => {
    if (nodes.has(node.id) || node.id >= state.nextId) throw bad(`node ${node.id}`);
    nodes.set(node.id, node);
    if (node.kind === 'file') usedBytes += NODE_BYTES + node.size;
  };
  for (const [parentId, id, name, mtimeMs, data] of state.nodes) {
    const top = parentId === fs.root.id && WRITABLE.includes(name) ? nodes.get(id) : undefined;
    if (top) {
      top.mtimeMs = mtimeMs;
      continue;
    }
    const parent = nodes.get(parentId);
    if (parent?.kind !== 'dir' || parent.readOnly || !validName(name) || parent.entries.has(name)) throw bad(`node ${id}`);
    const node: FsNode = data ? newFile(id, data.slice(), false, mtimeMs) : { kind: 'dir', id, entries: new Map(), parent, readOnly: false, mtimeMs };
    claim(node);
    if (node.kind === 'dir') {
      usedBytes += NODE_BYTES;
      if (!fitsDepth(node)) throw bad('its depth');
    }
    parent.entries.set(name, node);
  }
  for (const [id, mtimeMs, data] of state.unnamed) {
    claim(data ? { ...newFile(id, data.slice(), false, mtimeMs), named: false } : { kind: 'dir', id, entries: new Map(), parent: null, readOnly: false, mtimeMs });
  }
  if (usedBytes !== state.usedBytes || usedBytes > fs.maxBytes) throw bad('the sum of their sizes');
  wasi.stdin = newFile(0, state.stdin.slice(), true);
  wasi.descriptors = new Map(
    state.descriptors.map(([fd, key, position, flags]): [number, Descriptor] => {
      const node = key === 'stdin' ? wasi.stdin : typeof key === 'string' ? key : nodes.get(key);
      if (!node) throw bad(`descriptor ${fd}`);
      if (typeof node !== 'string' && node.kind === 'file' && node.id !== 0) fs.opened(node);
      return [fd, { node, position, flags }];
    }),
  );
  fs.adopt(state.nextId, state.usedBytes, state.refused);
}

function fitsDepth(dir: DirNode): boolean {
  try {
    checkDepth(dir);
    return true;
  } catch {
    return false;
  }
}

function nodeKey(node: FsNode | 'stdout' | 'stderr', wasi: Wasi): FsState['descriptors'][number][1] {
  if (typeof node === 'string') return node;
  return node === wasi.stdin ? 'stdin' : node.id;
}

function contents(file: FileNode): Uint8Array {
  return file.data.slice(0, file.size);
}

function collect(dir: DirNode, into: Map<number, FsNode>): void {
  into.set(dir.id, dir);
  for (const node of dir.entries.values()) {
    if (node.kind === 'dir') collect(node, into);
    else into.set(node.id, node);
  }
}
