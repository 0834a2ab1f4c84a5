/** Runs programs uninterrupted, one after the other; or one program with a stop and a new machine at each of many marks. */
import { parentPort, workerData } from 'node:worker_threads';
import { loadImage, Machine } from '@fermata/machine';
import { imageOfLanguage, type Limits } from '@fermata/protocol';
import { drive, type Ending, newProgress, programOf } from './drive.ts';
import { freshMachine, giveBack } from './instances.ts';
import type { TestProgram } from './programs.ts';
import { stopped } from './stopped.ts';

try {
  const { programs, points, limits = {} } = workerData as { programs: TestProgram[]; points: number; limits?: Partial<Limits> };
  const results = [];
  for (const { id, language, code } of programs) {
    const image = await loadImage(imageOfLanguage[language]);
    const program = programOf(language, code);
    const whole = freshMachine(image, limits);
    const ending = drive(whole, program, newProgress(), Number.POSITIVE_INFINITY) as Ending;
    giveBack(whole);
    results.push({ id, ending, ...(points > 0 ? stopped(Machine.fresh(image, limits), program, ending, points) : {}) });
  }
  parentPort?.postMessage({ value: results });
} catch (error) {
  parentPort?.postMessage({ error: (error as Error).stack });
}
