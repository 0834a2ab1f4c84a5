/**
 * `npm run engine-tests`: the engines' own tests, from the sources that the images are built of, in machines; each test must
 * end as under an unpatched native build, or stand in known-differences.ts. Then each module again with random pauses, each
 * saved and continued in another machine: output, result, fuel and state hash must be the same.
 *
 *     --engine cpython|quickjs   only this one           --only NAME,..   modules of these names
 *     --pauses N                 pauses per module (default 3; 0: none)   --seed N   which pauses
 *     --sample N                 only N modules, spread evenly            --json     one JSON object on stdout
 *     --ci                       the modules of expected.json against what is written there, without a native build
 *     --save-expected            writes expected.json anew, for the modules that are in it
 *     --docs                     writes docs/engine-tests.md from the last full runs of both engines
 *
 * Sources, native builds and results are kept in the cache folder.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { defaultCacheDir } from '@fermata/machine';
import { compare, type Difference } from './compare.ts';
import { cpythonTests } from './cpython.ts';
import type { EngineTests, Outcomes } from './engine-tests.ts';
import { MachineThread } from './machine-thread.ts';
import { quickjsTests } from './quickjs.ts';
import { sourceOf } from './source.ts';

const { values } = parseArgs({
  options: {
    engine: { type: 'string' },
    only: { type: 'string' },
    pauses: { type: 'string', default: '3' },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
});
const say = (text: string) => process.stderr.write(`${text}\n`);
/** For one module in a machine, both runs together. */
const MODULE_MS = 900_000;

export interface ModuleResult {
  module: string;
  tests: number;
  same: number;
  differences: Difference[];
  ms: number;
  fuel: number;
  pauses: number;
  /** What pauses changed, or why the module could not be run. */
  problems: string[];
}

const ENGINES: EngineTests[] = [quickjsTests, cpythonTests];
const engines = ENGINES.filter(({ image }) => values.engine === undefined || image === values.engine);
if (engines.length === 0) throw new Error('--engine is cpython or quickjs');
let bad = 0;
for (const engine of engines) {
  const results = await runEngine(engine);
  bad += results.filter(isBad).length + (results.length === 0 ? 1 : 0);
  const sum = (count: (result: ModuleResult) => number) => results.reduce((total, result) => total + count(result), 0);
  const line = `${engine.image}: ${results.length} modules, ${sum(({ tests }) => tests)} tests, ${sum(({ same }) => same)} as in the reference, ${sum(({ differences }) => differences.filter(({ known }) => known).length)} different and explained, ${sum(({ differences }) => differences.filter(({ known }) => !known).length)} unexplained, ${sum(({ pauses }) => pauses)} pauses, ${sum(({ problems }) => problems.length)} problems`;
  if (values.json) process.stdout.write(`${JSON.stringify({ engine: engine.image, results })}\n`);
  else process.stdout.write(`${line}\n`);
  const folder = join(defaultCacheDir(), 'engine-tests/results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${engine.image}.json`), JSON.stringify(results));
}
process.exitCode = bad > 0 ? 1 : 0;

async function runEngine(engine: EngineTests): Promise<ModuleResult[]> {
  const source = await sourceOf(engine.image, say);
  const only = values.only?.split(',');
  const modules = sampleOf(engine.modules(source).filter((module) => !only || only.some((name) => module.includes(name))));
  const results: ModuleResult[] = [];
  await using thread = new MachineThread();
  for (const [i, module] of modules.entries()) {
    const reference = await engine.reference(source, module);
    const result = await runModule(engine, module, reference, () =>
      thread.run({ image: engine.image, program: engine.program(source, module), limits: engine.limits, pauses: Number(values.pauses), seed: Number(values.seed) + i }, MODULE_MS),
    );
    results.push(result);
    tell(result);
  }
  return results;
}

async function runModule(engine: EngineTests, module: string, reference: Outcomes, run: () => ReturnType<MachineThread['run']>): Promise<ModuleResult> {
  try {
    const { ending, ms, pauses, problems } = await run();
    const differences = compare(engine.image, reference, engine.outcomes(ending, module));
    const tests = Object.keys(reference).length;
    return { module, tests, same: tests - differences.filter(({ reference: { is } }) => is !== 'absent').length, differences, ms, fuel: ending.fuel, pauses, problems };
  } catch (error) {
    return { module, tests: Object.keys(reference).length, same: 0, differences: [], ms: 0, fuel: 0, pauses: 0, problems: [(error as Error).message] };
  }
}

function isBad({ differences, problems }: ModuleResult): boolean {
  return problems.length > 0 || differences.some(({ known }) => !known);
}

function tell(result: ModuleResult): void {
  const { module, tests, same, differences, ms, problems } = result;
  say(`${isBad(result) ? 'BAD' : 'ok '} ${module}: ${same} of ${tests} the same, ${(ms / 1000).toFixed(1)} s`);
  for (const { id, reference, machine, known } of differences)
    if (!known) say(`  ${id}: ${reference.is} <> ${machine.is} ${machine.detail?.slice(0, 300) ?? ''}${reference.detail ? ` <> ${reference.detail.slice(0, 200)}` : ''}`);
  for (const problem of problems) say(`  ${problem.slice(0, 2000)}`);
}

/** Spread evenly over the modules. */
function sampleOf(modules: string[]): string[] {
  const count = values.sample === undefined ? modules.length : Math.min(Number(values.sample), modules.length);
  return Array.from({ length: count }, (_, i) => modules[Math.floor((i * modules.length) / count)] as string);
}
