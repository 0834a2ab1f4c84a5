/** Tasks come twice as fast as they can be run: the queue is bounded, the rest is refused with a time to come again, nothing is lost. */
import { setTimeout as sleep } from 'node:timers/promises';
import { StoryServer } from '../stories/story-server.ts';
import type { Findings, Load } from './main.ts';

const SECONDS = 60;
const WARM = 20;
const TRIAL = 200;
const AT_ONCE = 16;
const SAMPLE_MS = 500;
const CODE = 'let s = 0; for (let i = 0; i < 20_000; i++) s += (i * input) % 7; return s';

export async function overload({ host, size, say }: Load): Promise<Findings> {
  const wrong: string[] = [];
  const trial = Math.min(TRIAL, size ?? TRIAL);
  await using server = await StoryServer.start({ host, prepared: true, maxQueued: Math.max(5, Math.min(500, Math.ceil((size ?? 5000) / 10))), maxRunning: 8 });
  const submit = (input: number, more = {}) => server.fetch('POST', '/tasks', { language: 'javascript', code: CODE, input, ...more });
  const whole = (count: number) => inTurn(count, (n) => submit(n, { wait_seconds: 600 }));
  await whole(WARM);
  const began = performance.now();
  await whole(trial);
  const perSecond = (trial / (performance.now() - began)) * 1000;
  const rate = 2 * perSecond;
  const count = size ?? Math.ceil(rate * SECONDS);
  const empty = (await server.memory()).rss;
  say(`${perSecond.toFixed(1)} tasks a second one after another in ${AT_ONCE} lanes; now ${count} tasks, ${rate.toFixed(1)} a second`);

  const accepted = new Map<string, number>();
  let refused = 0;
  let most = 0;
  let over = false;
  const watching = (async () => {
    while (!over) {
      most = Math.max(most, (await server.memory()).rss);
      await sleep(SAMPLE_MS);
    }
  })();
  const sent: Promise<void>[] = [];
  const start = performance.now();
  for (let n = 0; n < count; n++) {
    await sleep(Math.max(0, start + (n * 1000) / rate - performance.now()));
    sent.push(
      submit(n).then(
        ({ status, headers, body }) => {
          if (status === 201) accepted.set(body.task_id as string, n);
          else if ((status === 429 || status === 503) && Number(headers.get('retry-after')) > 0) refused++;
          else wrong.push(`task ${n} was answered ${status} ${JSON.stringify(body)}, Retry-After ${headers.get('retry-after')}`);
        },
        (error: Error) => void wrong.push(`task ${n} was not answered: ${error.message}`),
      ),
    );
  }
  const sentMs = performance.now() - start;
  await Promise.all(sent);
  for (const [id, n] of accepted) {
    const task = await server.client().tasks.wait(id);
    if (task.status !== 'succeeded' || task.attempt !== 1 || task.result.output !== resultOf(n)) wrong.push(`task ${n} came to ${task.status}`);
  }
  over = true;
  await watching;
  if (accepted.size + refused + wrong.length < count) wrong.push(`${count - accepted.size - refused} tasks are lost`);
  return {
    wrong,
    measured: {
      'capacity a second': perSecond,
      'sent a second': (count / sentMs) * 1000,
      accepted: accepted.size,
      refused,
      'empty MiB': empty,
      'most MiB': most,
      'growth MiB': most - empty,
    },
    wanted: 'everything is accepted and right or refused with Retry-After, and the server grows by no more than 200 MiB',
    met: wrong.length === 0 && most - empty <= 200,
  };
}

async function inTurn(count: number, what: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < count) await what(next++);
    }),
  );
}

function resultOf(input: number): number {
  let sum = 0;
  for (let i = 0; i < 20_000; i++) sum += (i * input) % 7;
  return sum;
}
