/** The thread in which rows run: a Worker, since machines need a large stack. It posts the report, and what there is to tell. */
import { parentPort, workerData } from 'node:worker_threads';
import { peers } from './peers/peer-module.ts';
import type { Report } from './report.ts';
import { ROWS } from './rows.ts';
import { runRow } from './run-row.ts';
import { surroundings } from './surroundings.ts';

const { only, rounds } = workerData as { only: readonly string[]; rounds: number | undefined };
const tell = (text: string) => parentPort?.postMessage({ told: text });

const report: Report = { format: 'fermata-bench', version: 1, at: new Date().toISOString(), surroundings: surroundings(), peers: peers(), rows: [] };
for (const row of ROWS) {
  if (only.length > 0 && !only.includes(row.name)) continue;
  tell(`${row.name}: ${row.title}`);
  report.rows.push(await runRow(row, rounds ?? row.rounds, tell));
}
parentPort?.postMessage({ report });
