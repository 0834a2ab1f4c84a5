/**
 * `npm run fidelity`: runs every program uninterrupted, and again with random pauses, each of which is saved to a file
 * and continued in a new process; output, result, calls, fuel and state hash must be the same.
 *
 *     --sample N   only N programs of each data set        --pauses K   pauses per program (default 3)
 *     --only TEXT  programs whose id contains it           --jobs J     programs at a time (default: cores)
 *     --json       one JSON object on stdout
 *
 * `npm run stress`: the programs of this folder (and of `--folder`), stopped in one process at every fuel check, or at
 * `--points` of them (default 560), each time with a new machine from the snapshot.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';
import { differences, type Ending, newProgress } from './drive.ts';
import { DATA, DATA_SETS, dataPrograms, nastyPrograms, type TestProgram } from './programs.ts';
import { onDeepStack } from './stack.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    pauses: { type: 'string', default: '3' },
    points: { type: 'string', default: '560' },
    only: { type: 'string' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    folder: { type: 'string', multiple: true, default: [] },
    json: { type: 'boolean', default: false },
  },
});
const say = (text: string) => process.stderr.write(`${text}\n`);
/** Made when first needed. */
let segmentFile: Promise<string> | undefined;
const wanted = (programs: TestProgram[]) => programs.filter(({ id }) => id.includes(values.only ?? ''));

interface Verdict {
  id: string;
  ok: boolean;
  pauses: number;
  problems: string[];
}

const verdicts = positionals[0] === 'stress' ? await stress() : await fidelity();
const bad = verdicts.filter(({ ok }) => !ok);
const pauses = verdicts.reduce((sum, verdict) => sum + verdict.pauses, 0);
for (const { id, problems } of bad) say(`BAD ${id}\n  ${problems.join('\n  ')}`);
if (values.json) process.stdout.write(`${JSON.stringify({ programs: verdicts.length, pauses, failed: bad })}\n`);
else process.stdout.write(`${verdicts.length - bad.length} of ${verdicts.length} programs identical, ${pauses} pauses\n`);
process.exitCode = bad.length > 0 || verdicts.length === 0 ? 1 : 0;

async function fidelity(): Promise<Verdict[]> {
  const all: Verdict[] = [];
  for (const set of [...DATA_SETS, 'own'] as const) {
    const found = set === 'own' ? nastyPrograms() : dataPrograms(set);
    if (!found) {
      if (process.env.CI) throw new Error(`the data folder ${DATA} is missing`);
      say(`SKIPPED ${set}: there is no folder ${DATA}`);
      continue;
    }
    const programs = sampleOf(wanted(found));
    const wholes = await onDeepStack<{ ending: Ending }[]>('./whole-thread.ts', { programs, points: 0 });
    const results = await atATime(
      Number(values.jobs),
      programs.map((program, i) => ({ program, whole: (wholes[i] as { ending: Ending }).ending })),
      check,
    );
    say(`${set}: ${results.filter(({ ok }) => ok).length} of ${results.length} succeed and are identical, ${results.reduce((sum, { pauses }) => sum + pauses, 0)} pauses`);
    all.push(...results);
  }
  return all;
}

/** Spread evenly over the set. */
function sampleOf(programs: TestProgram[]): TestProgram[] {
  const count = values.sample === undefined ? programs.length : Math.min(Number(values.sample), programs.length);
  return Array.from({ length: count }, (_, i) => programs[Math.floor((i * programs.length) / count)] as TestProgram);
}

async function check({ program: { id, language, code, mustPrint }, whole: ending }: { program: TestProgram; whole: Ending }): Promise<Verdict> {
  segmentFile ??= bundledSegment();
  const folder = mkdtempSync(join(tmpdir(), 'fermata-fidelity-'));
  const file = join(folder, 'machine.snap');
  try {
    const problems: string[] = [];
    if (mustPrint !== undefined && !(ending.outcome.includes('"kind":"done"') && ending.stdout.includes(mustPrint))) {
      problems.push(`did not succeed: ${ending.outcome.slice(0, 300)}`);
    }
    const marks = Array.from({ length: Number(values.pauses) }, () => Math.floor(Math.random() * ending.fuel)).sort((a, b) => a - b);
    let progress = newProgress();
    let said: { ending?: Ending; progress?: typeof progress } = {};
    for (const stopAt of [...marks, null]) {
      said = JSON.parse(await newProcess(await segmentFile, JSON.stringify({ language, code, progress, stopAt, file })));
      if (said.ending) break;
      progress = said.progress as typeof progress;
    }
    if (!said.ending) problems.push('did not end');
    else problems.push(...differences(ending, said.ending).map((difference) => `pauses at ${marks}: ${difference}`));
    return { id, ok: problems.length === 0, pauses: marks.length, problems };
  } catch (error) {
    return { id, ok: false, pauses: 0, problems: [(error as Error).message] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The segment and all it needs as one file, which makes thousands of processes bearable; it lies where it finds the images. */
async function bundledSegment(): Promise<string> {
  const bundle = await rolldown({ input: fileURLToPath(new URL('./segment.ts', import.meta.url)), platform: 'node', logLevel: 'silent' });
  const file = fileURLToPath(new URL('../../packages/machine/dist/fidelity/segment.mjs', import.meta.url));
  await bundle.write({ file, codeSplitting: false });
  await bundle.close();
  return file;
}

/** A new process with as much stack as the deepest recursion needs. */
function newProcess(segment: string, input: string): Promise<string> {
  const args = ['-c', 'ulimit -s 65500; exec "$0" --stack-size=64000 "$1"', process.execPath, segment];
  return new Promise((resolve, reject) => {
    const child = execFile('sh', args, { maxBuffer: 256 << 20 }, (error, stdout, stderr) => (error ? reject(new Error(`${error.message}\n${stderr}`)) : resolve(stdout)));
    child.stdin?.end(input);
  });
}

async function stress(): Promise<Verdict[]> {
  const programs = wanted([...nastyPrograms(), ...values.folder.flatMap((folder) => nastyPrograms(folder))]);
  return atATime(Number(values.jobs), programs, async (program) => {
    try {
      const [result] = await onDeepStack<{ stops: number; every: boolean; largest: number; ending: Ending; differences: string[] }[]>('./whole-thread.ts', {
        programs: [program],
        points: Number(values.points),
      });
      if (!result) throw new Error('no result');
      say(
        `${result.differences.length === 0 ? 'ok ' : 'BAD'} ${program.id}: ${result.stops} stops${result.every ? ' (every check)' : ''}, largest snapshot ${result.largest}, fuel ${result.ending.fuel}`,
      );
      return { id: program.id, ok: result.differences.length === 0, pauses: result.stops, problems: result.differences };
    } catch (error) {
      return { id: program.id, ok: false, pauses: 0, problems: [(error as Error).message] };
    }
  });
}

async function atATime<T, R>(count: number, items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, count) }, worker));
  return results;
}
