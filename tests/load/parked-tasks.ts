/** Ten thousand durable tasks that wait for somebody: what they cost a server, and how soon one of them is found and goes on. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoryServer } from '../stories/story-server.ts';
import type { Findings, Load } from './main.ts';
import { percentile } from './programs.ts';

const MiB = 1024 * 1024;
const AT_ONCE = 500;
const LOOKS = 20;
/** What the process gives back, it has given back by then. */
const SETTLED_MS = 10_000;
const CODE = 'const kept = Array(100).fill(input); const more = await tools.person({ n: input }); return more + kept.length';

export async function parkedTasks({ host, size = 10_000, say }: Load): Promise<Findings> {
  await using server = await StoryServer.start({ host, prepared: true });
  const client = server.client();
  await client.tools.add({ kind: 'client', name: 'person' });
  const task = (input: number) => ({ language: 'javascript' as const, code: CODE, input });
  // All code has run once before anything is measured.
  const first = await client.tasks.create(task(-1));
  await client.answerTools(first, { person: ({ n }) => n });
  await sleep(Math.min(SETTLED_MS, size));
  const before = await server.memory({ atRest: true });

  const ids: string[] = [];
  while (ids.length < size) {
    const tasks = Array.from({ length: Math.min(AT_ONCE, size - ids.length) }, (_, i) => task(ids.length + i));
    const batch = await client.batches.create({ tasks });
    ids.push(...batch.task_ids);
    let waiting = 0;
    while (waiting < tasks.length) {
      await sleep(50);
      waiting = (await client.batches.get(batch.batch_id, { limit: 1 })).counts.waiting ?? 0;
    }
    if (ids.length % 2500 === 0) say(`${ids.length} parked`);
  }
  await sleep(Math.min(SETTLED_MS, size));
  const busy = (await server.memory()).rss;
  const after = await server.memory({ atRest: true });
  const stored = bytesIn(server.folder);

  // The same tasks in a process that has not made them.
  await server.kill();
  await server.start({ host, prepared: true });
  const again = server.client();
  const restarted = await server.memory({ atRest: true });

  const wrong: string[] = [];
  const listing = await timed(LOOKS, async () => {
    const { items } = await again.tasks.list({ status: 'waiting', limit: 50 });
    if (items.length !== Math.min(50, size)) wrong.push(`the list has ${items.length} tasks`);
  });
  const resuming = await timed(Math.min(LOOKS, size), async (n) => {
    const number = Math.floor((n * size) / Math.min(LOOKS, size));
    const id = ids[number] as string;
    const [call] = await again.calls.list(id);
    await again.calls.result(id, call?.call_id as string, { output: number });
    const ended = await again.tasks.wait(id);
    if (ended.status !== 'succeeded' || ended.result.output !== number + 100) wrong.push(`task ${number} went on to ${ended.status}`);
  });
  say(`${size} tasks parked`);
  return {
    wrong,
    measured: {
      ...{ 'empty MiB': before.rss, 'right after MiB': busy, 'parked MiB': after.rss, 'growth MiB': after.rss - before.rss, 'heap growth MiB': after.heap - before.heap },
      ...{ 'restarted MiB': restarted.rss, 'restarted growth MiB': restarted.rss - before.rss, 'store MiB': stored / MiB, 'store bytes a task': stored / size },
      ...{
        'listing p50 ms': percentile(listing, 0.5),
        'listing p95 ms': percentile(listing, 0.95),
        'resuming p50 ms': percentile(resuming, 0.5),
        'resuming p95 ms': percentile(resuming, 0.95),
      },
    },
    wanted: 'memory within 50 MiB of the empty server, listing and resuming below 50 ms each',
    met: after.rss - before.rss <= 50 && percentile(listing, 0.5) < 50 && percentile(resuming, 0.5) < 50,
  };
}

async function timed(times: number, what: (n: number) => Promise<void>): Promise<number[]> {
  const took: number[] = [];
  for (let n = 0; n < times; n++) {
    const began = performance.now();
    await what(n);
    took.push(performance.now() - began);
  }
  return took;
}

function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
