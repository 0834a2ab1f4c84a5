/** `fermata batch`: many tasks at once. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { FermataClient } from '@fermata/client';
import { FermataError } from '@fermata/protocol';
import type { BatchWire, CreateBatchWire, CreatedBatchWire } from '@fermata/protocol/wire';
import type { Command } from 'commander';
import { connect } from './connection.ts';
import { addConnectionOptions, type ConnectionOptions } from './connection-options.ts';
import { EXIT } from './exit-code.ts';
import { brief, columns, facts, print } from './print.ts';
import { readJsonLines } from './read-input.ts';
import { parseCount } from './units.ts';
import { withConnection } from './with-connection.ts';

type SubmitOptions = ConnectionOptions & { maxConcurrency?: number; wait?: boolean };
const LOOK_AGAIN_MS = 250;

export function addBatchCommand(batch: Command, done: (exitCode: number) => void): void {
  addConnectionOptions(batch.command('submit').description('submit tasks, one a line, each as POST /tasks takes it').argument('<file>', 'JSON lines, or - for standard input'))
    .option('--max-concurrency <n>', 'how many of them run at the same time', parseCount)
    .option('--wait', 'until all have ended; always so where no server runs them')
    .action(async (file: string, options: SubmitOptions) => done(await submit(file, options)));
  const about = (name: string, description: string) => addConnectionOptions(batch.command(name).description(description).argument('<batch>', 'its id'));
  about('get', 'how far a batch is, and its results').action(async (id: string, options: ConnectionOptions) =>
    done(
      await withConnection(options, async ({ batches }) => {
        const found = await whole(batches, id);
        print(options.json, found, () => batchText(found));
      }),
    ),
  );
  about('cancel', 'end all its tasks').action(async (id: string, options: ConnectionOptions) =>
    done(
      await withConnection(options, async ({ batches }) => {
        const now = await batches.cancel(id);
        print(options.json, now, () => batchText(now));
      }),
    ),
  );
}

async function submit(file: string, { maxConcurrency, wait, ...options }: SubmitOptions): Promise<number> {
  const tasks = (await readJsonLines(file)) as CreateBatchWire['tasks'];
  if (tasks.length === 0) throw new FermataError('invalid_request', `${file} has no tasks`);
  await using connection = await connect(options);
  const { batches } = connection.client;
  const made = await batches.create({ tasks, ...(maxConcurrency === undefined ? {} : { max_concurrency: maxConcurrency }) });
  if (!wait && !connection.store()) {
    print(options.json, made, () => made.batch_id);
    return EXIT.ok;
  }
  let stop = false;
  const interrupt = () => {
    stop = true;
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt);
  for (;;) {
    const now = await batches.get(made.batch_id, { limit: 1 });
    if (now.completed_at !== null || stop || !(await moves(connection.client, now))) break;
    await sleep(LOOK_AGAIN_MS);
  }
  const ended = await whole(batches, made.batch_id);
  print(options.json, ended, () => batchText(ended));
  if (ended.completed_at === null) {
    if (!options.json) process.stderr.write('The rest is kept: go on with fermata serve, or with fermata resume for each task.\n');
    return EXIT.waiting;
  }
  return ended.counts.succeeded === ended.total ? EXIT.ok : EXIT.failed;
}

/** Whether something of it goes on without anybody: it runs, or waits only for a time to come. */
async function moves({ tasks }: FermataClient, { batch_id, counts }: BatchWire): Promise<boolean> {
  if ((counts.pending ?? 0) + (counts.running ?? 0) > 0) return true;
  for (let cursor: string | undefined; (counts.waiting ?? 0) > 0; ) {
    const page = await tasks.list({ batch_id, status: 'waiting', limit: 200, ...(cursor === undefined ? {} : { cursor }) });
    for (const { task_id } of page.items) {
      const task = await tasks.get(task_id);
      if (!('waiting_for' in task) || (task.waiting_for ?? []).every(({ kind }) => kind === 'timer')) return true;
    }
    cursor = page.cursor;
    if (cursor === undefined) break;
  }
  return false;
}

/** With all its results. */
async function whole(batches: FermataClient['batches'], id: string): Promise<BatchWire> {
  const { cursor, ...batch } = await batches.get(id, { limit: 200 });
  for (let next = cursor; next !== undefined; ) {
    const page = await batches.get(id, { limit: 200, cursor: next });
    batch.results.push(...page.results);
    next = page.cursor;
  }
  return batch;
}

function batchText(batch: CreatedBatchWire | BatchWire): string {
  const { batch_id, total, counts, completed_at } = batch;
  const states = Object.entries(counts).filter(([, count]) => count > 0);
  const head = facts({ batch: batch_id, tasks: total, ...Object.fromEntries(states), completed: completed_at });
  if (!('results' in batch) || batch.results.length === 0) return head;
  return `${head}\n${columns(batch.results.map(({ task_id, status, output, error }) => [task_id, status, error ? `${error.code}: ${brief(error.message)}` : brief(output)]))}`;
}
