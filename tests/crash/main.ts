/**
 * `npm run crash`: kills an engine again and again while it works, and shows that nothing is lost, wrong or done twice.
 *
 *     --kills N   how often (default: 200)     --host threads|processes (default: threads)     --json   one JSON object on stdout
 *     --tasks N   tasks that are under way at the same time (default: 12)     --seed N   which kills (default: by the clock)
 *
 * Every second kill comes at a random time, the others at a named moment: before and after each commit of a journal, each
 * checkpoint, each tool, each result, each delivery and each webhook. In every fifth life the disk is slow. Whoever submits and
 * decides lives on in this process, and asks again when an answer did not come; so do the receiver of webhooks, and the effects
 * of tools, in a file of their own.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Ordeal } from './ordeal.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    host: { type: 'string', default: 'threads' },
    tasks: { type: 'string', default: '12' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    json: { type: 'boolean', default: false },
  },
});
const { host } = values;
if (host !== 'threads' && host !== 'processes') throw new Error('--host is threads or processes');
const say = (text: string) => process.stderr.write(`${text}\n`);
const root = mkdtempSync(join(tmpdir(), 'fermata-crash-'));
say(`seed ${values.seed}`);
const ordeal = new Ordeal({ folder: join(root, 'data'), host, kills: Number(values.kills), atOnce: Number(values.tasks), seed: Number(values.seed), say });
const findings = await ordeal.run();
const { kills, perMoment, tasks, unknown, webhooks, recoveryMs, wrong } = findings;
const recovery = [...recoveryMs].sort((a, b) => a - b);
const quantile = (q: number) => Math.round(recovery[Math.min(recovery.length - 1, Math.floor(q * recovery.length))] ?? 0);
say(`${kills} kills, ${tasks} tasks: ${wrong.length} lost, wrong or done twice; ${unknown.asked} outcomes unknown (${unknown.happened} of them had happened)`);
say(`${webhooks.received} webhooks of ends, ${webhooks.repeated} of them repeated`);
say(
  Object.entries(perMoment)
    .map(([moment, count]) => `${moment} ${count}`)
    .join(', '),
);
say(`taken over within ${quantile(0.5)} ms (median), ${quantile(0.95)} ms (p95)`);
for (const text of wrong.slice(0, 20)) say(`WRONG ${text}`);
if (values.json)
  process.stdout.write(`${JSON.stringify({ node: process.version, host, seed: Number(values.seed), ...findings, recoveryMs: { p50: quantile(0.5), p95: quantile(0.95) } })}\n`);
if (wrong.length === 0) rmSync(root, { recursive: true });
else say(`kept: ${root}`);
process.exitCode = wrong.length === 0 ? 0 : 1;
