/**
 * `npm run cases`: plays the bug-report cases against the public library, in this process.
 *
 *     --only ID,ID  only these cases        --json  one JSON object on stdout
 *
 * A case that needs what the library alone does not have is skipped by name, never passed. The bank lies beside the
 * repository, or where FERMATA_TEST_CASES says; without it everything is skipped, which fails where CI is set.
 */
import { parseArgs } from 'node:util';
import { type Case, readCases } from './case-bank.ts';
import { Stage } from './stage.ts';
import { plantSurroundings, type Surroundings } from './surroundings.ts';

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

interface Verdict {
  id: string;
  verdict: 'passed' | 'failed' | 'skipped';
  reasons: string[];
}

const { values } = parseArgs({ options: { only: { type: 'string' }, json: { type: 'boolean', default: false } } });
const say = (text: string) => (values.json ? process.stderr : process.stdout).write(`${text}\n`);
const only = values.only?.split(',');
const cases = readCases()?.filter(({ id }) => !only || only.includes(id));

if (!cases) {
  say('SKIPPED: the case bank is not here; FERMATA_TEST_CASES names its folder');
  process.exitCode = process.env.CI ? 1 : 0;
} else {
  const verdicts: Verdict[] = [];
  await using surroundings = await plantSurroundings();
  for (const one of cases) {
    const verdict = await verdictOn(one, surroundings);
    verdicts.push(verdict);
    say([`${verdict.verdict.padEnd(7)} ${verdict.id}`, ...verdict.reasons].join('\n        '));
  }
  const count = (wanted: Verdict['verdict']) => verdicts.filter(({ verdict }) => verdict === wanted).length;
  const [passed, failed, skipped] = [count('passed'), count('failed'), count('skipped')];
  say(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  if (values.json) process.stdout.write(`${JSON.stringify({ passed, failed, skipped, cases: verdicts })}\n`);
  process.exitCode = failed > 0 || cases.length === 0 ? 1 : 0;
}

async function verdictOn(one: Case, surroundings: Surroundings): Promise<Verdict> {
  const missing = missingFor(one);
  if (missing.length > 0) return { id: one.id, verdict: 'skipped', reasons: [`needs ${missing.join(', ')}`] };
  const reasons = await play(one, surroundings).catch((error: Error) => [`the case could not be played: ${error.stack}`]);
  return { id: one.id, verdict: reasons.length > 0 ? 'failed' : 'passed', reasons };
}

async function play(one: Case, surroundings: Surroundings): Promise<string[]> {
  await using stage = new Stage(one, surroundings);
  for (const step of one.scenario ?? [{ submit: true }, { wait: 'final' }]) await Stage.steps[kindOf(step)]?.(stage, step);
  await stage.conclude();
  return stage.problems;
}

function missingFor({ language, engines, scenario = [] }: Case): string[] {
  if (language === 'bash' || (engines && !engines.includes(OUR_ENGINE))) return ['a native engine'];
  const unknown = scenario.map(kindOf).filter((kind) => !Stage.steps[kind]);
  return [...new Set(unknown.map((kind) => NEEDS[kind] ?? kind))];
}

function kindOf(step: object): string {
  return Object.keys(step)[0] ?? '';
}
