/**
 * How a child process is shut in: Node's permission model always, and bubblewrap where it works.
 *
 * The permission model is a second fence, not a boundary (Node 22 and 24 let it use the network). In the jail the child
 * sees Node, this package and the image cache, all read-only, and no network, no other process, no environment.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `auto`: in the jail if it works here. `required`: fails without. */
export type JailMode = 'auto' | 'off' | 'required';

/** A command line and what its process may read. */
export interface ChildCommand {
  command: string;
  args: string[];
}

const TRY_MS = 10_000;
const SYSTEM = ['/usr', '/lib', '/lib32', '/lib64', '/bin', '/etc/ld.so.cache'];

/** The folders that hold the code of the child: this package, and what it imports. */
function codeFolders(): string[] {
  const entries = ['zod', '@fermata/protocol', '#self'].map((name) =>
    name === '#self' ? fileURLToPath(new URL('../../package.json', import.meta.url)) : fileURLToPath(import.meta.resolve(name)),
  );
  return [...new Set(entries.map((file) => packageFolder(realpathSync(file))))];
}

function packageFolder(file: string): string {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
  }
  return dirname(file);
}

/** Modules are found through the folders above them, so these must exist for the child, with the links in them. */
function linkFolders(): string[] {
  const folders: string[] = [];
  for (let folder = dirname(fileURLToPath(import.meta.url)); folder !== dirname(folder); folder = dirname(folder)) {
    const modules = join(folder, 'node_modules');
    if (existsSync(modules)) folders.push(modules);
  }
  return folders;
}

/** Node with the permission to read its code and the images, and to start the Worker. */
export function nodeCommand(script: string, cacheDir: string, inJail: boolean): ChildCommand {
  const readable = [...new Set([...codeFolders(), ...linkFolders(), realpathIfThere(cacheDir), cacheDir])];
  const permissions = ['--permission', '--allow-worker', ...readable.map((path) => `--allow-fs-read=${path}`)];
  const node = { command: process.execPath, args: [...permissions, '--no-warnings', script, cacheDir] };
  return inJail ? jailed(node, [process.execPath, ...readable]) : node;
}

/** The command in a jail in which it sees the system's libraries and these paths, read-only, and nothing else. */
export function jailed({ command, args }: ChildCommand, readable: readonly string[]): ChildCommand {
  const binds = [...SYSTEM, ...readable].flatMap((path) => ['--ro-bind-try', path, path]);
  const fences = ['--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'];
  return { command: 'bwrap', args: [...fences, ...binds, '--remount-ro', '/', '--', command, ...args] };
}

function realpathIfThere(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

let obstacle: { reason: string | undefined } | undefined;

/** Why the jail cannot be had here, or undefined where it can. Tried once a process. */
export function jailObstacle(): string | undefined {
  obstacle ??= { reason: tryJail() };
  return obstacle.reason;
}

function tryJail(): string | undefined {
  if (process.platform !== 'linux') return 'bubblewrap exists on Linux only';
  const { command, args } = jailed({ command: '/usr/bin/true', args: [] }, []);
  const { error, status, stderr } = spawnSync(command, args, { encoding: 'utf8', env: { PATH: process.env.PATH }, timeout: TRY_MS });
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return 'bubblewrap (bwrap) is not installed';
  if (error) return `bubblewrap does not work here: ${error.message}`;
  return status === 0 ? undefined : `bubblewrap does not work here: ${stderr.trim().split('\n').at(-1)}`;
}
