/**
 * The main script of a process whose jail is killed as it comes up, so that what is inside goes on without it: a `bwrap`
 * without fences, given in PATH, stands for that jail. Prints the ids of what was inside, and ends.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Input } from '@fermata/protocol';
import { createChildHost } from '../src/hosts/child-host.ts';

const start: Input = { kind: 'start', program: { language: 'javascript', code: 'for (;;) {}', tools: [] }, seed: new Uint8Array(32), nowMs: 1e12 };
const host = createChildHost({ children: 1, jail: 'required' });
const running = host
  .create('quickjs', {})
  .then((machine) => machine.advance(start, { wallMs: 300_000, cpuMs: 300_000 }, () => {}))
  .catch((error: Error) => error);
const jail = await childOf(process.pid);
const inside = [await childOf(jail)];
process.kill(jail, 'SIGKILL');
const another = await childOf(process.pid, jail);
inside.push(await childOf(another));
await host.close();
await running;
process.stdout.write(`${inside.join(' ')}\n`);

async function childOf(id: number, notThis?: number): Promise<number> {
  for (;;) {
    const children = readFileSync(`/proc/${id}/task/${id}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
    const child = children.find((other) => other !== notThis);
    if (child !== undefined) return child;
    await sleep(10);
  }
}
