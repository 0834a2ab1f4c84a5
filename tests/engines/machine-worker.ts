/** The thread's side of {@link MachineThread}: runs programs, each to its end, as often as it is asked to. */
import { parentPort } from 'node:worker_threads';
import { loadImage, Machine } from '@fermata/machine';
import type { ImageName, Limits, Program } from '@fermata/protocol';
import { differences, drive, type Ending, newProgress, type Progress } from '../fidelity/drive.ts';
import { freshMachine, giveBack } from '../fidelity/instances.ts';
import { mulberry32 } from '../fidelity/mulberry32.ts';

/** Some seconds of a program. */
const LOOK_FUEL = 100_000_000;

export interface MachineWork {
  image: ImageName;
  program: Program;
  limits: Partial<Limits>;
  /** Processor time for each of the two runs; after it, the work fails with what was printed last. */
  maxCpuMs: number;
  /** How often to stop in the second run, at random. 0: there is no second run. */
  pauses: number;
  /** Which random places. */
  seed: number;
}

export interface MachineResult {
  ending: Ending;
  /** Milliseconds of processor time that the run without pauses took. */
  ms: number;
  /** Stops of the second run. */
  pauses: number;
  /** In what the second run differs from the first. */
  problems: string[];
}

async function work({ image: name, program, limits, maxCpuMs, pauses, seed }: MachineWork): Promise<MachineResult> {
  const image = await loadImage(name);
  const whole = freshMachine(image, limits);
  const started = cpuMs();
  const ending = toTheEnd(whole, program, newProgress(), maxCpuMs);
  const ms = cpuMs() - started;
  giveBack(whole);
  if (pauses === 0) return { ending, ms, pauses: 0, problems: [] };

  const random = mulberry32(seed);
  const marks = Array.from({ length: pauses }, () => Math.floor(random() * ending.fuel)).sort((a, b) => a - b);
  const progress = newProgress();
  let machine = freshMachine(image, limits);
  let made = 0;
  const result = (again: Ending): MachineResult => {
    giveBack(machine);
    return { ending, ms, pauses: made, problems: differences(ending, again).map((text) => `pauses at ${marks}: ${text}`) };
  };
  for (const mark of marks) {
    const early = drive(machine, program, progress, mark);
    // A stop may come a little late, and so not at all near the end.
    if (early) return result(early);
    const snapshot = machine.snapshot();
    giveBack(machine);
    machine = Machine.restore(image, snapshot, { trust: true }, () => freshMachine(image));
    made++;
  }
  return result(toTheEnd(machine, program, progress, maxCpuMs));
}

/** Of this thread. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function toTheEnd(machine: Machine, program: Program, progress: Progress, maxCpuMs: number): Ending {
  const end = cpuMs() + maxCpuMs;
  while (cpuMs() < end) {
    const ending = drive(machine, program, progress, machine.fuel + LOOK_FUEL);
    if (ending) return ending;
  }
  throw new Error(`not done within ${maxCpuMs / 1000} s of processor time; the last that it printed: ${progress.stdout.slice(-200)}`);
}

parentPort?.on('message', async (message: MachineWork) => {
  try {
    parentPort?.postMessage({ value: await work(message) });
  } catch (error) {
    parentPort?.postMessage({ error: (error as Error).stack ?? String(error) });
  }
});
