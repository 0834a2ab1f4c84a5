/**
 * One process, one segment of each of some programs: restores their machines from files, runs them to a fuel mark, and
 * saves them again or reports their end. What a program did before reached this process by its file alone.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { loadImage, Machine } from '@fermata/machine';
import { imageOfLanguage, type Language } from '@fermata/protocol';
import { drive, type Ending, type Progress, programOf } from './drive.ts';
import { freshMachine, giveBack } from './instances.ts';

export interface Segment {
  language: Language;
  code: string;
  progress: Progress;
  /** Fuel at which to stop; null: at the end. */
  stopAt: number | null;
  file: string;
}

export type SegmentEnd = { ending: Ending } | { progress: Progress } | { error: string };

async function run({ language, code, progress, stopAt, file }: Segment): Promise<SegmentEnd> {
  try {
    const image = await images[imageOfLanguage[language]]();
    const fresh = () => freshMachine(image);
    const machine = existsSync(file) ? Machine.restore(image, readFileSync(file), { trust: true }, fresh) : fresh();
    const ending = drive(machine, programOf(language, code), progress, stopAt ?? Number.POSITIVE_INFINITY);
    if (!ending) writeFileSync(file, machine.snapshot());
    giveBack(machine);
    return ending ? { ending } : { progress };
  } catch (error) {
    return { error: (error as Error).stack ?? String(error) };
  }
}

const once = <T>(make: () => T): (() => T) => {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
};
const images = { cpython: once(() => loadImage('cpython')), quickjs: once(() => loadImage('quickjs')) };

const ends: SegmentEnd[] = [];
for (const segment of JSON.parse(readFileSync(0, 'utf8')) as Segment[]) ends.push(await run(segment));
process.stdout.write(JSON.stringify(ends));
