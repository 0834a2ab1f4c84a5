/**
 * The regression tests of CPython: a module of `Lib/test` is a module of the suite. In a machine and natively the same runner
 * (programs/runner.py) runs it by unittest, without the resources that CPython's own runner leaves out by default.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { LEFT_OUT, LEFT_OUT_TESTS } from './cpython-left-out.ts';
import type { EngineTests, Outcomes } from './engine-tests.ts';
import type { Source } from './source.ts';

const run = promisify(execFile);
const REFERENCE_MS = 300_000;
const RUNNER = fileURLToPath(new URL('./programs/runner.py', import.meta.url));
const MARK = '\x1e';
const SPLIT = 'test_asyncio';
/** Not in the image, and not what is tested: what tests import besides. */
const BESIDES = [
  { modules: /^test_argparse|^test_getopt|^test_optparse/, folder: 'Tools/i18n' },
  { modules: /^test_pkgutil/, folder: 'Lib/test/test_import' },
  { modules: /^test_asyncio|^test_mock|^test_unittest/, folder: 'Lib/wsgiref' },
  { modules: /^test_enum|^test_dataclasses|^test_functools|^test_typing|^test_cmd|^test_dis|^test_builtin|^test_str/, folder: 'Lib/_pyrepl' },
];
const STAND_IN = fileURLToPath(new URL('./programs/stand_in.py', import.meta.url));
const STAND_INS_AT = '/work/stand-ins';
/** Modules that are not in the image, and that these import although most of their tests do without: a test that uses one is skipped. */
const STAND_INS: Record<string, string[]> = {
  test_bytes: ['_testlimitedcapi'],
  test_class: ['_testinternalcapi'],
  test_code: ['_testinternalcapi'],
  test_compile: ['_testinternalcapi'],
  test_dis: ['_testinternalcapi'],
  test_logging: ['multiprocessing'],
  test_marshal: ['_testcapi', '_testinternalcapi'],
  test_monitoring: ['_testcapi', '_testinternalcapi'],
  test_traceback: ['_testcapi', '_testinternalcapi'],
  test_types: ['_testsinglephase'],
  test_import: ['_testsinglephase'],
  test_importlib: ['_testsinglephase'],
  test_pkgutil: ['_testsinglephase'],
  test_pyclbr: ['_testsinglephase'],
};
/** What every module finds beside it. */
const ALWAYS = ['__init__.py', 'support'];

export const cpythonTests: EngineTests = {
  image: 'cpython',
  limits: { maxMemoryBytes: 768 * 1024 * 1024, maxDiskBytes: 512 * 1024 * 1024, maxOutputBytes: 256 * 1024 * 1024, maxToolCalls: 1_000_000 },

  modules: (source) => testModules(source).filter((module) => !(module in LEFT_OUT)),

  leftOut: (source) => Object.fromEntries(testModules(source).flatMap((module) => (module in LEFT_OUT ? [[module, LEFT_OUT[module] as string]] : []))),

  program: (source, module) => ({
    language: 'python',
    code: `import sys\nsys.path.insert(0, '${STAND_INS_AT}')\n${readFileSync(RUNNER, 'utf8')}\nmain(${JSON.stringify(module)}, ${JSON.stringify(leftOutTests(module))})`,
    files: filesFor(source, module),
  }),

  outcomes: ({ outcome, stdout }, module) => {
    const { kind, error, limit } = JSON.parse(outcome);
    const told = read(Buffer.from(stdout, 'latin1').toString());
    // What was not run then is what the module came to.
    return kind === 'done' ? told : { ...told, [`module (test.${module})`]: { is: kind === 'limit' ? `limit ${limit}` : `ended by ${error?.name}`, detail: error?.message } };
  },

  reference: async (source, module) => {
    const args = [RUNNER, module, JSON.stringify(leftOutTests(module))];
    const runner = createHash('sha256').update(readFileSync(RUNNER)).update(args.slice(1).join(' ')).digest('hex');
    const kept = join(source.scratch, 'reference', `${module}-${runner.slice(0, 12)}.json`);
    if (existsSync(kept)) return JSON.parse(readFileSync(kept, 'utf8'));
    const outcomes = await referenceRun(source, module, args);
    mkdirSync(dirname(kept), { recursive: true });
    writeFileSync(kept, JSON.stringify(outcomes));
    return outcomes;
  },
};

async function referenceRun(source: Source, module: string, args: string[]): Promise<Outcomes> {
  const folder = mkdtempSync(join(source.scratch, `${module}-`));
  try {
    const env = { PATH: process.env.PATH, HOME: folder, TMPDIR: folder, LC_ALL: 'C.UTF-8', TZ: 'UTC', PYTHONHASHSEED: '0', PYTHONDONTWRITEBYTECODE: '1' };
    const { stdout } = await run(await source.native(), args, { cwd: folder, env, timeout: REFERENCE_MS, killSignal: 'SIGKILL', maxBuffer: 256 << 20 });
    return read(stdout);
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return { ...read(stdout), [`module (test.${module})`]: { is: 'ended', detail: stderr.slice(-500) || (error as Error).message } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Files and folders of `Lib/test`; of the largest folder each file is a module. */
function testModules({ folder }: Source): string[] {
  const root = join(folder, 'Lib/test');
  const names = (path: string) =>
    readdirSync(path)
      .filter((name) => /^test_\w+(\.py)?$/.test(name))
      .map((name) => basename(name, '.py'));
  return names(root)
    .flatMap((name) => (name === SPLIT ? names(join(root, SPLIT)).map((file) => `${SPLIT}.${file}`) : [name]))
    .sort();
}

const leftOutTests = (module: string): string[] => Object.keys(LEFT_OUT_TESTS[module] ?? {});

function read(stdout: string): Outcomes {
  const lines = stdout.split(MARK).slice(1);
  const told = lines.map((line) => JSON.parse(line.slice(0, line.indexOf('\n'))) as [id: string, is: string, detail: string]);
  return Object.fromEntries(told.map(([id, is, detail]) => [id, detail ? { is, detail } : { is }]));
}

/** The module and whatever of `Lib/test` it names, and what that names; in the folders that they have in the source. */
function filesFor({ folder }: Source, module: string): { path: string; data: Uint8Array }[] {
  const root = join(folder, 'Lib/test');
  const entries = new Map(readdirSync(root).map((name) => [name.replace(/\.\w+$/, ''), name]));
  const wanted = new Set<string>();
  const add = (name: string) => {
    if (wanted.has(name)) return;
    wanted.add(name);
    for (const file of filesIn(root, name).filter((file) => file.endsWith('.py')))
      for (const [, other, word] of readFileSync(join(root, file), 'latin1').matchAll(/\btest(?:\.| import )(test_\w+)|(\w+)/g)) {
        const entry = entries.get(other ?? word ?? '');
        if (entry && (other || !/^(test_\w+(\.py)?$|__)/.test(entry))) add(entry);
      }
  };
  for (const name of ALWAYS) add(name);
  add(entries.get(module.split('.')[0] as string) as string);
  const tests = [...wanted].flatMap((name) => filesIn(root, name)).map((file) => `Lib/test/${file}`);
  const besides = BESIDES.filter(({ modules }) => modules.test(module)).flatMap(({ folder: name }) => filesIn(folder, name));
  const standIns = (STAND_INS[module] ?? []).map((name) => ({ path: `${STAND_INS_AT}/${name}.py`, data: readFileSync(STAND_IN) }));
  return [...[...tests, ...besides].map((file) => ({ path: `/work/${file}`, data: readFileSync(join(folder, file)) })), ...standIns];
}

function filesIn(root: string, name: string): string[] {
  if (!existsSync(join(root, name))) return [];
  if (!statSync(join(root, name)).isDirectory()) return [name];
  return globSync(`${name}/**`, { cwd: root }).filter((file) => statSync(join(root, file)).isFile() && !file.includes('__pycache__'));
}
