/** A thread with the stack that machines need. It runs one program at a time, and is replaced by another when one breaks it or never comes to a fuel check. */
import { Worker } from 'node:worker_threads';
import type { MachineResult, MachineWork } from './machine-worker.ts';

/** Wall time that a program may take, in parts of the processor time that it may. */
const PATIENCE = 20;

export class MachineThread implements AsyncDisposable {
  #worker: Worker | undefined;
  #settle: { resolve: (result: MachineResult) => void; reject: (error: unknown) => void } | undefined;

  /** Rejects if the machine broke down, or the program was not done in time. */
  async run(work: MachineWork): Promise<MachineResult> {
    this.#worker ??= this.#begin();
    const { promise, resolve, reject } = Promise.withResolvers<MachineResult>();
    this.#settle = { resolve, reject };
    const timer = setTimeout(() => reject(new Error('no end, and no fuel check')), PATIENCE * work.maxCpuMs);
    try {
      this.#worker.postMessage(work);
      return await promise;
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #begin(): Worker {
    const worker = new Worker(new URL('./machine-worker.ts', import.meta.url), { resourceLimits: { stackSizeMb: 64 } });
    worker.on('message', (message) => ('error' in message ? this.#settle?.reject(new Error(message.error)) : this.#settle?.resolve(message.value)));
    worker.on('error', (error) => this.#settle?.reject(error));
    return worker;
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
