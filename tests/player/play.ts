/** Plays one case: its scenario, or else from its submission to its end; against the library, or a server in a process of its own. */
import type { Case, ScenarioStep } from './case-bank.ts';
import type { Evidence } from './judge.ts';
import type { Premises } from './premises.ts';
import { ServedStage } from './served-stage.ts';
import { Stage } from './stage.ts';
import type { Surroundings } from './surroundings.ts';

const OUR_ENGINE = 'js-wasm';

export interface Played {
  /** What is wrong, in words; nothing if all is right. */
  problems: string[];
  /** Of every end that the case's own program came to. */
  evidence: Evidence[];
}

export async function play(one: Case, premises: Premises, surroundings: Surroundings): Promise<Played> {
  if (!canBe(one, Stage.steps)) return playServed(one, surroundings);
  const stage = new Stage(one, premises, surroundings);
  try {
    for (const step of stepsOf(one)) await Stage.steps[kindOf(step)]?.(stage, step);
    await stage.conclude();
  } catch (error) {
    stage.problems.push(`the case could not be played: ${(error as Error).stack}`);
  }
  return stage;
}

/** The same on a server that can be killed. */
export async function playServed(one: Case, surroundings: Surroundings): Promise<Played> {
  await using stage = new ServedStage(one, surroundings);
  try {
    await stage.open();
    for (const step of stepsOf(one)) await ServedStage.steps[kindOf(step)]?.(stage, step);
    await stage.conclude();
  } catch (error) {
    stage.problems.push(`the case could not be played: ${(error as Error).stack}`);
  }
  return stage;
}

/** What a case needs and is not here; nothing for one that can be played. */
export function missingFor(one: Case, { served = false } = {}): string[] {
  const { language, engines } = one;
  if (language === 'bash' || (engines && !engines.includes(OUR_ENGINE))) return ['a native engine'];
  if (canBe(one, ServedStage.steps) || (!served && canBe(one, Stage.steps))) return [];
  const unknown = stepsOf(one)
    .map(kindOf)
    .filter((kind) => !ServedStage.steps[kind]);
  return [...new Set(unknown)];
}

const stepsOf = ({ scenario = [{ submit: true }, { wait: 'final' }] }: Case) => scenario as ScenarioStep[];
const canBe = (one: Case, steps: Record<string, unknown>) => stepsOf(one).every((step) => steps[kindOf(step)]);

function kindOf(step: object): string {
  return Object.keys(step)[0] ?? '';
}
