/** Plays one case: its scenario, or else from its submission to its end. */
import type { Case } from './case-bank.ts';
import type { Evidence } from './judge.ts';
import type { Premises } from './premises.ts';
import { Stage } from './stage.ts';
import type { Surroundings } from './surroundings.ts';

/** Steps that need more than a library. */
const NEEDS: Record<string, string> = {
  session: 'sessions',
  workers: 'workers',
  servers: 'several servers',
  kill: 'a process of its own that can be killed, and the durable engine',
  webhook: 'webhooks',
  fail_next_snapshot_write: 'a store of snapshots',
};
const OUR_ENGINE = 'js-wasm';

export interface Played {
  /** What is wrong, in words; nothing if all is right. */
  problems: string[];
  /** Of every end that the case's own program came to. */
  evidence: Evidence[];
}

export async function play(one: Case, premises: Premises, surroundings: Surroundings): Promise<Played> {
  const stage = new Stage(one, premises, surroundings);
  try {
    for (const step of one.scenario ?? [{ submit: true }, { wait: 'final' }]) await Stage.steps[kindOf(step)]?.(stage, step);
    await stage.conclude();
  } catch (error) {
    stage.problems.push(`the case could not be played: ${(error as Error).stack}`);
  }
  return stage;
}

/** What a case needs and is not here; nothing for one that can be played. */
export function missingFor({ language, engines, scenario = [] }: Case): string[] {
  if (language === 'bash' || (engines && !engines.includes(OUR_ENGINE))) return ['a native engine'];
  const unknown = scenario.map(kindOf).filter((kind) => !Stage.steps[kind]);
  return [...new Set(unknown.map((kind) => NEEDS[kind] ?? kind))];
}

function kindOf(step: object): string {
  return Object.keys(step)[0] ?? '';
}
