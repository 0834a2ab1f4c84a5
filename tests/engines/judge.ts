/** A module's run, set beside its reference. */
import { compare, type Difference } from './compare.ts';
import type { KnownDifference } from './known-differences.ts';
import type { ModuleRun } from './results.ts';

export interface Judged {
  module: string;
  tests: number;
  same: number;
  differences: Difference[];
  ms: number;
  pauses: number;
  problems: string[];
  ok: boolean;
}

export function judge(explanations: readonly KnownDifference[], { module, reference, machine, ms, pauses, problems }: ModuleRun): Judged {
  const { tests, differences } = compare(explanations, module, reference, machine);
  const ok = problems.length === 0 && differences.every(({ known }) => known);
  return { module, tests, same: tests - differences.length, differences, ms, pauses, problems, ok };
}

/** The modules of one engine, in numbers. */
export interface Totals {
  modules: number;
  tests: number;
  same: number;
  explained: number;
  unexplained: number;
  /** Modules that ran again with pauses, and how many. */
  paused: number;
  pauses: number;
  /** Modules that pauses changed, or that could not be run. */
  problems: number;
}

export function totalsOf(judged: readonly Judged[]): Totals {
  const sum = (count: (one: Judged) => number) => judged.reduce((total, one) => total + count(one), 0);
  return {
    modules: judged.length,
    tests: sum(({ tests }) => tests),
    same: sum(({ same }) => same),
    explained: sum(({ differences }) => differences.filter(({ known }) => known).length),
    unexplained: sum(({ differences }) => differences.filter(({ known }) => !known).length),
    paused: sum(({ pauses }) => (pauses > 0 ? 1 : 0)),
    pauses: sum(({ pauses }) => pauses),
    problems: sum(({ problems }) => (problems.length > 0 ? 1 : 0)),
  };
}
