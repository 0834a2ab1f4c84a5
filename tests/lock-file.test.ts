/** What every fresh clone relies on: a lock file that is complete and names no registry. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const lock: { packages: Record<string, { resolved?: string; link?: boolean; integrity?: string; optionalDependencies?: Record<string, string> }> } = JSON.parse(
  readFileSync(`${root}/package-lock.json`, 'utf8'),
);

test('the lock file names no registry, and has a digest of every package', () => {
  for (const [path, { resolved, link, integrity }] of Object.entries(lock.packages)) {
    if (link || !path.startsWith('node_modules/')) continue;
    expect(resolved, path).toBeUndefined();
    expect(integrity, path).toMatch(/^sha512-/);
  }
});

test('the lock file has every optional dependency that it names, as npm ci demands', () => {
  const names = new Set(Object.keys(lock.packages).map((path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)));
  for (const [path, { optionalDependencies }] of Object.entries(lock.packages)) {
    for (const name of Object.keys(optionalDependencies ?? {})) expect(names.has(name), `${path} -> ${name}`).toBe(true);
  }
});
