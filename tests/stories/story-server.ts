/** A server in a process of its own that is killed and started again on its folder, a client of it, and plain requests to it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient, type FermataClient } from '@fermata/client';
import type { ServerAsked, ServerSetup, ServerTold } from './server-process.ts';

const MiB = 1024 * 1024;
const SOURCE = fileURLToPath(new URL('server-process.ts', import.meta.url));

/** `toolsInput` may be made of the folder that is thrown away at the end. */
export type Setup = Omit<ServerSetup, 'folder' | 'toolsInput'> & { toolsInput?: unknown | ((root: string) => unknown) };

/** The server did not start, for the reason with this code. */
export class NotStarted extends Error {}

export class StoryServer implements AsyncDisposable {
  readonly #root = mkdtempSync(join(tmpdir(), 'fermata-story-'));
  #child: ChildProcess | undefined;
  #url = '';
  #key = '';

  static async start(setup: Setup = {}): Promise<StoryServer> {
    const server = new StoryServer();
    await server.start(setup);
    return server;
  }

  /** A process on the same folder; at another address, with the same key. */
  async start(setup: Setup = {}): Promise<void> {
    const { child, told } = await this.#launch(setup);
    if ('failed' in told) throw new NotStarted(told.failed);
    if (!('url' in told)) throw new Error('the server did not tell its address');
    this.#child = child;
    [this.#url, this.#key] = [told.url, told.key];
  }

  /** Why a second server on the same folder does not start; undefined if it does, which is undone. */
  async refusalOfSecond(): Promise<string | undefined> {
    const { child, told } = await this.#launch({});
    child.kill('SIGKILL');
    return 'failed' in told ? told.failed : undefined;
  }

  get url(): string {
    return this.#url;
  }
  get key(): string {
    return this.#key;
  }
  get pid(): number {
    return this.#child?.pid as number;
  }
  get folder(): string {
    return join(this.#root, 'data');
  }
  get root(): string {
    return this.#root;
  }
  get died(): Promise<void> {
    const child = this.#child as ChildProcess;
    return child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : once(child, 'exit').then(() => {});
  }

  client(): FermataClient {
    return createClient({ url: this.#url, key: this.#key });
  }

  /** A request as somebody without the client makes it. */
  async fetch(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<{ status: number; headers: Headers; body: Record<string, unknown> }> {
    const headers = { authorization: `Bearer ${this.#key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    const response = await fetch(`${this.#url}/api/v1${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
  }

  async ask(what: ServerAsked): Promise<string> {
    const child = this.#child as ChildProcess;
    child.send(what);
    const [told] = (await once(child, 'message')) as [ServerTold];
    return 'asked' in told ? told.asked : '';
  }

  /** Of its process, in MiB. `atRest`: after what is not needed has been given back. */
  async memory({ atRest = false } = {}): Promise<{ rss: number; heap: number }> {
    const { rss, heapUsed } = JSON.parse(await this.ask(atRest ? 'memory-at-rest' : 'memory')) as NodeJS.MemoryUsage;
    return { rss: rss / MiB, heap: heapUsed / MiB };
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const { died } = this;
    this.#child?.kill(signal);
    await died;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child) await this.kill();
    rmSync(this.#root, { recursive: true, force: true });
  }

  async #launch(setup: Setup): Promise<{ child: ChildProcess; told: ServerTold }> {
    const { toolsInput } = setup;
    const full: ServerSetup = {
      ...{ host: 'threads', threads: 2, ...setup, folder: this.folder },
      ...(typeof toolsInput === 'function' ? { toolsInput: toolsInput(this.#root) } : {}),
    };
    const child = fork(SOURCE, { env: { ...process.env, FERMATA_STORY: JSON.stringify(full) }, execArgv: ['--expose-gc'], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const told = await new Promise<ServerTold>((resolve) => {
      child.once('message', (message) => resolve(message as ServerTold));
      child.once('exit', () => resolve({ failed: 'it ended' }));
    });
    return { child, told };
  }
}
