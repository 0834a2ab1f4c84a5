/** What is loaded for what: the time to start is mostly that of loading files, and nobody pays for what another way needs. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { runNode } from './new-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'fermata-loads-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const BIN = path('../bin/fermata.mjs');
const LIBRARY = new URL('../dist/index.js', import.meta.url).href;

/** Names of the packages that a Node program loads files of, by thread, with how many. */
async function loadsOf(args: string[]): Promise<Record<'main' | 'worker', Map<string, number>>> {
  const file = join(folder, `loads-${Math.random()}`);
  const ended = await runNode(['--import', new URL('record-loads.mjs', import.meta.url).href, ...args], {
    cwd: folder,
    env: { LOADS_FILE: file, FERMATA_DATA_DIR: join(folder, 'data') },
  });
  expect(ended).toMatchObject({ code: 0 });
  const loads = { main: new Map<string, number>(), worker: new Map<string, number>() };
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const [thread, url] = line.split(' ') as ['main' | 'worker', string];
    const [, name] = /.*(?:node_modules|packages)\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? [];
    if (name) loads[thread].set(name, (loads[thread].get(name) ?? 0) + 1);
  }
  return loads;
}

const sum = (counts: Map<string, number>) => [...counts.values()].reduce((a, b) => a + b, 0);
const HEAVY = ['engine', 'server', 'client', 'tools', 'machine', 'zod', 'ajv', 'hono', 'prompts', '@clack/prompts', '@modelcontextprotocol/sdk'];

test.each([[['--version']], [['--help']], [['run', '--help']]])('fermata %j loads the command line, and nothing that runs programs', async (args) => {
  const { main } = await loadsOf([BIN, ...args]);
  expect([...main.keys()].filter((name) => HEAVY.includes(name))).toEqual([]);
  expect(main.get('commander')).toBeGreaterThan(0);
});

test('fermata run --ephemeral loads no engine, server or client', async () => {
  const { main, worker } = await loadsOf([BIN, 'run', '--ephemeral', '-l', 'javascript', '-e', '1 + 1']);
  expect([...main.keys()].filter((name) => ['server', 'client', 'hono', '@clack/prompts', 'ajv'].includes(name))).toEqual([]);
  expect(main.get('engine'), 'which of many tools a text means').toBe(1);
  expect(worker.get('machine')).toBeGreaterThan(0);
});

test('a program that runs a task in memory loads no engine, and its thread of machines no schemas', async () => {
  const script = join(folder, 'task.mjs');
  const code = `import { createFermata } from ${JSON.stringify(LIBRARY)}; await using fermata = createFermata(); await fermata.run({ language: 'javascript', code: '1 + 1' });`;
  writeFileSync(script, code);
  const { main, worker } = await loadsOf([script]);
  expect([...main.keys()].sort()).toEqual(['engine', 'fermata', 'machine', 'protocol', 'tools', 'zod']);
  expect(main.get('engine')).toBe(1);
  expect([...worker.keys()].sort()).toEqual(['machine', 'protocol']);
  expect(sum(worker)).toBeLessThan(60);
});
