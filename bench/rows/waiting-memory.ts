/** What a task that waits costs in memory. */
import { fileURLToPath } from 'node:url';
import { lastFigure } from '../last-figure.ts';
import { peerModule } from '../peers/peer-module.ts';
import { type Contender, type Row, tried } from '../row.ts';

const SCRIPT = fileURLToPath(new URL('../processes/waiting.mjs', import.meta.url));

export const waitingMemory: Row = {
  name: 'waiting-memory',
  title: 'Memory per waiting task',
  method:
    'Growth of the memory of a process by programs that wait at a call, per program; a new process per sample. Ours are kept as snapshots, and their machines are given back: what grows is the heap and buffers of the process (12 programs, after 4 others). Those of the peers stay alive: what grows is the resident memory (100 programs, after 20 others). No process and no machine is kept for a waiting task of ours: a machine would be 5.6 MB for JavaScript and 24 MB for Python.',
  unit: 'KB',
  rounds: 2,
  warmUps: 0,
  cases: [
    { name: 'JavaScript', expected: undefined },
    { name: 'Python', expected: undefined },
  ],
  targets: [
    { what: 'JavaScript: no machine is resident', of: 'Fermata, as snapshots', in: 'JavaScript', atMost: 100 },
    { what: 'Python: no machine is resident', of: 'Fermata, as snapshots', in: 'Python', atMost: 100 },
  ],
  async open() {
    return [
      { name: 'Fermata, as snapshots', sample: (name) => grown('fermata', name) },
      await peer('quickjs-wasi, alive', 'quickjs-wasi', 'quickjs-wasi', 'Python'),
      await peer('Monty, alive', '@pydantic/monty', 'monty', 'JavaScript'),
    ];
  },
};

async function grown(contender: string, name: string) {
  return { value: await lastFigure(process.execPath, [SCRIPT, contender, name.toLowerCase()]), output: undefined };
}

function peer(name: string, module: string, contender: string, without: string): Promise<Contender> {
  return tried(name, async () => {
    await peerModule(module);
    return { without: [without], sample: (each) => grown(contender, each) };
  });
}
