/** Child processes killed with -9 at random under load: no program is lost or wrong, and nothing is printed twice. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFermata } from 'fermata';
import type { Findings, Load } from './main.ts';

const AT_ONCE = 6;
const BETWEEN_MS = 150;
const CODE =
  'let sum = 0; for (let round = 0; round < 4; round++) { for (let i = 0; i < input; i++) sum += i % 7; console.log(round, sum); sum += await tools.next({ round }) } return sum';

export async function kills({ host, size = 200, say }: Load): Promise<Findings> {
  if (host !== 'processes') return { wrong: [], measured: {}, wanted: 'child processes', met: true };
  await using fermata = createFermata({ host, maxResidentBytes: 4 * 1024 ** 3 });
  let calls = 0;
  const next = ({ round }: Record<string, unknown>) => {
    calls++;
    return Number(round);
  };
  const tools = [{ name: 'next', execute: next }];
  const run = async (input: number) => {
    const { output, stdout, status, error } = await fermata.run({ language: 'javascript', code: CODE, input, tools });
    return JSON.stringify({ output, stdout, status, error: error?.message });
  };
  const inputs = [50_000, 100_000, 150_000, 200_000];
  const expected = new Map<number, string>();
  for (const input of inputs) expected.set(input, await run(input));
  calls = 0;

  const wrong: string[] = [];
  let programs = 0;
  let killed = 0;
  const worker = async () => {
    while (killed < size) {
      const input = inputs[programs++ % inputs.length] as number;
      const got = await run(input).catch((thrown: Error) => `threw ${thrown.message}`);
      if (got !== expected.get(input)) wrong.push(`${got} in place of ${expected.get(input)}`);
    }
  };
  const killer = async () => {
    while (killed < size) {
      await sleep(BETWEEN_MS * (0.5 + Math.random()));
      const victims = children();
      const victim = victims[Math.floor(Math.random() * victims.length)];
      if (victim === undefined) continue;
      process.kill(victim, 'SIGKILL');
      killed++;
    }
  };
  await Promise.all([killer(), ...Array.from({ length: AT_ONCE }, worker)]);
  if (calls !== 4 * programs) wrong.push(`${calls} tool calls were carried out for ${programs} programs of 4`);
  say(`${killed} kills while ${programs} programs ran`);
  return { wrong, measured: { kills: killed, programs, lost: wrong.length }, wanted: 'no program lost or wrong, no call repeated', met: wrong.length === 0 };
}

/** Processes that this one has started. */
function children(): number[] {
  const lists = readdirSync('/proc/self/task').map((thread) => readFileSync(`/proc/self/task/${thread}/children`, 'utf8'));
  return lists.flatMap((list) => list.trim().split(' ').filter(Boolean).map(Number));
}
