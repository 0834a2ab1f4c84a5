/**
 * `npm run bench`: measures Fermata against its peers, in one run.
 *
 *   --only NAME    only this row; repeatable
 *   --rounds N     rounds per row, in place of each row's own number
 *   --json         the report on stdout (report.ts); else tables
 *   --save         also keeps the report as results/latest.json; with --only it takes the place of these rows in there
 *   --docs         measures nothing: makes docs/benchmarks.md from results/latest.json
 *   --no-install   does not install the peers that are not there
 *
 * What is told on the way goes to stderr.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { installPeers } from './install.ts';
import { benchmarksPage, rowTable } from './page.ts';
import type { Report } from './report.ts';
import { ROWS } from './rows.ts';

const LATEST = new URL('results/latest.json', import.meta.url);
const PAGE = fileURLToPath(new URL('../docs/benchmarks.md', import.meta.url));
/** Enough for the deepest recursion of any image. */
const STACK_MB = 64;

const ROW_NAMES = ROWS.map(({ name }) => name);

const tell = (text: string) => process.stderr.write(`${text}\n`);

function options() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: [] },
      rounds: { type: 'string' },
      json: { type: 'boolean', default: false },
      save: { type: 'boolean', default: false },
      docs: { type: 'boolean', default: false },
      'no-install': { type: 'boolean', default: false },
    },
  });
  const unknown = values.only.find((name) => !ROW_NAMES.includes(name));
  if (unknown !== undefined) throw new Error(`there is no row ${unknown}; the rows are ${ROW_NAMES.join(', ')}`);
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0)) throw new Error('--rounds wants a whole number above zero');
  return { ...values, rounds };
}

function measured(only: readonly string[], rounds: number | undefined): Promise<{ report: Report; failed: string[] }> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('bench-thread.ts', import.meta.url), { workerData: { only, rounds }, resourceLimits: { stackSizeMb: STACK_MB } });
    worker.on('message', ({ told, report, failed = [] }: { told?: string; report?: Report; failed?: string[] }) => {
      if (!report) return tell(told ?? '');
      resolve({ report, failed });
      void worker.terminate();
    });
    worker.on('error', reject);
    worker.on('exit', () => reject(new Error('the bench thread ended without a report')));
  });
}

/** Rows of the newer report in the place of those in the older one. Both must be of one machine. */
function merged(older: Report, newer: Report): Report {
  const machine = ({ surroundings: { pageFaultUs: _, ...rest } }: Report) => rest;
  if (!isDeepStrictEqual(machine(older), machine(newer))) throw new Error('the kept report is of another machine; measure all rows');
  const rows = [...newer.rows, ...older.rows];
  return { ...older, rows: ROW_NAMES.flatMap((name) => rows.find((row) => row.name === name) ?? []) };
}

function latest(): Report {
  return JSON.parse(readFileSync(LATEST, 'utf8')) as Report;
}

function asText(report: Report): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}

async function main(): Promise<void> {
  const { only, rounds, json, save, docs, 'no-install': noInstall } = options();
  if (docs) return writeFileSync(PAGE, benchmarksPage(latest()));
  if (!noInstall) installPeers(tell);
  const { report, failed } = await measured(only, rounds);
  if (save) writeFileSync(LATEST, asText(only.length > 0 ? merged(latest(), report) : report));
  if (failed.length > 0) {
    tell(`bench: not measured: ${failed.join(', ')}`);
    process.exitCode = 2;
  }
  process.stdout.write(json ? asText(report) : `${report.rows.map(rowTable).join('\n\n')}\n`);
}

try {
  await main();
} catch (error) {
  tell(`bench: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 2;
}
