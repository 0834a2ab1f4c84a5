/**
 * A host whose machines live in Worker threads of this process.
 *
 * Threads are started as they are needed, up to one per core, and a machine stays on its thread. If a thread dies its
 * machines are lost (`sandbox_lost`) and the next machine gets a new thread. An idle host does not keep the process alive.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { type Emission, FermataError, type Input, type Inspection, type Limits, type LimitsInput } from '@fermata/protocol';
import { imageDigestOf, type OpenOptions, type SealOptions } from '../wasm/container.ts';
import { type Image, imageDigest } from '../wasm/image.ts';
import { defaultCacheDir, IMAGE_NAMES, type ImageName, loadImage, readManifest } from '../wasm/image-store.ts';
import type { Budget, Host, HostedMachine, HostedOutcome, Report, Restored } from './host.ts';
import { type FromThread, fromPlainError, type ToThread } from './thread-messages.ts';

/** Enough for the deepest recursion of any image. */
const STACK_MB = 64;

export interface ThreadHostOptions {
  /** Threads at most. Default: one per core. */
  threads?: number;
  /** Where unpacked images are kept. Default: see {@link defaultCacheDir}. */
  cacheDir?: string;
}

/** A host in this process. Nothing starts before the first machine is made. */
export function createThreadHost(options: ThreadHostOptions = {}): Host {
  return new ThreadHost(options);
}

class ThreadHost implements Host {
  readonly #maxThreads: number;
  readonly #cacheDir: string;
  readonly #images = new Map<ImageName, Promise<Image>>();
  #threads: Thread[] = [];
  #closed = false;

  constructor({ threads = availableParallelism(), cacheDir = defaultCacheDir() }: ThreadHostOptions) {
    this.#maxThreads = Math.max(1, threads);
    this.#cacheDir = cacheDir;
  }

  async create(name: ImageName, limits: LimitsInput): Promise<HostedMachine> {
    using thread = this.#reserve();
    const image = await this.#image(name);
    return (await thread.on.machine(name, image, (request, id) => ({ op: 'create', request, id, image: name, limits }))).machine;
  }

  async restore(snapshot: Uint8Array, open: OpenOptions): Promise<{ machine: HostedMachine; restored: Restored }> {
    using thread = this.#reserve();
    const { name, image } = await this.#imageOf(imageDigestOf(snapshot));
    return await thread.on.machine<Restored>(name, image, (request, id) => ({ op: 'restore', request, id, image: name, snapshot, open }));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#threads.map((thread) => thread.close()));
    this.#threads = [];
  }

  #image(name: ImageName): Promise<Image> {
    const loading = this.#images.get(name) ?? loadImage(name, this.#cacheDir);
    this.#images.set(name, loading);
    loading.catch(() => this.#images.delete(name));
    return loading;
  }

  /** The image of that digest. Those that are loaded are asked first: what lies on disk may be newer. */
  async #imageOf(digest: Uint8Array): Promise<{ name: ImageName; image: Image }> {
    for (const [name, loading] of this.#images) {
      const image = await loading;
      if (Buffer.from(image.digest).equals(digest)) return { name, image };
    }
    for (const name of IMAGE_NAMES) {
      if (!this.#images.has(name) && Buffer.from(imageDigest(await readManifest(name))).equals(digest)) return { name, image: await this.#image(name) };
    }
    throw new FermataError('environment_mismatch', 'the snapshot was made with an image that this version does not have', {
      hint: 'Use the version of Fermata that made it; `fermata image list` shows the images of this one.',
    });
  }

  /** A thread that counts the machine which is about to come, so that several at once spread over the threads. */
  #reserve(): Disposable & { on: Thread } {
    const on = this.#thread();
    on.reserved++;
    return {
      on,
      [Symbol.dispose]: () => {
        on.reserved--;
      },
    };
  }

  /** The thread with the fewest machines, or a new one while there may be more. */
  #thread(): Thread {
    if (this.#closed) throw new FermataError('invalid_state', 'the host is closed');
    this.#threads = this.#threads.filter((thread) => thread.alive);
    const least = this.#threads.toSorted((a, b) => a.load - b.load)[0];
    if (least && (least.load === 0 || this.#threads.length >= this.#maxThreads)) return least;
    const thread = new Thread();
    this.#threads.push(thread);
    return thread;
  }
}

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

class Thread {
  readonly #worker: Worker;
  readonly #has = new Set<ImageName>();
  readonly #machines = new Map<number, ThreadMachine>();
  readonly #requests = new Map<number, Waiting>();
  #next = 1;
  #alive = true;
  /** Machines that are on their way here. */
  reserved = 0;

  constructor() {
    const entry = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url);
    // A Worker takes over the flags of the process. One that says how the main script is read does not fit its file; but a
    // list of one's own must not name the flags of V8, which hold for the whole process anyway.
    const own = process.execArgv.some((flag) => flag.startsWith('--input-type')) ? { execArgv: [] } : {};
    this.#worker = new Worker(entry, { ...own, resourceLimits: { stackSizeMb: STACK_MB }, stdin: false });
    this.#worker.unref();
    this.#worker.on('message', (message: FromThread) => this.#receive(message));
    this.#worker.on('error', (error) => this.#died(error as Error));
    this.#worker.on('exit', () => this.#died(new Error('the thread ended')));
  }

  get alive(): boolean {
    return this.#alive;
  }
  get load(): number {
    return this.#machines.size + this.reserved;
  }

  async machine<R>(name: ImageName, image: Image, message: (request: number, id: number) => ToThread): Promise<{ machine: HostedMachine; restored: R }> {
    if (!this.#has.has(name)) {
      this.#has.add(name);
      const { manifest, module, files, base, baseState } = image;
      this.send({ op: 'image', name, parts: { manifest, module, files, base, baseState } });
    }
    const id = this.#next++;
    const made = (await this.request((request) => message(request, id))) as { limits: Limits; report: Report; restored: R };
    const machine = new ThreadMachine(this, id, made.limits, made.report);
    this.#machines.set(id, machine);
    return { machine, restored: made.restored };
  }

  send(message: ToThread): void {
    if (!this.#alive) throw new FermataError('sandbox_lost', 'the thread of this machine has died');
    this.#worker.postMessage(message);
  }

  request(message: (request: number) => ToThread): Promise<unknown> {
    const request = this.#next++;
    return new Promise((resolve, reject) => {
      this.send(message(request));
      this.#requests.set(request, { resolve, reject });
      this.hold();
    });
  }

  forget(id: number): void {
    this.#machines.delete(id);
    if (this.#alive) this.send({ op: 'dispose', id });
    this.hold();
  }

  /** Keeps the process alive exactly while somebody waits for this thread. */
  hold(): void {
    const awaited = this.#requests.size > 0 || [...this.#machines.values()].some((machine) => machine.running);
    if (awaited) this.#worker.ref();
    else this.#worker.unref();
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #receive(message: FromThread): void {
    if (message.kind === 'answer' || message.kind === 'refused') {
      const waiting = this.#requests.get(message.request);
      this.#requests.delete(message.request);
      if (message.kind === 'answer') waiting?.resolve(message.value);
      else waiting?.reject(fromPlainError(message.error));
    } else {
      this.#machines.get(message.id)?.receive(message);
    }
    this.hold();
  }

  #died(cause: Error): void {
    if (!this.#alive) return;
    this.#alive = false;
    const error = new FermataError('sandbox_lost', `the thread of this machine has died: ${cause.message}`, { cause });
    for (const waiting of this.#requests.values()) waiting.reject(error);
    for (const machine of this.#machines.values()) machine.lose(error);
    this.#requests.clear();
    this.#machines.clear();
  }
}

class ThreadMachine implements HostedMachine {
  readonly #thread: Thread;
  readonly #id: number;
  readonly limits: Limits;
  #report: Report;
  #lost: Error | undefined;
  #advancing: { resolve: (outcome: HostedOutcome) => void; reject: (error: Error) => void; onEmitted: (emitted: Emission[], report: Report) => void } | undefined;

  constructor(thread: Thread, id: number, limits: Limits, report: Report) {
    this.#thread = thread;
    this.#id = id;
    this.limits = limits;
    this.#report = report;
  }

  get report(): Report {
    return this.#report;
  }
  get running(): boolean {
    return this.#advancing !== undefined;
  }

  advance(input: Input, budget: Budget, onEmitted: (emitted: Emission[], report: Report) => void): Promise<HostedOutcome> {
    if (this.#lost) return Promise.reject(this.#lost);
    if (this.#advancing) return Promise.reject(new FermataError('invalid_state', 'the machine is running'));
    return new Promise((resolve, reject) => {
      this.#thread.send({ op: 'advance', id: this.#id, input, budget });
      this.#advancing = { resolve, reject, onEmitted };
      this.#thread.hold();
    });
  }
  stop(): void {
    if (this.#advancing) this.#thread.send({ op: 'stop', id: this.#id });
  }
  snapshot(seal?: SealOptions, attachment: Uint8Array = new Uint8Array()): Promise<Uint8Array> {
    return this.#ask<Uint8Array>((request) => ({ op: 'snapshot', request, id: this.#id, seal, attachment }));
  }
  hash(): Promise<string> {
    return this.#ask<string>((request) => ({ op: 'hash', request, id: this.#id }));
  }
  inspect(): Promise<Inspection> {
    return this.#ask<Inspection>((request) => ({ op: 'inspect', request, id: this.#id }));
  }
  readFile(path: string): Promise<Uint8Array | undefined> {
    return this.#ask<Uint8Array | undefined>((request) => ({ op: 'readFile', request, id: this.#id, path }));
  }
  files(): Promise<{ path: string; data: Uint8Array }[]> {
    return this.#ask<{ path: string; data: Uint8Array }[]>((request) => ({ op: 'files', request, id: this.#id }));
  }
  dispose(): void {
    this.#thread.forget(this.#id);
    this.lose(new FermataError('invalid_state', 'the machine was disposed of'));
  }

  receive(message: Extract<FromThread, { id: number }>): void {
    this.#report = message.report;
    const advancing = this.#advancing;
    if (message.kind === 'emitted') return advancing?.onEmitted(message.emitted, message.report);
    this.#advancing = undefined;
    if (message.kind === 'outcome') advancing?.resolve(message.outcome);
    else advancing?.reject(fromPlainError(message.error));
  }
  lose(error: Error): void {
    this.#lost ??= error;
    this.#advancing?.reject(error);
    this.#advancing = undefined;
  }

  #ask<T>(message: (request: number) => ToThread): Promise<T> {
    if (this.#lost) return Promise.reject(this.#lost);
    return this.#thread.request(message) as Promise<T>;
  }
}
