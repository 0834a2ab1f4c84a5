/** What the suite needs to know of an engine's own tests. */
import type { ImageName, Limits, Program } from '@fermata/protocol';
import type { Ending } from '../fidelity/drive.ts';
import type { Source } from './source.ts';

/** How one test ended. `is`: `ok`, `failed`, `error`, `skipped`, or `throws` and the name of the error. Details are not compared. */
export interface TestOutcome {
  is: string;
  detail?: string;
}

/** By test id. */
export type Outcomes = Record<string, TestOutcome>;

export interface EngineTests {
  image: ImageName;
  /** Modules in the order in which they are run. */
  modules(source: Source): string[];
  /** Modules of the source that are not run, and why. */
  leftOut(source: Source): Record<string, string>;
  /** The program that runs the module's tests in a machine. */
  program(source: Source, module: string): Program;
  limits: Partial<Limits>;
  /** What came of a program's tests, from what it printed. */
  outcomes(ending: Ending, module: string): Outcomes;
  /** Runs the module's tests under the unpatched native build. */
  reference(source: Source, module: string): Promise<Outcomes>;
}
