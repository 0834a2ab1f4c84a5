/** Writes docs/engine-tests.md from the last results of both engines. */
import { writeFileSync } from 'node:fs';
import { arch, cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { readManifest } from '@fermata/machine';
import type { Difference } from './compare.ts';
import type { EngineTests } from './engine-tests.ts';
import { type Judged, totalsOf } from './judge.ts';

export interface EngineReport {
  engine: EngineTests;
  archive: string;
  judged: Judged[];
  leftOut: Record<string, string>;
  /** Modules that are to be run, and were not. */
  notRun: string[];
}

const FILE = fileURLToPath(new URL('../../docs/engine-tests.md', import.meta.url));
const INTRO = `# The engines' own tests

The interpreters of the images are patched and transformed. To show that they are still what their makers meant, the engines' own tests
are run in machines: CPython's regression tests (\`Lib/test\`) and those of QuickJS-ng (\`tests/\`), from the source archives that the images
are built of.

\`\`\`sh
npm run engine-tests                                          # both engines; builds them natively first
npm run engine-tests -- --engine quickjs
npm run engine-tests -- --engine cpython --only test_json,test_re --pauses 10
npm run engine-tests -- --ci                                  # a sample, without a native build; this is what CI runs
\`\`\`

The sources come from Debian, by their sha256 (\`packages/machine/fetch-source.sh\`): what is needed is apt with a Debian mirror, or the
archives in the folder that \`FERMATA_BUILD_DL\` names. The native build needs a C compiler, make, and the headers of zlib, bzip2, lzma and
SQLite. Everything is kept in the cache folder. This page is written by \`npm run engine-tests -- --docs\`.

## How

Each module of tests runs in a machine of its own, and natively in an unpatched build of the same source, by the same runner. Each test
must end alike: passed, failed, skipped. A difference must be explained in \`tests/engines/known-differences.ts\`; an unexplained one fails
the suite.

Then the module runs again and is stopped at random places (three, or \`--pauses\`). At each a snapshot is made, its machine is given up, and
another one goes on from the bytes. Outcome, output, fuel and state hash must be those of the run without pauses, as in [fidelity](fidelity.md).

- CPython's modules are run by unittest, with doctests, without the resources that CPython's own runner leaves out by default (network, and
  what takes long). In a machine the test files lie in \`/work\`.
- A file of QuickJS-ng's that calls its test functions one by one has a test for each; any other file is one test, and what it prints is
  another. ES modules run as the body of a strict async function; \`gc()\` does nothing in a machine.
`;

export async function writeDocs(reports: readonly EngineReport[]): Promise<void> {
  const sections = await Promise.all(reports.map(section));
  writeFileSync(FILE, [INTRO, totals(reports), ...sections].join('\n'));
}

function totals(reports: readonly EngineReport[]): string {
  const rows = reports.map(({ engine: { image }, judged }) => {
    const { modules, tests, same, explained, unexplained, paused, pauses, problems } = totalsOf(judged);
    const counts = [modules, tests, same, explained, unexplained, paused, pauses, problems];
    return `| ${[image, ...counts.map((count) => count.toLocaleString('en-US'))].join(' | ')} |`;
  });
  return `## Results

| engine | modules | tests | the same | different, explained | different, unexplained | modules run again with pauses | pauses | modules that pauses changed, or that did not end |
|---|---|---|---|---|---|---|---|---|
${rows.join('\n')}

${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${process.platform} ${arch()}, ${cpus()[0]?.model.trim() ?? 'unknown processor'}.
`;
}

async function section({ engine: { image }, archive, judged, leftOut, notRun }: EngineReport): Promise<string> {
  const { version } = await readManifest(image);
  const explained = judged.flatMap(({ differences }) => differences.filter(({ known }) => known));
  const [faults, nature] = [explained.filter(({ known }) => known?.fault), explained.filter(({ known }) => !known?.fault)];
  const unexplained = judged.flatMap(({ differences }) => differences.filter(({ known }) => !known));
  return `## ${image}

Version ${version}, \`${archive}\`.

### Different, because of what a machine is

${byReason(nature)}
### Different, and wrong

${faults.length === 0 ? 'Nothing known.\n' : byReason(faults, true)}${unexplained.length === 0 ? '' : `\n### Not explained yet\n\n${unexplained.map(({ id, reference, machine }) => `- \`${id}\`: ${reference.is}, in a machine ${machine.is}`).join('\n')}\n`}
${notRun.length === 0 ? '' : `### Not run yet\n\n${notRun.join(', ')}\n\n`}### Left out

${leftOutTable(leftOut)}`;
}

function byReason(differences: readonly Difference[], named = false): string {
  const groups = [...Map.groupBy(differences, ({ known }) => known?.why ?? '')].sort(([, a], [, b]) => b.length - a.length);
  const rows = groups.map(([why, those]) => `| ${[why, those.length, ...(named ? [shortList(those.map(({ id }) => `\`${id}\``))] : [])].join(' | ')} |`);
  return `| why | tests |${named ? ' which |' : ''}\n|---|---|${named ? '---|' : ''}\n${rows.join('\n')}\n`;
}

const SHOWN = 4;
const shortList = (names: string[]) => names.slice(0, SHOWN).join(', ') + (names.length > SHOWN ? `, and ${names.length - SHOWN} more` : '');

function leftOutTable(leftOut: Record<string, string>): string {
  const groups = Map.groupBy(Object.entries(leftOut), ([, why]) => why);
  return `| why | modules |\n|---|---|\n${[...groups].map(([why, those]) => `| ${why} | ${those.map(([name]) => name).join(', ')} |`).join('\n')}\n`;
}
