/** Installs the peers into bench/node_modules at first use. Their install scripts do not run: those that need one bring a built binary. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** Says what it does. What cannot be installed is absent from the rows, and no error. */
export function installPeers(tell: (text: string) => void): void {
  if (isInstalled()) return;
  tell('Installing the peers (npm install in bench/) ...');
  const args = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, error } = spawnSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' });
  if (status !== 0) tell(`The peers could not be installed${error ? `: ${error.message}` : ''}; they will be absent.`);
}

/** npm notes what it installed; what the lock file has and this system cannot use is not in that note. */
function isInstalled(): boolean {
  const note = `${folder}node_modules/.package-lock.json`;
  if (!existsSync(note)) return false;
  const wanted = versions(`${folder}package-lock.json`);
  return Object.entries(versions(note)).every(([path, version]) => isDeepStrictEqual(version, wanted[path]));
}

function versions(lockFile: string): Record<string, string> {
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as { packages: Record<string, { version: string }> };
  return Object.fromEntries(Object.entries(packages).flatMap(([path, { version }]) => (path === '' ? [] : [[path, version]])));
}
