/** The check finds no error in programs that are right: the public data sets, the cases, and our own. */
import { librariesOf, stripTypes } from '@fermata/machine';
import { imageOfLanguage, type Language } from '@fermata/protocol';
import { checkProgram, type Finding } from '@fermata/tools/check';
import { describe, expect, test } from 'vitest';
import { DATA_SETS, dataPrograms, nastyPrograms } from '../fidelity/programs.ts';
import { readCases } from '../player/case-bank.ts';

/** Each program, or every tenth unless FERMATA_FULL is set. */
const sample = <T>(all: readonly T[]) => (process.env.FERMATA_FULL ? all : all.filter((_, i) => i % 10 === 0));

async function errorsIn(language: Language, code: string, toolNames?: readonly string[]): Promise<Finding[]> {
  const text = language === 'typescript' ? stripTypes(code).code : code;
  const tools = toolNames?.map((name) => ({ name, names: null }));
  const findings = await checkProgram(text, {
    language: language === 'python' ? 'python' : 'javascript',
    libraries: librariesOf(imageOfLanguage[language]),
    ...(tools ? { tools } : {}),
  });
  return findings.filter(({ severity }) => severity === 'error');
}

describe.each(DATA_SETS)('%s', (set) => {
  const programs = dataPrograms(set);
  test.skipIf(!programs)('no program has an error', async () => {
    for (const { id, language, code } of sample(programs ?? [])) expect(await errorsIn(language, code, []), id).toEqual([]);
  });
});

describe.each(['bug-reports', 'attacks'] as const)('%s', (bank) => {
  const cases = readCases(bank);
  test.skipIf(!cases)('no case has an error', async () => {
    for (const { id, language, program, tools } of cases ?? []) {
      if (language !== 'bash') expect(await errorsIn(language, program, Object.keys(tools ?? {})), id).toEqual([]);
    }
  });
});

test('none of our own programs has an error', async () => {
  for (const { id, language, code } of nastyPrograms()) expect(await errorsIn(language, code), id).toEqual([]);
});
