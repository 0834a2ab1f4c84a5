/** An engine in a process of its own that dies and is started again, and calls to its methods that outlive it. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Engine } from 'fermata';

const SOURCE = fileURLToPath(new URL('engine-process.ts', import.meta.url));

/** The engine died before it answered; what was asked for may have happened or not. */
export class Died extends Error {}

export interface StartOptions {
  folder: string;
  host: 'threads' | 'processes';
  /** `moment:count` at which it kills itself. */
  at?: string | undefined;
  slowMs?: number | undefined;
}

export class EngineUnderFire {
  readonly #child: ChildProcess;
  readonly #asked = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #ready = Promise.withResolvers<number>();
  readonly died: Promise<void>;
  #next = 1;

  constructor({ folder, host, at, slowMs }: StartOptions) {
    const env = {
      ...{ ...process.env, FERMATA_CRASH_FOLDER: folder, FERMATA_CRASH_HOST: host },
      ...(at === undefined ? {} : { FERMATA_CRASH_AT: at }),
      ...(slowMs === undefined ? {} : { FERMATA_CRASH_SLOW_MS: String(slowMs) }),
    };
    this.#child = fork(SOURCE, { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#ready.promise.catch(() => {});
    this.died = new Promise((resolve) => {
      this.#child.on('exit', () => {
        this.#ready.reject(new Died());
        for (const { reject } of this.#asked.values()) reject(new Died());
        this.#asked.clear();
        resolve();
      });
    });
    this.#child.on('message', (message: { ready?: number; id?: number; value?: unknown; error?: { code: string; message: string } }) => {
      if (message.ready !== undefined) return this.#ready.resolve(message.ready);
      const asked = this.#asked.get(message.id as number);
      this.#asked.delete(message.id as number);
      if (message.error) asked?.reject(Object.assign(new Error(message.error.message), { code: message.error.code }));
      else asked?.resolve(message.value);
    });
  }

  /** Milliseconds until the engine had taken over what was left to it. */
  get ready(): Promise<number> {
    return this.#ready.promise;
  }
  get pid(): number {
    return this.#child.pid as number;
  }

  call<M extends keyof Engine>(method: M, ...args: unknown[]): Promise<Engine[M] extends (...args: never[]) => infer R ? Awaited<R> : never> {
    const id = this.#next++;
    const asked = Promise.withResolvers<unknown>();
    this.#asked.set(id, asked);
    if (!this.#child.connected || !this.#child.send({ id, method, args }, (error) => error && asked.reject(new Died()))) void 0;
    return asked.promise as never;
  }

  get isDead(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  kill(): Promise<void> {
    if (!this.isDead) this.#child.kill('SIGKILL');
    return this.died;
  }
}
