/** A Worker of this process as a port. */

import { Worker } from 'node:worker_threads';
import type { ImageName } from '@fermata/protocol';
import type { Image } from '../wasm/image.ts';
import type { OpenPort, Port, PortEvents } from './port.ts';
import type { FromThread, ToThread } from './thread-messages.ts';
import { currentTurn, newTurnWord, type TurnWord } from './turn-word.ts';

/** Enough for the deepest recursion of any image. */
const STACK_MB = 64;

/** What a Worker is started with. */
export interface WorkerData {
  turn: TurnWord;
  /** [how many messages were posted to it]; it may wait for the next one here, without going back to its event loop. */
  mail: SharedArrayBuffer;
}

export type LoadImage = (name: ImageName) => Promise<Image>;

export function workerPorts(load: LoadImage): OpenPort {
  return (events) => new WorkerPort(load, events, newTurnWord());
}

export class WorkerPort implements Port {
  readonly #load: LoadImage;
  readonly #worker: Worker;
  readonly #turn: TurnWord;
  readonly #posted = new Int32Array(new SharedArrayBuffer(4));
  readonly #given = new Set<ImageName>();
  #closing = false;

  constructor(load: LoadImage, events: PortEvents, turn: TurnWord) {
    this.#load = load;
    this.#turn = turn;
    const entry = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url);
    // A Worker takes over the flags of the process. One that says how the main script is read does not fit its file; but a
    // list of one's own must not name the flags of V8, which hold for the whole process anyway.
    const own = process.execArgv.some((flag) => flag.startsWith('--input-type')) ? { execArgv: [] } : {};
    this.#worker = new Worker(entry, { ...own, resourceLimits: { stackSizeMb: STACK_MB }, stdin: false, workerData: { turn, mail: this.#posted.buffer } satisfies WorkerData });
    this.#worker.unref();
    this.#worker.on('message', (message: FromThread) => events.message(message));
    let ended = false;
    const gone = (message: string, brokeDown: boolean) => {
      if (ended) return;
      ended = true;
      events.gone({ message, brokeDown, suspect: currentTurn(turn)?.machine });
    };
    this.#worker.on('error', (error) => gone((error as Error).message, true));
    this.#worker.on('exit', () => gone('the thread ended', false));
  }

  /** How long the turn of a machine lasts by now, if one has it. */
  get turn(): { machine: number; sinceMs: number } | undefined {
    return currentTurn(this.#turn);
  }

  async give(name: ImageName): Promise<void> {
    if (this.#given.has(name)) return;
    const { manifest, module, files, base, baseState } = await this.#load(name);
    if (this.#given.has(name)) return;
    this.#given.add(name);
    this.send({ op: 'image', name, parts: { manifest, module, files, base, baseState } });
  }

  send(message: ToThread): void {
    this.#worker.postMessage(message);
    Atomics.add(this.#posted, 0, 1);
    Atomics.notify(this.#posted, 0);
  }

  hold(awaited: boolean): void {
    // Who closes it waits for its end, whatever it still has to say.
    if (awaited || this.#closing) this.#worker.ref();
    else this.#worker.unref();
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#worker.terminate();
  }
}
