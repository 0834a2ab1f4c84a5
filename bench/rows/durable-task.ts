/** A task of one step, durable: submitted, run, its one call made and recorded, its end known. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEngine } from 'fermata';
import { openBullmq } from '../peers/bullmq.ts';
import { openPgBoss } from '../peers/pg-boss.ts';
import { openRestate } from '../peers/restate.ts';
import { type Row, type Sample, tried } from '../row.ts';

const AT_ONCE = 200;
const CODE = 'return await tools.double({ n: input })';

export const durableTask: Row = {
  name: 'durable-task',
  title: 'Durable task of one step',
  method: `Wall time from the submission to the known result: of one task alone, and for each of ${AT_ONCE} that are submitted at once. Ours is a JavaScript program in a machine of its own that calls one tool (not idempotent, so its start is durable before it is called) and returns its result; SQLite in a folder on the disk, every commit synchronised. Peers run a function of the host, and no program: BullMQ on a Redis with appendfsync always, pg-boss on PostgreSQL with its defaults, Restate with its server as one process and one ctx.run.`,
  unit: 'ms',
  rounds: 15,
  warmUps: 3,
  cases: [
    { name: 'one alone', expected: 14 },
    { name: `each of ${AT_ONCE}`, expected: 14 },
  ],
  targets: [
    { what: 'one alone', of: 'Fermata', in: 'one alone', atMost: 3 },
    { what: `each of ${AT_ONCE} (2,000 a second)`, of: 'Fermata', in: `each of ${AT_ONCE}`, atMost: 0.5, aim: 0.25 },
  ],
  async open() {
    return [
      { name: 'Fermata', ...(await ours('disk')) },
      { name: 'Fermata, in memory', note: 'what durability costs', ...(await ours('memory')) },
      await tried('BullMQ', async () => samples(await openBullmq())),
      await tried('pg-boss', async () => samples(await openPgBoss())),
      await tried('Restate', async () => samples(await openRestate())),
    ];
  },
};

async function ours(where: 'disk' | 'memory') {
  const root = mkdtempSync(join(tmpdir(), 'fermata-bench-tasks-'));
  const tools = [{ name: 'double', execute: (args: Record<string, unknown>) => Number(args.n) * 2 }];
  const { engine, close } = await openEngine({ ...(where === 'disk' ? { folder: join(root, 'data') } : {}), tools });
  return samples({
    run: async (input) => {
      const { taskId } = await engine.submit('bench', { language: 'javascript', code: CODE, input });
      return (await engine.wait({ tenant: 'bench', taskId }, 60_000)).output;
    },
    close: async () => {
      await close();
      rmSync(root, { recursive: true, force: true });
    },
  });
}

function samples({ run, close }: { run: (n: number) => Promise<unknown>; close: () => Promise<void> }) {
  return {
    close,
    async sample(name: string): Promise<Sample> {
      const count = name === 'one alone' ? 1 : AT_ONCE;
      const began = performance.now();
      const [output] = await Promise.all(Array.from({ length: count }, () => run(7)));
      return { value: (performance.now() - began) / count, output };
    },
  };
}
