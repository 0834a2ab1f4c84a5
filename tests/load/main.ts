/**
 * `npm run load`: many programs at once, on this machine, and what becomes of them.
 *
 *     --only many|tiny|kills|parked|parked-tasks|overload   one of them (default: all)     --host threads|processes (default: processes)
 *     --size N   programs (kills: kills; overload: tasks that are sent) in place of the usual number     --json   one JSON object on stdout
 *
 * Each says what it measured and what was wanted; a program that is lost or wrong fails the run, a slow one does not,
 * because how fast this machine is says nothing about the product.
 */
import { parseArgs } from 'node:util';
import { kills } from './kills.ts';
import { many } from './many.ts';
import { overload } from './overload.ts';
import { parked } from './parked.ts';
import { parkedTasks } from './parked-tasks.ts';
import { tiny } from './tiny.ts';

export interface Load {
  host: 'threads' | 'processes';
  /** How many programs, or undefined for the usual number. */
  size: number | undefined;
  say: (text: string) => void;
}

/** What an experiment found. `wrong`: programs that did not come out as they must. */
export interface Findings {
  wrong: string[];
  measured: Record<string, number>;
  wanted: string;
  met: boolean;
}

const EXPERIMENTS: Record<string, (load: Load) => Promise<Findings>> = { many, tiny, kills, parked, 'parked-tasks': parkedTasks, overload };

const { values } = parseArgs({
  options: { only: { type: 'string' }, host: { type: 'string', default: 'processes' }, size: { type: 'string' }, json: { type: 'boolean', default: false } },
});
const say = (text: string) => process.stderr.write(`${text}\n`);
const host = values.host;
if (host !== 'threads' && host !== 'processes') throw new Error('--host is threads or processes');
if (values.only !== undefined && !EXPERIMENTS[values.only]) throw new Error(`--only is one of ${Object.keys(EXPERIMENTS).join(', ')}`);

const found: Record<string, Findings> = {};
for (const [name, experiment] of Object.entries(EXPERIMENTS)) {
  if (values.only !== undefined && values.only !== name) continue;
  say(`${name} (${host})`);
  const findings = await experiment({ host, size: values.size === undefined ? undefined : Number(values.size), say: (text) => say(`  ${text}`) });
  found[name] = findings;
  say(
    `  ${Object.entries(findings.measured)
      .map(([what, value]) => `${what} ${Math.round(value * 100) / 100}`)
      .join(', ')}`,
  );
  say(`  wanted: ${findings.wanted}: ${findings.met ? 'met' : 'NOT MET'}`);
  for (const wrong of findings.wrong.slice(0, 10)) say(`  WRONG ${wrong}`);
}
if (values.json) process.stdout.write(`${JSON.stringify({ host, node: process.version, found })}\n`);
process.exitCode = Object.values(found).some(({ wrong }) => wrong.length > 0) ? 1 : 0;
