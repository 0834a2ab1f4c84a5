/** Two hundred programs at once, three of them bad: the others are right, and hardly later than without the bad ones. */
import { createFermata, type Fermata, type StartOptions, type TaskResult } from 'fermata';
import type { Findings, Load } from './main.ts';
import { ordinary, percentile } from './programs.ts';

const LIMITS = { timeoutMs: 60_000, maxCpuMs: 3000, maxMemoryBytes: 64 << 20 };
const BAD: [string, StartOptions, string][] = [
  ['an endless loop', { language: 'python', code: 'while True: pass', limits: LIMITS }, 'cpu_limit'],
  ['a memory bomb', { language: 'javascript', code: 'const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1))', limits: LIMITS }, 'memory_limit'],
  ['a loop in C', { language: 'python', code: 'max(range(10**12))', limits: LIMITS }, 'cpu_limit'],
];

export async function many({ host, size = 200, say }: Load): Promise<Findings> {
  const good = size - BAD.length;
  await using fermata = createFermata({ host, limits: LIMITS });
  await fermata.prepare();
  await together(fermata, good, []);
  const alone = await together(fermata, good, []);
  const withBad = await together(
    fermata,
    good,
    BAD.map(([, options]) => options),
  );
  const wrong = [...alone.wrong, ...withBad.wrong];
  for (const [i, [what, , code]] of BAD.entries()) {
    const { status, error } = withBad.bad[i] as TaskResult;
    if (status !== 'failed' || error?.code !== code) wrong.push(`${what} ended as ${status} ${error?.code}: ${error?.message}`);
  }
  const [p95Alone, p95] = [percentile(alone.latencies, 0.95), percentile(withBad.latencies, 0.95)];
  say(`${good} good programs, and ${BAD.map(([what]) => what).join(', ')}`);
  return {
    wrong,
    measured: { 'p95 alone ms': p95Alone, 'p95 with bad ones ms': p95, ratio: p95 / p95Alone },
    wanted: 'p95 at most 1.5 times that of the good ones alone',
    met: p95 <= 1.5 * p95Alone,
  };
}

async function together(fermata: Fermata, good: number, bad: StartOptions[]): Promise<{ latencies: number[]; wrong: string[]; bad: TaskResult[] }> {
  const began = performance.now();
  const latencies: number[] = [];
  const wrong: string[] = [];
  const ends = bad.map((options) => fermata.run(options));
  await Promise.all(
    Array.from({ length: good }, async (_, number) => {
      const { options, output } = ordinary(number);
      const result = await fermata.run(options);
      latencies.push(performance.now() - began);
      if (result.output !== output) wrong.push(`program ${number} gave ${result.output}, not ${output} (${result.status} ${result.error?.message})`);
    }),
  );
  return { latencies, wrong, bad: await Promise.all(ends) };
}
