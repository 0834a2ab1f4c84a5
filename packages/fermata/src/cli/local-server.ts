/**
 * The engine of a data folder in this process, behind a server that others of this user reach through a local socket.
 *
 * Guarantees: who finds the owner's note finds a socket that listens, or one that will not any more. Tasks that a process before
 * this one has left stay paused, unless `goesOn` says otherwise: a command that only looks runs nothing.
 */

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { FolderOwner } from '@fermata/engine';
import { IMAGE_NAMES, readManifest } from '@fermata/machine';
import type { Store } from '@fermata/protocol';
import type { ImagesWire } from '@fermata/protocol/wire';
import { createServer, type FermataServer, type ServerOptions } from '@fermata/server';
import { type OpenEngineOptions, openEngine } from '../open-engine.ts';

export interface LocalOptions extends Pick<OpenEngineOptions, 'tools' | 'policy' | 'host' | 'goesOn' | 'maxRunning' | 'network' | 'trustHosts' | 'anyHost' | 'secret'> {
  /** The file that the tools are from. */
  toolsFile?: string | undefined;
  server?: Pick<ServerOptions, 'development' | 'webhooks' | 'onError'>;
}

export interface LocalServer {
  server: FermataServer;
  store: Store;
  /** Makes machines in advance. */
  prepare(): Promise<void>;
  close(drainMs: number): Promise<void>;
}

/** A socket's path may have about so many bytes. */
const LONGEST_SOCKET = 100;

/** Throws `store_locked` where another process owns the folder. */
export async function openLocal(folder: string, { toolsFile, server: how, ...options }: LocalOptions): Promise<LocalServer> {
  const opened = await openEngine({ goesOn: () => false, trustHosts: true, anyHost: true, ...options, folder });
  const { engine, store, registry } = opened;
  const owner = opened.owner as FolderOwner;
  const server = createServer({ engine, store, tools: registry, images, ...(options.policy ? { policy: options.policy } : {}), ...how });
  const socket = socketOf(folder);
  const close = async (drainMs: number) => {
    await server.close({ drainMs });
    socket.remove();
    await opened.close();
  };
  try {
    socket.remove();
    await server.listen({ path: socket.make() });
    if (process.platform !== 'win32') chmodSync(socket.path(), 0o600);
    owner.tell({ url: socket.path(), key: server.localKey, ...(toolsFile === undefined ? {} : { tools: resolve(toolsFile) }) });
    return { server, store, prepare: opened.prepare, close };
  } catch (error) {
    await close(0);
    throw error;
  }
}

/** In the folder, which only this user can enter; in a temporary one where its path is too long. */
function socketOf(folder: string) {
  let path = process.platform === 'win32' ? `\\\\.\\pipe\\fermata-${process.pid}` : join(resolve(folder), 'api.sock');
  let temporary: string | undefined;
  return {
    path: () => path,
    make() {
      if (Buffer.byteLength(path) <= LONGEST_SOCKET) return path;
      temporary = mkdtempSync(join(tmpdir(), 'fermata-'));
      path = join(temporary, 'api.sock');
      return path;
    },
    remove() {
      if (process.platform !== 'win32') rmSync(path, { force: true });
      if (temporary) rmSync(dirname(path), { recursive: true, force: true });
    },
  };
}

async function images(): Promise<ImagesWire['items']> {
  const manifests = await Promise.all(IMAGE_NAMES.map(readManifest));
  return manifests.map(({ name, version, languages, wasm }) => ({
    ...{ name, sandbox: 'wasm' as const, digest: wasm.sha256, libraries: [] },
    languages: languages.map((language) => ({ language, version })),
  }));
}
