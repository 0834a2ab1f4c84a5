/** What the last run of each module came to, in the cache folder: written as modules end, and read for the report. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultCacheDir } from '@fermata/machine';
import type { ImageName } from '@fermata/protocol';
import type { Outcomes } from './engine-tests.ts';

export interface ModuleRun {
  module: string;
  reference: Outcomes;
  machine: Outcomes;
  /** Of the run without pauses. */
  ms: number;
  fuel: number;
  pauses: number;
  /** What pauses changed, or why the module could not be run. */
  problems: string[];
}

export class Results {
  readonly #file: string;
  readonly #runs: Map<string, ModuleRun>;

  constructor(image: ImageName) {
    const folder = join(defaultCacheDir(), 'engine-tests/results');
    mkdirSync(folder, { recursive: true });
    this.#file = join(folder, `${image}.json`);
    this.#runs = new Map(existsSync(this.#file) ? (JSON.parse(readFileSync(this.#file, 'utf8')) as ModuleRun[]).map((run) => [run.module, run]) : []);
  }

  of(module: string): ModuleRun | undefined {
    return this.#runs.get(module);
  }

  save(run: ModuleRun): void {
    this.#runs.set(run.module, run);
    writeFileSync(this.#file, JSON.stringify([...this.#runs.values()]));
  }
}
