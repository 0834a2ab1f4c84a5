/** Each image brings the licence of every source that is in it, and each package its own. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const packages = new URL('../packages/', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, packages), 'utf8');

test.each(['cpython', 'quickjs'])('%s: each source has a file in `licences`', (image) => {
  const { sources } = JSON.parse(read(`machine/${image}/image.json`)) as { sources: { package: string }[] };
  expect(sources.map((source) => source.package)).toContain('wasi-libc');
  for (const source of sources) expect(read(`machine/${image}/licences/${source.package}.txt`).length, source.package).toBeGreaterThan(200);
});

test.each(['fermata', 'machine', 'protocol', 'engine', 'tools', 'server', 'client'])('%s: has the licence of the repository, and packs what it needs', (name) => {
  expect(read(`${name}/LICENSE`)).toBe(read('../LICENSE'));
  const { files } = JSON.parse(read(`${name}/package.json`)) as { files: string[] };
  expect(files).toContain('dist');
  if (name === 'machine') expect(files).toEqual(expect.arrayContaining(['abi', 'cpython', 'quickjs']));
});
