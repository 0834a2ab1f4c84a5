/** The check of the import direction passes on this repository and catches each kind of violation. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { problemsIn } from '../scripts/check-imports.mjs';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'fermata-imports-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function problemsWith(files: Record<string, string>): string[] {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return problemsIn(root);
}

test('this repository has no violation', () => {
  expect(problemsIn(fileURLToPath(new URL('..', import.meta.url)))).toEqual([]);
});

test('imports that point left are accepted, and a comment is no import', () => {
  const files = {
    'packages/protocol/src/index.ts': "export * from './values.ts';\n",
    'packages/protocol/src/values.ts': "/**\n * import { Machine } from '@fermata/machine';\n */\nexport const a = 1;\n",
    'packages/machine/src/index.ts': "export * from './hosts/host.ts';\n",
    'packages/machine/src/hosts/host.ts': "import type { A } from '@fermata/protocol';\nimport { b } from '../wasm/b.ts';\n",
    'packages/machine/src/wasm/b.ts': 'export const b = 1;\n',
    'packages/fermata/src/index.ts': "const { Machine } = await import('@fermata/machine');\n",
  };
  expect(problemsWith(files)).toEqual([]);
});

test.each([
  ['a package that imports one to its right', 'packages/protocol/src/a.ts', "import { Machine } from '@fermata/machine';", 'protocol must not import machine'],
  ['a dynamic import to the right', 'packages/machine/src/wasm/a.ts', "await import('fermata');", 'machine must not import fermata'],
  ['a folder that imports one to its right', 'packages/machine/src/wasm/a.ts', "import {\n  b,\n} from '../hosts/b.ts';", 'wasm must not import hosts'],
  ['a folder that imports its package as a whole', 'packages/machine/src/wasm/a.ts', "export { b } from '../index.ts';", 'wasm must not import index.ts'],
  ['an import into another package by path', 'packages/machine/src/wasm/a.ts', "import '../../../protocol/src/b.ts';", 'import the package'],
  ['a package without a place', 'packages/other/src/a.ts', "import '@fermata/protocol';", 'no place in LAYERS'],
  ['a file that imports itself', 'packages/protocol/src/a.ts', "import './a.ts';", 'import cycle'],
  ['a file named after nothing', 'packages/protocol/src/utils.ts', 'export {};', 'says nothing'],
  ['an agent framework outside of its adapter', 'packages/fermata/src/adapters/langchain.ts', "import { tool } from 'ai';", 'imports ai; only'],
  ['a framework by a path of its own', 'packages/fermata/src/index.ts', "await import('@langchain/core/tools');", 'imports @langchain/'],
  ['a file that is too long', 'scripts/long.mjs', '\n'.repeat(501), 'split it'],
])('%s is refused', (_what, path, text, problem) => {
  expect(problemsWith({ [path]: text })).toEqual([expect.stringContaining(problem)]);
});

test('a cycle over several files is refused and shown', () => {
  const [a, b, c] = ['packages/protocol/src/a.ts', 'packages/protocol/src/b.ts', 'packages/protocol/src/c.ts'];
  const files = { [a]: "import './b.ts';", [b]: "import './c.ts';", [c]: "import type { A } from './a.ts';" };
  expect(problemsWith(files)).toEqual([`import cycle: ${a} -> ${b} -> ${c} -> ${a}`]);
});
