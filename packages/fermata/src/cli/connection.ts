/**
 * How a command reaches tasks: always through the client, which talks to the server that `--url` names, to the process that
 * owns the data folder, or else to an engine that this process opens itself.
 *
 * The owner of a folder may come and go while a command is at work: whoever is needed next takes over. A request that was not
 * taken is sent to the new owner; one that was cut off is an error, unless the client may repeat it.
 */
import { createClient, type FermataClient, fetchFrom } from '@fermata/client';
import { ownerOf } from '@fermata/engine/folder-owner';
import { FermataError, type Store } from '@fermata/protocol';
import { dataDir } from '../seal-key-file.ts';
import type { ConnectionOptions } from './connection-options.ts';
import type { LocalOptions, LocalServer } from './local-server.ts';
import { LOCAL_URL, socketFetch } from './socket-fetch.ts';

export interface Connection extends AsyncDisposable {
  client: FermataClient;
  /** Of a data folder. */
  folder: string | undefined;
  /** The store, while this process owns the folder itself. */
  store(): Store | undefined;
  /** The file of the owner's tools. */
  toolsFile(): string | undefined;
  /** Lets go of the folder: what still runs there is paused first. */
  close(drainMs?: number): Promise<void>;
}

/** How long an owner that does not answer yet, or not any more, is waited for. */
const PATIENCE_MS = 15_000;
/** The same for one that has not told where it answers; it may never do so. */
const SHORT_PATIENCE_MS = 3_000;
const LOOK_AGAIN_MS = 100;
const DRAIN_MS = 10_000;
const FOLDER_HINT = 'Name a folder that can be written, with --data or FERMATA_DATA_DIR; fermata run --ephemeral needs none.';

/** `local`: of the engine, if this process has to open it. An empty `url` is none. */
export async function connect({ url = process.env.FERMATA_URL, key = process.env.FERMATA_KEY, data }: ConnectionOptions, local: LocalOptions = {}): Promise<Connection> {
  if (url && data === undefined) return remote(url, key);
  const folder = new Folder(data ?? dataDir(), local);
  await folder.reach();
  const client = createClient({ url: LOCAL_URL, key: 'local', fetch: (input, init) => folder.fetch(String(input), init) });
  const close = (drainMs = DRAIN_MS) => folder.close(drainMs);
  return { client, folder: folder.path, store: () => folder.store, toolsFile: () => folder.toolsFile, close, [Symbol.asyncDispose]: () => close() };
}

function remote(url: string, key: string | undefined): Connection {
  if (!/^https?:\/\//.test(url)) throw new FermataError('invalid_request', `--url ${url} is not the address of a server`, { hint: 'It begins with http:// or https://.' });
  if (key === undefined) throw new FermataError('invalid_request', 'a server wants an API key', { hint: 'Give it with --key or FERMATA_KEY.' });
  const close = async () => {};
  return { client: createClient({ url, key }), folder: undefined, store: () => undefined, toolsFile: () => undefined, close, [Symbol.asyncDispose]: close };
}

interface Place {
  fetch: typeof globalThis.fetch;
  key: string;
  toolsFile: string | undefined;
  own?: LocalServer;
}

class Folder {
  readonly path: string;
  readonly #local: LocalOptions;
  #place: Promise<Place> | undefined;
  #now: Place | undefined;
  #closed = false;

  constructor(path: string, local: LocalOptions) {
    this.path = path;
    this.#local = local;
  }

  get store(): Store | undefined {
    return this.#now?.own?.store;
  }
  get toolsFile(): string | undefined {
    return this.#now?.toolsFile;
  }

  /** Throws `store_locked` where the folder's owner cannot be talked to. */
  reach(): Promise<Place> {
    this.#place ??= this.#find().then(
      (place) => {
        this.#now = place;
        return place;
      },
      (error) => {
        this.#place = undefined;
        throw error;
      },
    );
    return this.#place;
  }

  async fetch(url: string, init: RequestInit = {}): Promise<Response> {
    for (let tries = 0; ; tries++) {
      const place = await this.reach();
      const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${place.key}` };
      try {
        const response = await place.fetch(url, { ...init, headers });
        // Somebody else answers there by now.
        if (response.status !== 401 || tries > 0) return response;
        await response.body?.cancel();
      } catch (error) {
        if (place.own || init.signal?.aborted) throw error;
        if (!wasNotSent(error) || tries > 2) {
          this.#forget(place);
          throw error;
        }
      }
      this.#forget(place);
    }
  }

  async close(drainMs: number): Promise<void> {
    this.#closed = true;
    const place = await this.#place?.catch(() => undefined);
    await place?.own?.close(drainMs);
  }

  #forget(place: Place): void {
    if (this.#now !== place || place.own) return;
    this.#now = undefined;
    this.#place = undefined;
  }

  async #find(): Promise<Place> {
    const began = performance.now();
    for (;;) {
      if (this.#closed) throw new FermataError('invalid_state', 'the connection is closed');
      const place = (await this.#others()) ?? (await this.#own(performance.now() - began >= (ownerOf(this.path)?.url === undefined ? SHORT_PATIENCE_MS : PATIENCE_MS)));
      if (place) return place;
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
  }

  async #others(): Promise<Place | undefined> {
    const note = ownerOf(this.path);
    if (note?.url === undefined || note.key === undefined) return undefined;
    const fetch = socketFetch(note.url);
    try {
      const ready = await fetch(`${LOCAL_URL}/readyz`, { signal: AbortSignal.timeout(PATIENCE_MS) });
      await ready.body?.cancel();
      return ready.ok ? { fetch, key: note.key, toolsFile: note.tools } : undefined;
    } catch {
      return undefined;
    }
  }

  async #own(mustTell: boolean): Promise<Place | undefined> {
    // Where somebody else runs the tasks there is no need of it.
    const { openLocal } = await import('./local-server.ts');
    try {
      const own = await openLocal(this.path, this.#local);
      const { server } = own;
      return { own, key: server.localKey, fetch: fetchFrom(server.localFetch), toolsFile: this.#local.toolsFile };
    } catch (error) {
      if (!(error instanceof FermataError)) throw error;
      if (error.code === 'store_locked' && !mustTell) return undefined;
      throw error.code === 'store_failed' || error.code === 'sandbox_unavailable' ? new FermataError(error.code, error.message, { hint: FOLDER_HINT, cause: error }) : error;
    }
  }
}

function wasNotSent(error: unknown): boolean {
  return ['ECONNREFUSED', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '');
}
