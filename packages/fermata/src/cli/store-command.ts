/** `fermata store`: copies of the data folder, and how large it is. */
import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { backup, restoreFolder } from '@fermata/engine';
import type { Command } from 'commander';
import { dataDir } from '../seal-key-file.ts';
import { EXIT } from './exit-code.ts';
import { facts, print } from './print.ts';
import { formatBytes } from './units.ts';

interface Options {
  data?: string;
  json?: boolean;
}

export function addStoreCommand(store: Command, done: (exitCode: number) => void): void {
  const about = (name: string, description: string) =>
    store
      .command(name)
      .description(description)
      .option('--data <folder>', 'data folder (default: FERMATA_DATA_DIR, else that of the user)')
      .option('--json', 'print one JSON object');
  about('backup', 'copy the data folder as it is at one moment, in use or not; its seal key is not copied')
    .argument('<target>', 'a folder that is missing or empty')
    .action(async (target: string, { data = dataDir(), json }: Options) => {
      await backup(data, target);
      const { bytes } = await sizeOf(target);
      print(json, { data: resolve(data), target: resolve(target), bytes }, () => `${resolve(target)}: ${formatBytes(bytes)}`);
      done(EXIT.ok);
    });
  about('restore', 'copy a backup into a data folder that is missing or empty')
    .argument('<source>', 'a folder that backup has made')
    .action(async (source: string, { data = dataDir(), json }: Options) => {
      await restoreFolder(source, data);
      print(json, { data: resolve(data), source: resolve(source) }, () => `${resolve(data)} is restored`);
      done(EXIT.ok);
    });
  about('size', 'bytes on the disk').action(async ({ data = dataDir(), json }: Options) => {
    const size = await sizeOf(data);
    print(json, { data: resolve(data), ...size }, () =>
      facts({ folder: resolve(data), database: formatBytes(size.database_bytes), files: `${size.files}, ${formatBytes(size.files_bytes)}`, all: formatBytes(size.bytes) }),
    );
    done(EXIT.ok);
  });
}

export async function sizeOf(folder: string): Promise<{ bytes: number; database_bytes: number; files: number; files_bytes: number }> {
  const sum = async (names: string[]) =>
    (await Promise.all(names.map(async (name) => (await stat(join(folder, name)).catch(() => undefined))?.size ?? 0))).reduce((a, b) => a + b, 0);
  const all = await readdir(join(folder, 'blobs'), { recursive: true, withFileTypes: true }).catch(() => []);
  const files = all.filter((entry) => entry.isFile()).map((entry) => join('blobs', entry.name.slice(0, 2), entry.name));
  const [database_bytes, files_bytes] = await Promise.all([sum(['store.db', 'store.db-wal']), sum(files)]);
  return { bytes: database_bytes + files_bytes, database_bytes, files: files.length, files_bytes };
}
