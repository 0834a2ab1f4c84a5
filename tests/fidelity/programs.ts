/** The programs that fidelity is shown on: the public data sets, and our own nasty ones. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Language } from '@fermata/protocol';

export interface TestProgram {
  id: string;
  language: Language;
  code: string;
  /** Of the data sets: what a right run prints. */
  mustPrint?: string;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const DATA = process.env.FERMATA_TEST_DATA ?? join(ROOT, '../shared/data');
export const DATA_SETS = ['humaneval', 'mbpp', 'humanevalx-js'] as const;
const LANGUAGES: Record<string, Language> = { '.py': 'python', '.js': 'javascript', '.ts': 'typescript' };

/** Undefined where the data folder is absent. */
export function dataPrograms(set: (typeof DATA_SETS)[number]): TestProgram[] | undefined {
  const script = join(DATA, 'make_programs.py');
  if (!existsSync(script)) return undefined;
  const lines = execFileSync('python3', [script, set], { encoding: 'utf8', maxBuffer: 64 << 20 })
    .trim()
    .split('\n');
  return lines.map((line) => {
    const { id, language, program } = JSON.parse(line);
    return { id, language, code: program, mustPrint: 'casebank-ok' };
  });
}

export function nastyPrograms(folder = fileURLToPath(new URL('./programs/', import.meta.url))): TestProgram[] {
  return readdirSync(folder)
    .filter((file) => LANGUAGES[extname(file)])
    .sort()
    .map((file) => ({ id: file, language: LANGUAGES[extname(file)] as Language, code: readFileSync(join(folder, file), 'utf8') }));
}
