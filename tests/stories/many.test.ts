/**
 * Story 4: many independent tasks at once, each right, in no more time than one after another would take.
 *
 * FERMATA_FULL=1 makes a thousand of them besides the ten. Time is compared with that of one task on the same machine.
 */
import { availableParallelism } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StoryServer } from './story-server.ts';

const CODE = {
  python: 'from fermata import input\nsum(i * input % 7 for i in range(40_000))',
  javascript: 'let s = 0; for (let i = 0; i < 40_000; i++) s += (i * input) % 7; return s',
};
const SIZES = process.env.FERMATA_FULL === '1' ? [10, 1000] : [10];
/** What other work on the machine may add. */
const SLACK = 1.5;

let server: StoryServer;
beforeAll(async () => {
  server = await StoryServer.start({ host: 'processes', threads: availableParallelism(), prepared: true });
});
afterAll(() => server[Symbol.asyncDispose]());

const taskOf = (n: number) => ({ language: n % 2 ? ('python' as const) : ('javascript' as const), code: CODE[n % 2 ? 'python' : 'javascript'], input: n });
function rightFor(n: number): number {
  let sum = 0;
  for (let i = 0; i < 40_000; i++) sum += (i * n) % 7;
  return sum;
}

test.for(SIZES)('%i tasks at once are each right, and take no longer together than one after another', { timeout: 900_000 }, async (size) => {
  const client = server.client();
  const oneMs = async (n: number) => {
    const began = performance.now();
    expect(await client.tasks.create({ ...taskOf(n), wait_seconds: 100 })).toMatchObject({ result: { output: rightFor(n) } });
    return performance.now() - began;
  };
  for (const n of [0, 1]) await oneMs(n);
  const alone: number[] = [];
  for (let n = 0; n < 10; n++) alone.push(await oneMs(n));
  const aloneMs = alone.reduce((a, b) => a + b) / alone.length;

  const began = performance.now();
  const { batch_id: id } = await client.batches.create({ tasks: Array.from({ length: size }, (_, n) => taskOf(n)) });
  let batch = await client.batches.get(id, { limit: 1 });
  while (batch.completed_at === null) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    batch = await client.batches.get(id, { limit: 1 });
  }
  const makespanMs = performance.now() - began;
  expect(batch).toMatchObject({ total: size, counts: { succeeded: size } });
  for (const [n, taskId] of batch.task_ids.entries()) expect(await client.tasks.get(taskId), `task ${n}`).toMatchObject({ attempt: 1, result: { output: rightFor(n) } });
  console.log(`${size} tasks: ${(makespanMs / aloneMs).toFixed(1)} times one alone (${aloneMs.toFixed(0)} ms) on ${availableParallelism()} cores`);
  expect(makespanMs / aloneMs).toBeLessThan(size * SLACK);
});
