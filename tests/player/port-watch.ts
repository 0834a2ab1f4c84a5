/** Tries a port of this machine again and again, to see whether a program has opened it. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 100;

export class PortWatch {
  readonly #port: number;
  #wasOpen = false;
  #ended = false;
  readonly #watching: Promise<void>;

  constructor(port: number) {
    this.#port = port;
    this.#watching = this.#watch();
  }

  /** Whether anybody has answered there. */
  async end(): Promise<boolean> {
    this.#ended = true;
    await this.#watching;
    return this.#wasOpen;
  }

  async #watch(): Promise<void> {
    do {
      this.#wasOpen ||= await isOpen(this.#port);
      await sleep(EVERY_MS);
    } while (!this.#ended);
  }
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
