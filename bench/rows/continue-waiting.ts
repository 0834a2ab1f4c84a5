/** How long a prepared host in another process needs to load a program that waits for an answer, and to run it to its end. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createFermata } from 'fermata';
import { lastFigure } from '../last-figure.ts';
import type { Row } from '../row.ts';

const SCRIPT = fileURLToPath(new URL('../processes/continue-waiting.mjs', import.meta.url));
const PROGRAMS = {
  JavaScript: { language: 'javascript', code: 'return (await tools.ask({})) + 1' },
  Python: { language: 'python', code: 'tools.ask() + 1' },
} as const;

export const continueWaitingRow: Row = {
  name: 'continue-waiting',
  title: 'Continue a program that waits for an answer, in another process',
  method: 'A new process for each sample, timed from when `fermata.prepare` is done: the file is read, the task restored, its call answered, and the program run to its end.',
  unit: 'ms',
  rounds: 12,
  warmUps: 1,
  cases: Object.keys(PROGRAMS).map((name) => ({ name, expected: undefined })),
  targets: Object.keys(PROGRAMS).map((name) => ({ what: name, of: 'Fermata, on a thread', in: name, atMost: 10, aim: 5 })),
  async open() {
    const folder = await mkdtemp(join(tmpdir(), 'fermata-bench-'));
    const file = (name: string) => join(folder, `${name}.snap`);
    for (const [name, program] of Object.entries(PROGRAMS)) await writeFile(file(name), await waiting(program));
    const contender = (name: string, host: string) => ({
      name,
      sample: async (of: string) => ({ value: await lastFigure(process.execPath, [SCRIPT, host, PROGRAMS[of as keyof typeof PROGRAMS].language, file(of)]), output: undefined }),
    });
    return [contender('Fermata, on a thread', 'threads'), { ...contender('Fermata, in a child process', 'processes'), close: () => rm(folder, { recursive: true }) }];
  },
};

async function waiting(program: (typeof PROGRAMS)[keyof typeof PROGRAMS]): Promise<Uint8Array> {
  await using fermata = createFermata();
  await using task = await fermata.start({ ...program, tools: [{ name: 'ask' }] });
  await task.run();
  return await task.snapshot();
}
