/** The bench works: a row gives a report of the documented shape, and the page is made from the kept one. No speed is asserted. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { benchmarksPage } from '../bench/page.ts';
import type { Report } from '../bench/report.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const bench = (...args: string[]) => promisify(execFile)(process.execPath, ['bench/main.ts', '--no-install', ...args], { cwd: root });

const figure = z.strictObject({ median: z.number(), p95: z.number(), least: z.number(), rounds: z.number() });
const contender = z.strictObject({
  name: z.string(),
  note: z.string().optional(),
  absent: z.string().optional(),
  figures: z.record(z.string(), figure),
  cannot: z.record(z.string(), z.string()),
  ratio: z.number().optional(),
});
const target = z.strictObject({
  what: z.string(),
  unit: z.string(),
  atMost: z.number(),
  aim: z.number().optional(),
  value: z.number().nullable(),
  met: z.boolean(),
});
const row = z.strictObject({
  name: z.string(),
  title: z.string(),
  method: z.string(),
  unit: z.string(),
  warmUps: z.number(),
  at: z.iso.datetime(),
  load: z.tuple([z.number(), z.number()]),
  cases: z.array(z.string()),
  contenders: z.array(contender),
  against: z.string().optional(),
  targets: z.array(target),
});
const reportSchema = z.strictObject({
  format: z.literal('fermata-bench'),
  version: z.literal(1),
  at: z.iso.datetime(),
  surroundings: z.strictObject({
    cpu: z.string(),
    cores: z.number(),
    memoryGiB: z.number(),
    os: z.string(),
    kernel: z.string(),
    node: z.string(),
    python: z.string().nullable(),
    pageFaultUs: z.number(),
  }),
  peers: z.array(z.strictObject({ name: z.string(), version: z.string().nullable(), absent: z.string().optional() })),
  rows: z.array(row),
});

test('one row in one round gives a report of the documented shape on stdout, also where no peer is installed', async () => {
  const { stdout, stderr } = await bench('--only', 'trivial-javascript', '--rounds', '1', '--json');
  const report = reportSchema.parse(JSON.parse(stdout));
  expect(report.rows.map(({ name }) => name)).toEqual(['trivial-javascript']);
  const ours = report.rows[0]?.contenders.find(({ name }) => name === 'Fermata, library');
  expect(ours?.figures['1 + 1']?.rounds).toBe(1);
  expect(stderr).toContain('round 1 of 1');
});

test('an unknown row is refused with the names of those that there are', async () => {
  const refused = await bench('--only', 'nothing').catch((error: { code: number; stderr: string }) => error);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/no row nothing.*trivial-javascript/) });
});

test('docs/benchmarks.md is made from the kept report; `npm run bench -- --docs` makes it anew', () => {
  const kept = reportSchema.parse(JSON.parse(readFileSync(`${root}/bench/results/latest.json`, 'utf8')));
  expect(readFileSync(`${root}/docs/benchmarks.md`, 'utf8')).toBe(benchmarksPage(kept as Report));
});

test('the lock file of the peers names no registry', () => {
  const { packages } = JSON.parse(readFileSync(`${root}/bench/package-lock.json`, 'utf8')) as { packages: Record<string, { resolved?: string }> };
  for (const [path, { resolved }] of Object.entries(packages)) expect(resolved, path).toBeUndefined();
});
