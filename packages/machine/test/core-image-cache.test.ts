/** The image cache: whatever is wrong with an entry, the image is built anew and the entry replaced. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadImage, verifyCached } from '../src/wasm/image-store.ts';

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'fermata-cache-'));
});
afterEach(() => rmSync(cache, { recursive: true, force: true }));

/** The folder of the one entry; nothing else may lie beside it. */
function entry(): string {
  const [name, ...others] = readdirSync(join(cache, 'images'));
  expect(others).toEqual([]);
  return join(cache, 'images', name as string);
}
function flip(file: string): void {
  const bytes = readFileSync(file);
  bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
  writeFileSync(file, bytes);
}

test('an entry has every part as pinned, and is used again', async () => {
  expect(await verifyCached('quickjs', cache)).toBeUndefined();
  const built = await loadImage('quickjs', cache);
  expect(await verifyCached('quickjs', cache)).toMatchObject({ ok: true });
  const { ino } = statSync(entry());
  const read = await loadImage('quickjs', cache);
  expect(statSync(entry()).ino).toBe(ino);
  expect(read.baseState).toEqual(built.baseState);
  expect(Buffer.compare(read.base, built.base)).toBe(0);
});

const DAMAGE: [string, (folder: string) => void][] = [
  ['a cut memory', (folder) => truncateSync(join(folder, 'base.memory'), 65536)],
  ['another state', (folder) => flip(join(folder, 'base.state'))],
  ['a missing part', (folder) => rmSync(join(folder, 'guest.wasm'))],
  ['a missing list of parts', (folder) => rmSync(join(folder, 'entry.json'))],
  ['a list of another version', (folder) => writeFileSync(join(folder, 'entry.json'), '{"magic":"fermata-image","version":2,"parts":{}}')],
  [
    'a file in the place of the folder',
    (folder) => {
      rmSync(folder, { recursive: true });
      writeFileSync(folder, '');
    },
  ],
];

test.each(DAMAGE)('%s: built anew', async (_what, damage) => {
  await loadImage('quickjs', cache);
  damage(entry());
  await loadImage('quickjs', cache);
  expect(await verifyCached('quickjs', cache)).toMatchObject({ ok: true });
  entry();
});

test('a part that only a full check can see is found by one', async () => {
  await loadImage('quickjs', cache);
  flip(join(entry(), 'base.memory'));
  expect(await verifyCached('quickjs', cache)).toMatchObject({ ok: false });
});

test('many at once leave one good entry', async () => {
  await Promise.all([1, 2, 3].map(() => loadImage('quickjs', cache)));
  entry();
  expect(await verifyCached('quickjs', cache)).toMatchObject({ ok: true });
});
