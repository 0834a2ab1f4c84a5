/**
 * `npm run engine-tests`: the engines' own tests, from the sources that the images are built of, in machines; each test must
 * end as under an unpatched native build, or stand in known-differences.ts. Then each module again with random pauses, each
 * saved and continued in another machine: output, result, fuel and state hash must be the same.
 *
 *     --engine cpython|quickjs   only this one           --only NAME,..   modules of these names
 *     --pauses N                 pauses per module (default 3; 0: none)   --seed N   which pauses
 *     --sample N                 only N modules, spread evenly            --json     one JSON object on stdout
 *     --judge                    runs nothing: judges the last results of each module
 *     --ci                       a sample of modules against expected.json, without a native build
 *     --save-expected            writes expected.json anew, for the modules of the sample
 *     --docs                     writes docs/engine-tests.md from what was run, or judged
 *
 * Sources, native builds and results are kept in the cache folder.
 */
import { parseArgs } from 'node:util';
import { crc32 } from 'node:zlib';
import { cpythonTests } from './cpython.ts';
import { type EngineReport, writeDocs } from './docs.ts';
import type { EngineTests } from './engine-tests.ts';
import { expectedOutcomes, isInSample, saveExpected } from './expected.ts';
import { type Judged, judge, totalsOf } from './judge.ts';
import { KNOWN_DIFFERENCES } from './known-differences.ts';
import { MachineThread } from './machine-thread.ts';
import { quickjsTests } from './quickjs.ts';
import { type ModuleRun, Results } from './results.ts';
import { type Source, sourceOf } from './source.ts';

const { values } = parseArgs({
  options: {
    engine: { type: 'string' },
    only: { type: 'string' },
    pauses: { type: 'string', default: '3' },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    ci: { type: 'boolean', default: false },
    'save-expected': { type: 'boolean', default: false },
    docs: { type: 'boolean', default: false },
    judge: { type: 'boolean', default: false },
  },
});
const say = (text: string) => process.stderr.write(`${text}\n`);
/** Processor time for one run of a module in a machine. */
const MODULE_MS = 180_000;

const ENGINES: EngineTests[] = [quickjsTests, cpythonTests];
const engines = ENGINES.filter(({ image }) => values.engine === undefined || image === values.engine);
if (engines.length === 0) throw new Error('--engine is cpython or quickjs');
const reports: EngineReport[] = [];
for (const engine of engines) {
  const source = await sourceOf(engine.image, say);
  const judged = await runEngine(engine, source);
  const done = new Set(judged.map(({ module }) => module));
  const notRun = engine.modules(source).filter((module) => !done.has(module));
  reports.push({ engine, archive: source.archive, judged, leftOut: engine.leftOut(source), notRun });
  const totals = totalsOf(judged);
  if (judged.length === 0 || judged.some(({ ok }) => !ok)) process.exitCode = 1;
  if (values.json) process.stdout.write(`${JSON.stringify({ engine: engine.image, ...totals, failed: judged.filter(({ ok }) => !ok) })}\n`);
  else
    process.stdout.write(
      `${engine.image}: ${Object.entries(totals)
        .map(([name, count]) => `${count} ${name}`)
        .join(', ')}\n`,
    );
}
if (values.docs) await writeDocs(reports);

async function runEngine(engine: EngineTests, source: Source): Promise<Judged[]> {
  const { image } = engine;
  const only = values.only?.split(',');
  const wanted = (module: string) => !only || only.some((name) => module === name || module.startsWith(`${name}.`));
  const modules = sampleOf(engine.modules(source).filter((module) => wanted(module) && (!values.ci || isInSample(image, module))));
  const results = new Results(image);
  const runs: ModuleRun[] = [];
  const judged: Judged[] = [];
  await using thread = new MachineThread();
  for (const module of modules) {
    const run = values.judge ? results.of(module) : await runModule(engine, source, module, thread);
    if (!run) continue;
    if (!values.ci && !values.judge) results.save(run);
    const one = judge(values.ci ? [] : KNOWN_DIFFERENCES[image], run);
    runs.push(run);
    judged.push(one);
    tell(one);
  }
  if (values['save-expected'])
    saveExpected(
      image,
      runs.filter(({ module }) => isInSample(image, module)),
    );
  return judged;
}

async function runModule(engine: EngineTests, source: Source, module: string, thread: MachineThread): Promise<ModuleRun> {
  const { image, limits } = engine;
  const reference = values.ci ? expectedOutcomes(image, module) : await engine.reference(source, module);
  try {
    const { ending, ms, pauses, problems } = await thread.run({
      image,
      program: engine.program(source, module),
      limits,
      pauses: Number(values.pauses),
      seed: Number(values.seed) + crc32(module),
      maxCpuMs: MODULE_MS,
    });
    return { module, reference, machine: engine.outcomes(ending, module), ms, fuel: ending.fuel, pauses, problems };
  } catch (error) {
    return { module, reference, machine: {}, ms: 0, fuel: 0, pauses: 0, problems: [(error as Error).message] };
  }
}

function tell({ module, tests, same, differences, ms, problems, ok }: Judged): void {
  say(`${ok ? 'ok ' : 'BAD'} ${module}: ${same} of ${tests} the same, ${(ms / 1000).toFixed(1)} s`);
  for (const problem of problems) say(`  ${problem.slice(0, 2000)}`);
  const groups = Map.groupBy(
    differences.filter(({ known }) => !known),
    ({ reference, machine }) => `${reference.is} <> ${machine.is}: ${machine.detail ?? ''}`,
  );
  for (const [text, [first, ...others]] of groups) say(`  ${first?.id}${others.length > 0 ? ` and ${others.length} more` : ''}: ${text.slice(0, 400)}`);
}

/** Spread evenly over the modules. */
function sampleOf(modules: string[]): string[] {
  const count = values.sample === undefined ? modules.length : Math.min(Number(values.sample), modules.length);
  return Array.from({ length: count }, (_, i) => modules[Math.floor((i * modules.length) / count)] as string);
}
