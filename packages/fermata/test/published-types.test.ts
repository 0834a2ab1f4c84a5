/** The types that are published compile in a strict project of somebody else's, which checks those of its libraries too. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const CONSUMERS = ['consumer.ts', 'machine-consumer.ts'];
const compilerOptions = {
  target: 'ES2023',
  lib: ['ES2023'],
  types: ['node'],
  module: 'NodeNext',
  strict: true,
  skipLibCheck: false,
  noUncheckedIndexedAccess: true,
  noEmit: true,
};

test.each([{ exactOptionalPropertyTypes: true }, { lib: ['ES2023', 'DOM'] }])('with %j', (options) => {
  const folder = mkdtempSync(join(tmpdir(), 'fermata-types-'));
  try {
    symlinkSync(modules, join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...compilerOptions, ...options }, files: CONSUMERS }));
    for (const file of CONSUMERS) copyFileSync(new URL(file, import.meta.url), join(folder, file));
    const { stdout } = spawnSync(process.execPath, [join(modules, 'typescript/bin/tsc'), '-p', folder], { encoding: 'utf8' });
    expect(stdout).toBe('');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
