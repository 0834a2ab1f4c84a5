/**
 * A Worker in a child process as a port.
 *
 * The child is killed when its heart is silent, or when one turn of a machine takes far longer than a turn may. Whose turn
 * it was stands in a file that both have open and nobody can find by name.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ImageName } from '@fermata/protocol';
import { loadImage } from '../wasm/image-store.ts';
import type { FromChild, ToChild } from './child-messages.ts';
import { nodeCommand } from './jail.ts';
import type { Death, OpenPort, Port, PortEvents } from './port.ts';
import { MAX_TURN_MS } from './scheduler.ts';
import { fromPlainError, type ToThread } from './thread-messages.ts';
import { turnInFile } from './turn-word.ts';

const WATCH_MS = 1000;
/** A turn that goes on for so long after its own timeout has escaped it. */
const TURN_GRACE_MS = 10_000;
/** Signals by which a process ends that broke down by itself. */
const BREAKDOWNS = new Set(['SIGSEGV', 'SIGABRT', 'SIGILL', 'SIGBUS', 'SIGTRAP', 'SIGFPE']);
/** A shell, or bubblewrap, tells a signal by this much and its number. */
const SIGNALLED = 128;
const SIGKILL_CODE = SIGNALLED + 9;
const SIGTERM_CODE = SIGNALLED + 15;

export interface ChildPortOptions {
  cacheDir: string;
  /** Whether the child lives in the jail. */
  jailed: boolean;
  /** A heart that is silent for so long has stopped. */
  silentMs: number;
}

/** Ports to children; whoever uses them has looked at {@link jailObstacle} before. */
export function childPorts(options: ChildPortOptions): OpenPort {
  return (events) => new ChildPort(options, events);
}

interface Given {
  resolve: () => void;
  reject: (error: Error) => void;
}

class ChildPort implements Port {
  readonly #options: ChildPortOptions;
  readonly #events: PortEvents;
  readonly #child: ChildProcess;
  readonly #turnFile: number;
  readonly #watch: NodeJS.Timeout;
  readonly #given = new Map<ImageName, Promise<void>>();
  readonly #giving = new Map<ImageName, Given>();
  #heardMs = performance.now();
  /** Why we ended it ourselves. */
  #ended: { message: string; brokeDown: boolean } | undefined;
  #over = false;

  constructor(options: ChildPortOptions, events: PortEvents) {
    this.#options = options;
    this.#events = events;
    this.#turnFile = namelessFile();
    const script = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? './child.ts' : './child.js', import.meta.url));
    const { command, args } = nodeCommand(script, options.cacheDir, options.jailed);
    this.#child = spawn(command, args, {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc', this.#turnFile],
      serialization: 'advanced',
      env: { PATH: process.env.PATH },
      // A jail has a group of its own, by which all of it can be ended.
      detached: options.jailed,
    });
    this.#child.on('message', (message: FromChild) => this.#receive(message));
    this.#child.on('error', (error) => this.#gone({ message: error.message, brokeDown: true }));
    this.#child.on('exit', (code, signal) => this.#exited(code, signal));
    this.#watch = setInterval(() => this.#look(), WATCH_MS);
    this.#watch.unref();
    this.hold(false);
  }

  give(name: ImageName): Promise<void> {
    const given =
      this.#given.get(name) ??
      // The child cannot write; what it needs must be in the cache.
      loadedOnce(name, this.#options.cacheDir).then(
        () =>
          new Promise<void>((resolve, reject) => {
            if (this.#over) return reject(new Error('the child process has died meanwhile'));
            this.#giving.set(name, { resolve, reject });
            this.#post({ to: 'child', give: name });
          }),
      );
    this.#given.set(name, given);
    return given;
  }

  send(message: ToThread): void {
    this.#post({ to: 'thread', message });
  }

  hold(awaited: boolean): void {
    // Who closes it waits for its end, whatever it still has to say.
    if (awaited || this.#ended) {
      this.#child.ref();
      this.#child.channel?.ref();
    } else {
      this.#child.unref();
      this.#child.channel?.unref();
    }
  }

  async close(): Promise<void> {
    if (this.#over) return;
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#end('the host was closed', false);
    this.#child.ref();
    await exited;
  }

  #post(message: ToChild): void {
    // An error means that the child has died, which its exit tells.
    if (!this.#over && this.#child.connected) this.#child.send(message, () => {});
  }

  #receive(message: FromChild): void {
    this.#heardMs = performance.now();
    if (message.from === 'thread') return this.#events.message(message.message);
    if ('given' in message) {
      const giving = this.#giving.get(message.given);
      this.#giving.delete(message.given);
      return message.error ? giving?.reject(fromPlainError(message.error)) : giving?.resolve();
    }
    if ('threadGone' in message) return this.#end(message.threadGone, true);
    if (message.turnMs > MAX_TURN_MS + TURN_GRACE_MS) this.#end(`one turn of a machine took ${Math.round(message.turnMs)} ms`, true);
  }

  #look(): void {
    const silentMs = performance.now() - this.#heardMs;
    if (silentMs > this.#options.silentMs) this.#end(`it was silent for ${Math.round(silentMs)} ms`, true);
  }

  #end(message: string, brokeDown: boolean): void {
    this.#ended ??= { message, brokeDown };
    this.#child.kill('SIGKILL');
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    const broke = signal ? BREAKDOWNS.has(signal) : code !== null && code > 0 && code !== SIGKILL_CODE && code !== SIGTERM_CODE;
    this.#gone(this.#ended ?? { message: `it ended with ${signal ?? `code ${code}`}`, brokeDown: broke });
  }

  #gone({ message, brokeDown }: Omit<Death, 'suspect'>): void {
    if (this.#over) return;
    this.#over = true;
    clearInterval(this.#watch);
    // A bubblewrap that is killed as it comes up leaves its other half alive: still in its group, or past that, with our channel.
    if (this.#options.jailed) killGroup(this.#child.pid);
    if (this.#child.connected) this.#child.disconnect();
    const suspect = turnInFile(this.#turnFile);
    closeSync(this.#turnFile);
    for (const { reject } of this.#giving.values()) reject(new Error(`the child process has died: ${message}`));
    this.#events.gone({ message: `the child process has died: ${message}`, brokeDown, suspect });
  }
}

function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // Nobody is left in it.
  }
}

function namelessFile(): number {
  const path = join(tmpdir(), `fermata-turn-${process.pid}-${Math.random().toString(36).slice(2)}`);
  const file = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return file;
}

const loading = new Map<string, Promise<unknown>>();

function loadedOnce(name: ImageName, cacheDir: string): Promise<unknown> {
  const key = `${name} ${cacheDir}`;
  const once = loading.get(key) ?? loadImage(name, cacheDir).then(() => undefined);
  loading.set(key, once);
  once.catch(() => loading.delete(key));
  return once;
}
