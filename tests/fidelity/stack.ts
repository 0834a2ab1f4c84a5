/** Runs a module of this folder on a thread with the stack that machines need, and gives back what it posts. */
import { Worker } from 'node:worker_threads';

export function onDeepStack<T>(module: string, workerData: unknown): Promise<T> {
  const worker = new Worker(new URL(module, import.meta.url), { workerData, resourceLimits: { stackSizeMb: 64 } });
  return new Promise((resolve, reject) => {
    worker.on('message', (message) => ('error' in message ? reject(new Error(message.error)) : resolve(message.value)));
    worker.on('error', reject);
    worker.on('exit', () => reject(new Error('the thread ended without a word')));
  });
}
