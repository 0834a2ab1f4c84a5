/**
 * The source of an engine, as the image's build script takes it from Debian, unpacked in the cache folder; and an unpatched
 * native build of it. Both are made when first asked for, and kept.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { defaultCacheDir, imageFolder } from '@fermata/machine';
import type { ImageName } from '@fermata/protocol';

const run = promisify(execFile);
const QUICKJS_FILES = ['quickjs', 'libregexp', 'libunicode', 'dtoa', 'quickjs-libc', 'qjs', 'gen/repl', 'gen/standalone'];

/** Commands that make the native build, and the interpreter that they leave. */
const BUILDS: Record<ImageName, { commands: string[][]; interpreter: string }> = {
  cpython: {
    commands: [
      ['./configure', '--quiet'],
      ['make', '-j2', '--silent'],
    ],
    interpreter: 'python',
  },
  quickjs: { commands: [['cc', '-O2', '-w', '-D_GNU_SOURCE', '-o', 'qjs', ...QUICKJS_FILES.map((file) => `${file}.c`), '-lm', '-lpthread', '-ldl']], interpreter: 'qjs' },
};

export interface Source {
  /** The unpacked source. */
  folder: string;
  /** The name of its archive. */
  archive: string;
  /** For what is derived from the source. */
  scratch: string;
  /** The native interpreter. */
  native(): Promise<string>;
}

/** Fetches and unpacks what is not there yet. Throws if the archive cannot be fetched, or is another than the pinned one. */
export async function sourceOf(image: ImageName, say: (text: string) => void): Promise<Source> {
  const list = join(imageFolder(image), 'sources.sha256');
  const [hash = '', archive = '', name = ''] = (readFileSync(list, 'utf8').split('\n')[0] ?? '').split(' ');
  const root = join(defaultCacheDir(), 'engine-tests');
  const own = join(root, `${image}-${hash.slice(0, 12)}`);
  const folder = join(own, 'source');
  if (!existsSync(folder)) {
    say(`fetching ${archive}`);
    const downloads = join(root, 'downloads');
    await run(join(imageFolder(image), '../fetch-source.sh'), [downloads, list, name], { maxBuffer: 64 << 20 });
    const unfinished = `${folder}.unfinished`;
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished, { recursive: true });
    await run('tar', ['-C', unfinished, '--strip-components=1', '-xf', join(downloads, archive)]);
    renameSync(unfinished, folder);
  }
  const scratch = join(own, 'scratch');
  mkdirSync(scratch, { recursive: true });
  return { folder, archive, scratch, native: () => nativeBuild(image, folder, join(own, 'native'), say) };
}

async function nativeBuild(image: ImageName, source: string, folder: string, say: (text: string) => void): Promise<string> {
  const { commands, interpreter } = BUILDS[image];
  if (!existsSync(folder)) {
    say(`building ${image} natively, for reference`);
    const unfinished = `${folder}.unfinished`;
    rmSync(unfinished, { recursive: true, force: true });
    await run('cp', ['-r', source, unfinished]);
    for (const command of commands) await run('nice', command, { cwd: unfinished, maxBuffer: 64 << 20 });
    renameSync(unfinished, folder);
  }
  return join(folder, interpreter);
}
