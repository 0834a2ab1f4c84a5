/** Runs programs uninterrupted, one after the other; or one program with a stop and a new machine at each of many marks. */
import { parentPort, workerData } from 'node:worker_threads';
import { loadImage, Machine } from '@fermata/machine';
import { imageOfLanguage, type LimitsInput, type Program } from '@fermata/protocol';
import { differences, drive, type Ending, newProgress, programOf } from './drive.ts';
import type { TestProgram } from './programs.ts';

const NEW_INSTANCE_EVERY = 8;
const random = mulberry32(20261129);

try {
  const { programs, points, limits = {} } = workerData as { programs: TestProgram[]; points: number; limits?: LimitsInput };
  const results = [];
  for (const { id, language, code } of programs) {
    const image = await loadImage(imageOfLanguage[language]);
    const program = programOf(language, code);
    const ending = drive(Machine.fresh(image, limits), program, newProgress(), Number.POSITIVE_INFINITY) as Ending;
    results.push({ id, ending, ...(points > 0 ? stopped(Machine.fresh(image, limits), program, ending, points) : {}) });
  }
  parentPort?.postMessage({ value: results });
} catch (error) {
  parentPort?.postMessage({ error: (error as Error).stack });
}

/** The first fifth of the marks lie one check apart; where the program has fewer checks than marks, every check is one. */
function stopped(first: Machine, program: Program, whole: Ending, points: number) {
  const every = whole.fuel <= points;
  const close = every ? points : Math.floor(points / 5);
  // Half as many again as are wanted: fuel is used in lumps, and a step that ends inside of one stops only after it.
  const mean = Math.max(1, whole.fuel / (1.5 * Math.max(1, points - close)));
  const progress = newProgress();
  let machine = first;
  let stops = 0;
  let largest = 0;
  for (;;) {
    const step = stops < close ? 0 : 1 + Math.floor(random() * 2 * mean);
    const ending = drive(machine, program, progress, machine.fuel + step);
    if (ending) return { stops, every, largest, differences: differences(whole, ending) };
    const snapshot = machine.snapshot();
    largest = Math.max(largest, snapshot.length);
    stops++;
    // As hosts do, mostly onto the wiped instance of a machine that is gone; now and then onto one that is new altogether.
    const instance = stops % NEW_INSTANCE_EVERY === 0 ? undefined : machine.retire();
    machine = Machine.restore(first.image, snapshot, { trust: true }, () => Machine.fresh(first.image, {}, instance));
  }
}

function mulberry32(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
