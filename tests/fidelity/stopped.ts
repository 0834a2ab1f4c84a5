/** One program with a stop and a new machine at each of many marks: what differs from the uninterrupted run, and how late stops came. */
import { Machine } from '@fermata/machine';
import type { Program } from '@fermata/protocol';
import { differences, drive, type Ending, newProgress } from './drive.ts';
import { freshMachine, giveBack } from './instances.ts';
import { mulberry32 } from './mulberry32.ts';

/**
 * A stop must come within so much of the machine's own time, which is what a pause may take: a program that is stopped
 * hardly ever, or only at its end, is identical without proving anything. What makes stops late are single operations on
 * many values, and code under a guard, which takes fuel and cannot stop.
 */
const LATEST_MS = 20;
/** So many of the points that are spread over the program must lie apart, and not where no stop is possible. */
const FEWEST = 0.05;
const random = mulberry32(20261129);

export interface Stopped {
  stops: number;
  /** Whether the program was stopped at each check that it has. */
  every: boolean;
  /** Bytes of the largest snapshot. */
  largest: number;
  /** The most fuel that was used after a stop was asked for, until it came or the program ended. */
  latest: number;
  /** What differs from the uninterrupted run, and stops that were put off. */
  problems: string[];
}

/** The first fifth of the marks lie one check apart; where the program has fewer checks than that, every check is one. */
export function stopped(first: Machine, program: Program, whole: Ending, points: number): Stopped {
  const close = whole.fuel <= points ? points : Math.floor(points / 5);
  // A tenth more than are wanted, since the last ones may not come before the end.
  const mean = Math.max(1, whole.fuel / (1.1 * Math.max(1, points - close)));
  const progress = newProgress();
  let machine = first;
  let [stops, apart, mark, largest, latest] = [0, 0, 0, 0, 0];
  const putOff = () => {
    const most = (LATEST_MS * 1e6) / first.image.manifest.nsPerFuel;
    return [
      ...(latest > most ? [`a stop came ${latest} fuel after it was asked for, and may take ${most}`] : []),
      ...(stops >= close && apart < FEWEST * (points - close) ? [`${apart} stops lie apart, where ${points - close} were to be spread`] : []),
    ];
  };
  for (;;) {
    // Fuel is used in lumps: marks inside of one lead each to a stop of its own, at the checks after it.
    mark = stops < close ? machine.fuel : mark + 1 + Math.floor(random() * 2 * mean);
    const asked = Math.max(mark, machine.fuel);
    if (asked > machine.fuel) apart++;
    const ending = drive(machine, program, progress, asked);
    latest = Math.max(latest, machine.fuel - asked);
    if (ending) return { stops, every: stops < close, largest, latest, problems: [...differences(whole, ending), ...putOff()] };
    const snapshot = machine.snapshot();
    largest = Math.max(largest, snapshot.length);
    stops++;
    giveBack(machine);
    machine = Machine.restore(first.image, snapshot, { trust: true }, () => freshMachine(first.image));
  }
}
