import { existsSync, readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { imageOfLanguage, loadImage, Machine } from '@fermata/machine';
import { drive, programOf } from './drive.ts';

try {
  const { language, code, progress, stopAt, file } = workerData;
  const image = await loadImage(imageOfLanguage[language as 'python']);
  const machine = existsSync(file) ? Machine.restore(image, readFileSync(file), { trust: true }) : Machine.fresh(image);
  const ending = drive(machine, programOf(language, code), progress, stopAt ?? Number.POSITIVE_INFINITY);
  parentPort?.postMessage({ value: ending ? { ending } : { progress, snapshot: machine.snapshot() } });
} catch (error) {
  parentPort?.postMessage({ error: (error as Error).stack });
}
