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
import { IMAGE_NAMES, librariesOf, readManifest } from '@fermata/machine';
import type { ModelsOptions } from '@fermata/models';
import { FermataError, type ImageName, type Store } from '@fermata/protocol';
import type { ImagesWire } from '@fermata/protocol/wire';
import { createServer, createWebhookListeners, type FermataServer, type ServerOptions } from '@fermata/server';
import { type OpenEngineOptions, openEngine } from '../open-engine.ts';
import { modelsFor } from './models-for.ts';

export interface LocalOptions
  extends Pick<
    OpenEngineOptions,
    'tools' | 'sources' | 'sourcesWaitMs' | 'allowSourceCommands' | 'policy' | 'host' | 'goesOn' | 'maxRunning' | 'network' | 'networkHeaders' | 'trustHosts' | 'anyHost' | 'secret'
  > {
  /** The file that the tools are from. */
  toolsFile?: string | undefined;
  /** Whether a source of the configuration that cannot be used is an error. */
  sourcesMustConnect?: boolean;
  /** Default: those of the environment, for the owner of the folder. */
  models?: () => Promise<ModelsOptions>;
  server?: Pick<ServerOptions, 'development' | 'webhooks' | 'mcp' | 'onError'>;
}

export interface LocalServer {
  server: FermataServer;
  store: Store;
  /** Sources of the configuration that cannot be used now, and why. */
  failedSources: string[];
  /** Makes machines in advance. */
  prepare(): Promise<void>;
  close(drainMs: number): Promise<void>;
}

const TENANT = 'default';
/** A socket's path may have about so many bytes. */
const LONGEST_SOCKET = 100;

/** Throws `store_locked` where another process owns the folder, and `source_failed` where a source must connect and does not. */
export async function openLocal(folder: string, { toolsFile, sourcesMustConnect = false, models: ofCommand, server: how, ...options }: LocalOptions): Promise<LocalServer> {
  const listeners = createWebhookListeners();
  const models = await (ofCommand?.() ?? modelsFor({}, true));
  const opened = await openEngine({ listeners, goesOn: () => false, trustHosts: true, anyHost: true, ...options, models, folder });
  const { engine, store, registry, policy, check, models: made } = opened;
  const failed = (await registry.sources(TENANT))
    .filter(({ state, createdAt }) => createdAt === null && state !== 'connected')
    .map(({ name, fault }) => fault ?? new FermataError('source_failed', `the tool source ${name} did not connect in time`));
  if (sourcesMustConnect && failed.length > 0) {
    await opened.close();
    throw failed[0];
  }
  const owner = opened.owner as FolderOwner;
  const server = createServer({ engine, store, tools: registry, images, check, policy, listeners, models: made, ...how });
  const socket = socketOf(folder);
  const close = async (drainMs: number) => {
    try {
      await server.close({ drainMs });
    } finally {
      socket.remove();
      await opened.close();
    }
  };
  try {
    socket.remove();
    await server.listen({ path: socket.make() });
    if (process.platform !== 'win32') chmodSync(socket.path(), 0o600);
    owner.tell({ url: socket.path(), key: server.localKey, ...(toolsFile === undefined ? {} : { tools: resolve(toolsFile) }) });
    return { server, store, failedSources: failed.map(({ message }) => message), prepare: opened.prepare, close };
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
    ...{ name, sandbox: 'wasm' as const, digest: wasm.sha256, libraries: librariesOf(name as ImageName).map((library) => ({ name: library, version })) },
    languages: languages.map((language) => ({ language, version })),
  }));
}
