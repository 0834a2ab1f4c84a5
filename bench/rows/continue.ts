/** How long a host in another process needs to load a paused loop and have it run on. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createFermata } from 'fermata';
import { pause } from '../clocks.ts';
import { lastFigure } from '../last-figure.ts';
import { LOOPS } from '../loops.ts';
import type { Row } from '../row.ts';

const SCRIPT = fileURLToPath(new URL('../processes/continue.mjs', import.meta.url));

export const continueRow: Row = {
  name: 'continue',
  title: 'Load a paused loop in another process and continue',
  method:
    'A new process for each sample, timed from when it is up: thread started, image loaded, and then the file is read. "Image loaded" has run no program before, so its interpreter is not compiled yet; "in use" has run one. "Until it runs" ends after the first 0.1 ms of fuel on the restored machine; `fermata.restore` ends with the task in hand, paused.',
  unit: 'ms',
  rounds: 12,
  warmUps: 1,
  cases: Object.keys(LOOPS).map((name) => ({ name, expected: undefined })),
  targets: Object.keys(LOOPS).map((name) => ({ what: name, of: 'Fermata, image loaded, until it runs', in: name, atMost: 10, aim: 5 })),
  async open() {
    const folder = await mkdtemp(join(tmpdir(), 'fermata-bench-'));
    const file = (name: string) => join(folder, `${name}.snap`);
    for (const [name, loop] of Object.entries(LOOPS)) await writeFile(file(name), await paused(loop));
    const contender = (name: string, how: string) => ({
      name,
      sample: async (loop: string) => ({ value: await lastFigure(process.execPath, [SCRIPT, how, LOOPS[loop as keyof typeof LOOPS].language, file(loop)]), output: undefined }),
    });
    return [
      contender('Fermata, image loaded, until it runs', 'machine-new'),
      contender('Fermata, in use, until it runs', 'machine-used'),
      contender('Fermata, image loaded, `fermata.restore`', 'library-new'),
      { ...contender('Fermata, in use, `fermata.restore`', 'library-used'), close: () => rm(folder, { recursive: true }) },
    ];
  },
};

async function paused(loop: (typeof LOOPS)[keyof typeof LOOPS]): Promise<Uint8Array> {
  await using fermata = createFermata();
  await using task = await fermata.start(loop);
  const running = task.run();
  await pause(100);
  await task.pause();
  await running;
  return await task.snapshot();
}
