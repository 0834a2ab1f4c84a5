/** The thread in which rows run: a Worker, since machines need a large stack. It posts the report, and what there is to tell. */
import { parentPort, workerData } from 'node:worker_threads';
import { peers } from './peers/peer-module.ts';
import type { Report } from './report.ts';
import { ROWS } from './rows.ts';
import { runRow } from './run-row.ts';
import { surroundings } from './surroundings.ts';

const { only, rounds } = workerData as { only: readonly string[]; rounds: number | undefined };
const tell = (text: string) => parentPort?.postMessage({ told: text });

const failed: string[] = [];
const report: Report = { format: 'fermata-bench', version: 1, at: new Date().toISOString(), surroundings: surroundings(), peers: peers(), rows: [] };
for (const row of ROWS) {
  if (only.length > 0 && !only.includes(row.name)) continue;
  tell(`${row.name}: ${row.title}`);
  try {
    report.rows.push(await runRow(row, rounds ?? row.rounds, tell));
  } catch (error) {
    // What the others have measured is not lost for it.
    failed.push(row.name);
    tell(`${row.name}: ${error instanceof Error ? error.stack : error}`);
  }
}
parentPort?.postMessage({ report, failed });
