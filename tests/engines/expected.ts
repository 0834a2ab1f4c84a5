/** What modules come to in a machine, kept in the repository: a sample of the suite that needs no native build. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ImageName } from '@fermata/protocol';
import type { Outcomes } from './engine-tests.ts';

/** Quick ones, each of another part of the interpreter and its library. */
const SAMPLE = ['test_dict', 'test_generators', 'test_heapq', 'test_json', 'test_coroutines', 'test_zlib', 'test_sqlite3'];
const FILE = fileURLToPath(new URL('./expected.json', import.meta.url));

/** Of a module, the ids that are ok, and what the others are. */
type Expected = Partial<Record<ImageName, Record<string, { ok: string[]; others: Record<string, string> }>>>;

/** Whether the module is one of the sample: all of QuickJS-ng's, some of CPython's. */
export const isInSample = (image: ImageName, module: string): boolean => image === 'quickjs' || SAMPLE.includes(module);

export function expectedOutcomes(image: ImageName, module: string): Outcomes {
  const { ok = [], others = {} } = load()[image]?.[module] ?? {};
  return Object.fromEntries([...ok.map((id) => [id, { is: 'ok' }] as const), ...Object.entries(others).map(([id, is]) => [id, { is }] as const)]);
}

/** Writes down what the modules of the sample came to. */
export function saveExpected(image: ImageName, runs: readonly { module: string; machine: Outcomes }[]): void {
  const modules = runs.map(({ module, machine }) => {
    const [ok, others] = [[] as string[], {} as Record<string, string>];
    for (const [id, { is }] of Object.entries(machine)) {
      if (is === 'ok') ok.push(id);
      else others[id] = is;
    }
    return [module, { ok, others }] as const;
  });
  writeFileSync(FILE, `${JSON.stringify({ ...load(), [image]: Object.fromEntries(modules) }, null, 1)}\n`);
}

const load = (): Expected => (existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {});
