/**
 * `npm run fidelity`: runs every program uninterrupted, and again with random pauses, each of which is saved to a file
 * and continued in a new process; output, result, calls, fuel and state hash must be the same.
 *
 *     --sample N   only N programs of each data set        --pauses K   pauses per program (default 3)
 *     --only TEXT  programs whose id contains it           --jobs J     programs at a time (default: cores)
 *     --batch B    programs that one process serves (default 25); none of them has it seen before
 *     --json       one JSON object on stdout
 *
 * `npm run stress`: the programs of this folder (and of `--folder`), stopped in one process at every fuel check, or at
 * `--points` of them (default 560), each time with a new machine from the snapshot; it fails, too, when stops come late or
 * are too few. `--memory N` gives machines a limit of N
 * MiB, so that programs near their limit have snapshots that can be made by the hundreds.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';
import { differences, type Ending, newProgress, type Progress } from './drive.ts';
import { DATA, DATA_SETS, dataPrograms, nastyPrograms, type TestProgram } from './programs.ts';
import type { Segment, SegmentEnd } from './segment.ts';
import { onDeepStack } from './stack.ts';
import type { Stopped } from './stopped.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    pauses: { type: 'string', default: '3' },
    points: { type: 'string', default: '560' },
    only: { type: 'string' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    folder: { type: 'string', multiple: true, default: [] },
    memory: { type: 'string', default: '256' },
    batch: { type: 'string', default: '25' },
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
  const folder = mkdtempSync(join(tmpdir(), 'fermata-fidelity-'));
  for (const set of [...DATA_SETS, 'own'] as const) {
    const found = set === 'own' ? nastyPrograms() : dataPrograms(set);
    if (!found) {
      if (process.env.CI) throw new Error(`the data folder ${DATA} is missing`);
      say(`SKIPPED ${set}: there is no folder ${DATA}`);
      continue;
    }
    const programs = sampleOf(wanted(found));
    const wholes = await onDeepStack<{ ending: Ending }[]>('./whole-thread.ts', { programs, points: 0 });
    const checks = programs.map((program, i) => newCheck(program, (wholes[i] as { ending: Ending }).ending, join(folder, `${set}-${i}.snap`)));
    await atATime(Number(values.jobs), inGroups(checks, Number(values.batch)), runChecks);
    const results = checks.map(verdict);
    say(`${set}: ${results.filter(({ ok }) => ok).length} of ${results.length} succeed and are identical, ${results.reduce((sum, { pauses }) => sum + pauses, 0)} pauses`);
    all.push(...results);
  }
  rmSync(folder, { recursive: true, force: true });
  return all;
}

/** Spread evenly over the set. */
function sampleOf(programs: TestProgram[]): TestProgram[] {
  const count = values.sample === undefined ? programs.length : Math.min(Number(values.sample), programs.length);
  return Array.from({ length: count }, (_, i) => programs[Math.floor((i * programs.length) / count)] as TestProgram);
}

/** A program on its way through its segments. */
interface Check {
  program: TestProgram;
  whole: Ending;
  marks: number[];
  file: string;
  progress: Progress;
  end: SegmentEnd | undefined;
}

function newCheck(program: TestProgram, whole: Ending, file: string): Check {
  const marks = Array.from({ length: Number(values.pauses) }, () => Math.floor(Math.random() * whole.fuel)).sort((a, b) => a - b);
  return { program, whole, marks, file, progress: newProgress(), end: undefined };
}

/** One new process for each segment of these programs. */
async function runChecks(checks: Check[]): Promise<void> {
  segmentFile ??= bundledSegment();
  for (let round = 0; round <= Number(values.pauses); round++) {
    const open = checks.filter(({ end }) => !end);
    const segments = open.map(({ program: { language, code }, progress, marks, file }): Segment => ({ language, code, progress, stopAt: marks[round] ?? null, file }));
    const ends = JSON.parse(await newProcess(await segmentFile, JSON.stringify(segments))) as SegmentEnd[];
    for (const [i, check] of open.entries()) {
      const end = ends[i] as SegmentEnd;
      if ('progress' in end) check.progress = end.progress;
      else check.end = end;
    }
  }
}

function verdict({ program: { id, mustPrint }, whole, marks, end }: Check): Verdict {
  const problems: string[] = [];
  if (mustPrint !== undefined && !(whole.outcome.includes('"kind":"done"') && whole.stdout.includes(mustPrint))) problems.push(`did not succeed: ${whole.outcome.slice(0, 300)}`);
  if (!end) problems.push('did not end');
  else if ('error' in end) problems.push(end.error);
  else if ('ending' in end) problems.push(...differences(whole, end.ending).map((difference) => `pauses at ${marks}: ${difference}`));
  return { id, ok: problems.length === 0, pauses: marks.length, problems };
}

function inGroups<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
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
      const [result] = await onDeepStack<(Stopped & { ending: Ending })[]>('./whole-thread.ts', {
        programs: [program],
        points: Number(values.points),
        limits: { maxMemoryBytes: Number(values.memory) * 1024 * 1024 },
      });
      if (!result) throw new Error('no result');
      say(
        `${result.problems.length === 0 ? 'ok ' : 'BAD'} ${program.id}: ${result.stops} stops${result.every ? ' (every check)' : ''}, largest snapshot ${result.largest}, latest stop ${result.latest}, fuel ${result.ending.fuel}`,
      );
      return { id: program.id, ok: result.problems.length === 0, pauses: result.stops, problems: result.problems };
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
