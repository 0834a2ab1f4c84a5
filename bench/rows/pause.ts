/** How long it takes to stop a busy loop and have it safe in a file. */
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFermata } from 'fermata';
import { pause } from '../clocks.ts';
import { LOOPS } from '../loops.ts';
import type { Row } from '../row.ts';

export const pauseRow: Row = {
  name: 'pause',
  title: 'Pause of a busy loop until it is durable',
  method:
    'Wall time from `task.pause()` until the snapshot is in a file and the file is flushed to the disk (fsync), at a random moment of an endless loop. None of the peers can stop a program in a loop and keep it.',
  unit: 'ms',
  rounds: 30,
  warmUps: 5,
  cases: Object.keys(LOOPS).map((name) => ({ name, expected: 'paused' })),
  targets: Object.keys(LOOPS).map((name) => ({ what: name, of: 'Fermata', in: name, atMost: 20 })),
  async open() {
    const fermata = createFermata();
    const folder = await mkdtemp(join(tmpdir(), 'fermata-bench-'));
    return [
      {
        name: 'Fermata',
        sample: async (name) => {
          await using task = await fermata.start(LOOPS[name as keyof typeof LOOPS]);
          const running = task.run();
          await pause(20 + Math.random() * 20);
          const began = performance.now();
          await task.pause();
          const bytes = await task.snapshot();
          await using file = await open(join(folder, 'task.snap'), 'w');
          await file.writeFile(bytes);
          await file.sync();
          return { value: performance.now() - began, output: (await running).status };
        },
        close: async () => {
          await fermata.close();
          await rm(folder, { recursive: true });
        },
      },
    ];
  },
};
