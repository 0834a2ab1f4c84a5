/**
 * `npm run cases`: plays the bug-report cases against the public library, in this process; those that need more (kills and
 * restarts, sessions, webhooks, failing disks) against a server in a process of its own.
 *
 *     --only ID,ID  only these cases     --served  all of them against a server     --json  one JSON object on stdout
 *
 * A case that needs what is not here is skipped by name, never passed. The bank lies beside the
 * repository, or where FERMATA_TEST_CASES says; without it everything is skipped, which fails where CI is set.
 */
import { parseArgs } from 'node:util';
import { type Case, readCases } from '../player/case-bank.ts';
import { missingFor, play, playServed } from '../player/play.ts';
import { Premises } from '../player/premises.ts';
import { plantSurroundings, type Surroundings } from '../player/surroundings.ts';

interface Verdict {
  id: string;
  verdict: 'passed' | 'failed' | 'skipped';
  reasons: string[];
}

const { values } = parseArgs({ options: { only: { type: 'string' }, served: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } } });
const say = (text: string) => (values.json ? process.stderr : process.stdout).write(`${text}\n`);
const only = values.only?.split(',');
const cases = readCases('bug-reports')?.filter(({ id }) => !only || only.includes(id));

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
  const missing = missingFor(one, values);
  if (missing.length > 0) return { id: one.id, verdict: 'skipped', reasons: [`needs ${missing.join(', ')}`] };
  await using premises = new Premises();
  const { problems: reasons } = values.served ? await playServed(one, surroundings) : await play(one, premises, surroundings);
  return { id: one.id, verdict: reasons.length > 0 ? 'failed' : 'passed', reasons };
}
