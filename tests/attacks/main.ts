/**
 * `npm run attacks`: plays hostile programs against the public library, those of the case bank and those of `own/`, and asks
 * of each the one outcome that is written down for it. All of them meet the same Fermata, as they would on a server.
 *
 *     --only ID,ID   only these attacks      --host threads|processes   where machines live (default: processes)
 *     --own          those of `own/` only    --json                     one JSON object on stdout
 *     --quick        without those that only a clock ends, or that are made to be large
 *
 * The bank lies beside the repository, or where FERMATA_TEST_CASES says; without it, which fails where CI is set, only our
 * own attacks are played. What is for native engines only is skipped by name.
 */
import { parseArgs } from 'node:util';
import { type Case, readCases } from '../player/case-bank.ts';
import { type Evidence, judge } from '../player/judge.ts';
import { missingFor, type Played, play } from '../player/play.ts';
import { Premises } from '../player/premises.ts';
import { SEES_PROCESSES } from '../player/processes.ts';
import { plantSurroundings } from '../player/surroundings.ts';
import { Aftermath } from './aftermath.ts';
import { EXPECTED } from './expected.ts';
import { KNOWN_SHORT } from './known-short.ts';
import { OWN_ATTACKS } from './own/index.ts';

interface Verdict {
  id: string;
  verdict: 'contained' | 'failed' | 'short' | 'skipped';
  reasons: string[];
  tookMs: number;
}

/** Wall time for a program that does not end by the clock: a slow machine must not make it do so. */
const PATIENCE_MS = 300_000;
/** Whose work is large, not endless. */
const LARGE = /^atk-118$|-(huge|many|tiny|scattered)-/;

const options = {
  only: { type: 'string' },
  host: { type: 'string', default: 'processes' },
  own: { type: 'boolean', default: false },
  quick: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const;
const { values } = parseArgs({ options });
const say = (text: string) => (values.json ? process.stderr : process.stdout).write(`${text}\n`);
if (values.host !== 'threads' && values.host !== 'processes') throw new Error(`--host: threads or processes, not ${values.host}`);

const only = values.only?.split(',');
const bank = values.own ? [] : readCases('attacks');
if (!bank) say('SKIPPED: the case bank is not here; FERMATA_TEST_CASES names its folder');
if (!SEES_PROCESSES) say('SKIPPED: processes that were left over cannot be seen on this system');
const own = OWN_ATTACKS.map(({ outcome, ...attack }): Case => ({ expect: {}, ...attack, exact: outcome.exact }));
const attacks = [...(bank ?? []).map(fromBank), ...own].filter((attack) => (!only || only.includes(attack.id)) && !(values.quick && isSlow(attack)));

const verdicts: Verdict[] = [];
const atTheEnd: string[] = [];
{
  await using surroundings = await plantSurroundings();
  const aftermath = new Aftermath(surroundings);
  {
    await using premises = new Premises({ host: values.host });
    await premises.fermata.prepare();
    aftermath.begin();
    for (const attack of attacks) {
      const verdict = await verdictOn(attack, premises, aftermath);
      verdicts.push(verdict);
      say([`${verdict.verdict.padEnd(9)} ${verdict.id.padEnd(30)} ${(verdict.tookMs / 1000).toFixed(1)} s`, ...verdict.reasons].join('\n          '));
    }
  }
  atTheEnd.push(...(await aftermath.problemsAtTheEnd()));
  for (const problem of atTheEnd) say(`at the end: ${problem}`);
  say(
    `trap log: ${surroundings.trapped} entries; canaries: ${surroundings.damage().join(', ') || 'intact'}; process ${process.pid} grew by ${Math.round(aftermath.grownBytes / 2 ** 20)} MiB`,
  );
}

const count = (wanted: Verdict['verdict']) => verdicts.filter(({ verdict }) => verdict === wanted).length;
const [contained, failed, short, skipped] = [count('contained'), count('failed'), count('short'), count('skipped')];
say(`${contained} contained with the exact outcome, ${failed} failed, ${short} known to fall short, ${skipped} skipped; host: ${values.host}`);
if (values.json) process.stdout.write(`${JSON.stringify({ contained, failed, short, skipped, atTheEnd, attacks: verdicts })}\n`);
const nothingDone = attacks.length === 0 || (!bank && process.env.CI);
process.exitCode = failed > 0 || atTheEnd.length > 0 || nothingDone ? 1 : 0;

function isSlow({ id, exact }: Case): boolean {
  return exact?.code === 'timeout' || exact?.code === 'cpu_limit' || LARGE.test(id);
}

function fromBank(one: Case): Case {
  const outcome = EXPECTED[one.id];
  if (!outcome) return one;
  const { exact, without } = outcome;
  const limits = exact.code === 'timeout' ? {} : { timeout_ms: PATIENCE_MS };
  const expect = Object.fromEntries(Object.entries(one.expect).filter(([name]) => !without.includes(name)));
  return { ...one, limits: { ...one.limits, ...limits }, expect, exact };
}

async function verdictOn(attack: Case, premises: Premises, aftermath: Aftermath): Promise<Verdict> {
  const { id, exact } = attack;
  const missing = missingFor(attack);
  if (missing.length > 0) return { id, verdict: 'skipped', reasons: [`needs ${missing.join(', ')}`], tookMs: 0 };
  const beganMs = performance.now();
  const played = await play(attack, premises, aftermath.surroundings);
  const after = await aftermath.problems(premises);
  const tookMs = performance.now() - beganMs;
  if (!exact) after.push(`no outcome is written down for it; it came to ${played.evidence.map(inWords).join(', ')}`);
  const short = KNOWN_SHORT[id];
  if (!short || after.length > 0) return { id, verdict: verdictOf([...played.problems, ...after]), reasons: [...played.problems, ...after], tookMs };
  const reasons = shortfall(attack, played);
  return { id, verdict: reasons.length > 0 ? 'failed' : 'short', reasons: reasons.length > 0 ? reasons : [short.why], tookMs };
}

function inWords({ answer: { status, code, name, stdout, error, output } }: Evidence): string {
  return JSON.stringify({ status, code, name, stdout: stdout.slice(0, 500), error: error.slice(0, 500), output: JSON.stringify(output)?.slice(0, 200) });
}

function verdictOf(problems: readonly string[]): 'contained' | 'failed' {
  return problems.length > 0 ? 'failed' : 'contained';
}

/** What is wrong with an attack that is known to fall short: that it does not, or that it does so in another way. */
function shortfall({ id, expect, exact }: Case, { problems, evidence }: Played): string[] {
  if (problems.length === 0) return ['it is contained as it should be now: take it off the list of those that fall short'];
  const { without = [], instead = {} } = KNOWN_SHORT[id] ?? {};
  const right = Object.entries({ ...expect, ...exact }).filter(([name]) => !without.includes(name));
  const wanted = { ...Object.fromEntries(right), ...instead };
  return evidence.length === 0 ? problems : evidence.flatMap((one) => judge(wanted, one));
}
