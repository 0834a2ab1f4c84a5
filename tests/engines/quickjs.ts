/**
 * The tests of QuickJS-ng. A file is a module of the suite: where its last lines call its test functions one by one, each of
 * them is a test of its own, and what is left of the file is the test without a name.
 *
 * Natively a file runs as it is, as an ES module or a script. In a machine, where there are no modules, a script is
 * evaluated as one, and a module is the body of a strict async function: its imports come from assert.js, and from stand-ins
 * for `std` and `os`. A collection of garbage cannot be asked for in a machine; the stand-in for `gc` does nothing.
 */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { EngineTests, Outcomes } from './engine-tests.ts';
import type { Source } from './source.ts';

const run = promisify(execFile);
const REFERENCE_MS = 60_000;
const CASES = fileURLToPath(new URL('./programs/cases.js', import.meta.url));
const NATIVE_CASES = fileURLToPath(new URL('./programs/native-cases.js', import.meta.url));

const NO_TEST = 'holds no test';
const NO_MODULES = 'it is about modules, and programs have none';
const QJS_ONLY = 'it is about what the qjs command adds to the engine';
const INTERRUPT = 'it never ends by itself: natively an interrupt handler ends it, here a limit of the task';
/** Files or folders. */
const LEFT_OUT: Record<string, string> = {
  'assert.js': NO_TEST,
  'empty.js': NO_TEST,
  'microbench.js': NO_TEST,
  'fixture_cyclic_import.js': NO_TEST,
  'fixture_reexport_direct.js': NO_TEST,
  'fixture_reexport_missing.js': NO_TEST,
  'fixture_reexport_source.js': NO_TEST,
  'fixture_string_exports.js': NO_TEST,
  'fixture_throwing_module.js': NO_TEST,
  'test_worker_module.js': NO_TEST,
  'bug567.js': NO_MODULES,
  'bug832.js': NO_MODULES,
  'destructured-export.js': NO_MODULES,
  detect_module: NO_MODULES,
  'dynamic_import_rejection_handled.js': NO_MODULES,
  'import-attributes-identity.js': NO_MODULES,
  'reexport-error-module.js': NO_MODULES,
  'test_string_exports.js': NO_MODULES,
  'test_bjson.js': QJS_ONLY,
  'test_std.js': QJS_ONLY,
  'test_worker.js': QJS_ONLY,
  bug1672: INTERRUPT,
};

const CALL = /^(\w+)\(\)(?:\.catch\(.*\))?;$/gm;
/** In one line, and without a frame of its own on the stack. */
const CALL_AND_TELL = 'try { __case("$1", $1()); } catch (error) { __threw("$1", error); }';
const IMPORT = /^import\s*(?:\*\s*as\s+(\w+)|(\{[^}]*\}))\s*from\s*["'](?:[^"']*[/:])?([\w.]+)["'];?/gm;
const STAND_IN = `const __assert = (() => { ASSERT; return { assert, assertThrows, assertArrayEquals }; })();
const __modules = { 'assert.js': __assert, std: { gc() {} }, os: { platform: 'linux' } };
globalThis.gc = () => {};`;

export const quickjsTests: EngineTests = {
  image: 'quickjs',
  limits: { maxMemoryBytes: 512 * 1024 * 1024 },

  modules: (source) => testFiles(source).filter((file) => reasonToLeaveOut(file) === undefined),

  leftOut: (source) => Object.fromEntries(testFiles(source).flatMap((file) => (reasonToLeaveOut(file) === undefined ? [] : [[file, reasonToLeaveOut(file) as string]]))),

  program: (source, module) => {
    // Some look for their own name in a stack.
    const text = readFileSync(join(instrumented(source), module), 'utf8').replaceAll(basename(module), 'main.js');
    const assert = readFileSync(join(source.folder, 'tests/assert.js'), 'utf8').replaceAll('export ', '');
    const body = isModule(text)
      ? `await (async () => { "use strict"; ${text.replace(IMPORT, (_all, star, names, from) => `const ${star ?? names} = __modules['${from}'];`)}\n})()`
      : `(0, eval)(${JSON.stringify(text)})`;
    const lines = [readFileSync(CASES, 'utf8'), STAND_IN.replace('ASSERT', () => assert)].join('\n').replaceAll(/^\s*\/\/.*$/gm, '');
    // On one line, so that the lines of the test are what they are natively.
    const before = `eval(${JSON.stringify(`${lines}; globalThis.__modules = __modules`)})`;
    const code = `${before}; try { ${body}; __file() } catch (error) { __file(error, true) }; for (let turn = 0; turn < 100 && (turn === 0 || !__settled()); turn++) await new Promise((done) => setTimeout(done, 1)); console.log(__report())`;
    return { language: 'javascript', code };
  },

  outcomes: ({ outcome, stdout }, module) => {
    const { kind, error, limit } = JSON.parse(outcome);
    if (kind === 'done') return named(module, Buffer.from(stdout, 'latin1').toString());
    return { [module]: { is: kind === 'limit' ? `limit ${limit}` : `ended by ${error?.name}`, detail: error?.message } };
  },

  reference: async (source, module) => {
    const file = join(instrumented(source), module);
    const kind = isModule(readFileSync(file, 'utf8')) ? 'module' : 'script';
    try {
      const { stdout } = await run(await source.native(), [NATIVE_CASES, CASES, file, kind], { timeout: REFERENCE_MS, maxBuffer: 64 << 20 });
      return named(module, stdout);
    } catch (error) {
      return { [module]: { is: 'ended', detail: (error as Error).message } };
    }
  },
};

function testFiles({ folder }: Source): string[] {
  return globSync('**/*.js', { cwd: join(folder, 'tests') }).sort();
}

function reasonToLeaveOut(file: string): string | undefined {
  return LEFT_OUT[file] ?? LEFT_OUT[file.split('/')[0] as string];
}

const isModule = (text: string) => /^import\b|^flags:.*\bmodule\b/m.test(text);

function named(module: string, report: string): Outcomes {
  const { outcomes, printed } = JSON.parse(report) as { outcomes: Outcomes; printed: string[] };
  const tests = Object.entries(outcomes).map(([name, outcome]) => [name === '' ? module : `${module}:${name}`, outcome]);
  return { ...Object.fromEntries(tests), ...(printed.length > 0 ? { [`${module} prints`]: { is: printed.join('\n') } } : {}) };
}

/** The folder of the tests, in which each call of a test function at the end of a file tells what came of it. */
function instrumented({ folder, scratch }: Source): string {
  const tests = join(scratch, 'tests');
  if (existsSync(tests)) return tests;
  const unfinished = `${tests}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  cpSync(join(folder, 'tests'), unfinished, { recursive: true });
  for (const file of globSync('**/*.js', { cwd: unfinished })) {
    const path = join(unfinished, file);
    writeFileSync(path, readFileSync(path, 'utf8').replace(CALL, CALL_AND_TELL));
  }
  renameSync(unfinished, tests);
  return tests;
}
