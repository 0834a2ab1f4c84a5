/** Every block of the README and docs that is marked to run does so and prints what the page says; every link leads to a file. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeBlocks, matches } from './code-blocks.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const documents = ['README.md', ...readdirSync(join(root, 'docs')).map((file) => join('docs', file))].filter((file) => file.endsWith('.md'));

/** What npx does with a command that is installed, without the second of processor time that npm takes to start. */
const NPX = `#!/bin/sh
if [ "$1" = -y ]; then shift; exec npm exec --yes -- "$@"; fi
while [ "$1" != "\${1#--}" ]; do shift; done
command=$1
shift
exec "${join(root, 'node_modules/.bin')}/$command" "$@"
`;

describe.each(documents)('%s', (document) => {
  const blocks = codeBlocks(readFileSync(join(root, document), 'utf8'));
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'fermata-docs-'));
    for (const name of ['node_modules', 'examples']) symlinkSync(join(root, name), join(folder, name));
    writeFileSync(join(folder, 'package.json'), '{}');
    mkdirSync(join(folder, '.bin'));
    // The first page has the real one, as its readers do.
    if (document !== documents[0]) writeFileSync(join(folder, '.bin', 'npx'), NPX, { mode: 0o755 });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('is there', () => {
    expect(readFileSync(join(root, document), 'utf8').length).toBeGreaterThan(0);
  });

  for (const block of blocks) {
    test(`the block at line ${block.line} does what the text says`, () => {
      if ('file' in block) return writeFileSync(join(folder, block.file), block.code);
      const said = block.language === 'sh' ? shell(block.code, folder) : module(block.code, folder, `block-${block.line}.${block.language === 'ts' ? 'mts' : 'mjs'}`);
      expect(said.status, said.output).toBe(0);
      if (block.expected !== undefined && !matches(said.output, block.expected)) expect(said.output.trim()).toBe(block.expected.trim());
    });
  }
});

test('the TypeScript of all pages compiles in a strict project', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fermata-docs-'));
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{}');
    const files = documents.flatMap((document) => {
      mkdirSync(join(folder, document), { recursive: true });
      return codeBlocks(readFileSync(join(root, document), 'utf8')).flatMap((block) => {
        const isTyped = 'language' in block && block.language === 'ts';
        if (!isTyped && !('file' in block)) return [];
        const file = join(document, 'file' in block ? block.file : `block-${block.line}.mts`);
        writeFileSync(join(folder, file), block.code);
        return isTyped ? [file] : [];
      });
    });
    expect(files.length).toBeGreaterThan(0);
    const compilerOptions = { target: 'ES2023', lib: ['ES2023'], types: ['node'], module: 'NodeNext', strict: true, noUncheckedIndexedAccess: true, noEmit: true };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    const { stdout } = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], { encoding: 'utf8' });
    expect(stdout).toBe('');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('every link in README and docs leads to a file that exists', () => {
  for (const document of documents) {
    const text = readFileSync(join(root, document), 'utf8');
    const base = join(root, document, '..');
    for (const [, link] of text.matchAll(/\]\(([^)#:]+\.[a-z]+)(?:#[^)]*)?\)/g)) {
      expect(existsSync(join(base, link as string)), `${document} links to ${link}`).toBe(true);
    }
  }
});

function shell(code: string, cwd: string) {
  const env = {
    ...process.env,
    FERMATA_DATA_DIR: join(cwd, '.fermata'),
    PATH: [join(cwd, '.bin'), join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
    NO_COLOR: '1',
  };
  const { status, stdout } = spawnSync('bash', ['-ec', `exec 2>&1\n${code}`], { cwd, env, encoding: 'utf8', timeout: 120_000 });
  return { status, output: stdout };
}

function module(code: string, cwd: string, name: string) {
  const file = join(cwd, name);
  writeFileSync(file, code);
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { cwd, env: { ...process.env, NO_COLOR: '1' }, encoding: 'utf8', timeout: 120_000 });
  return { status, output: stdout + stderr };
}
