/** Five hundred programs parked one after another leave no resident machine, and the memory is given back. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createFermata, type Task } from 'fermata';
import type { Findings, Load } from './main.ts';

const MiB = 1024 * 1024;
const GIVEN_BACK_MS = 10_000;
const rss = () => process.memoryUsage.rss() / MiB;

export async function parked({ host, size = 500, say }: Load): Promise<Findings> {
  const wrong: string[] = [];
  const before = rss();
  await using fermata = createFermata({ host });
  const tasks: Task[] = [];
  for (let number = 0; number < size; number++) {
    const python = number % 2 === 0;
    const code = python
      ? 'import fermata\nkept = [fermata.input] * 10\ntools.person(a=1) + len(kept)'
      : 'const kept = Array(10).fill(input); return (await tools.person({ a: 1 })) + kept.length';
    const task = await fermata.start({ language: python ? 'python' : 'javascript', code, input: number, tools: [{ name: 'person' }] });
    const { status } = await task.run();
    if (status !== 'waiting') wrong.push(`program ${number} is ${status}`);
    tasks.push(task);
  }
  const most = rss();
  await sleep(GIVEN_BACK_MS);
  const after = rss();
  const { residentMachines } = fermata.usage;
  for (const [number, task] of tasks.entries()) {
    if (number % 50 === 0) {
      task.answer(1, number);
      const { status, output } = (await task.run()) as { status: string; output?: unknown };
      if (output !== number + 10) wrong.push(`program ${number} went on to ${status} ${output}`);
    }
    await task[Symbol.asyncDispose]();
  }
  if (residentMachines > 0) wrong.push(`${residentMachines} machines were still resident`);
  say(`${size} programs parked`);
  return {
    wrong,
    measured: { 'start MiB': before, 'right after MiB': most, '10 s after MiB': after, 'resident machines': residentMachines },
    wanted: 'no resident machine, and within 100 MiB of the start',
    met: residentMachines === 0 && after - before <= 100,
  };
}
