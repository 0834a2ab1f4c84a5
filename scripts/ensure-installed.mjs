/**
 * Installs the dependencies when those that the lock file names are not there. Runs on Node 20 and needs no dependency.
 *
 * Everything after it runs on the Node of the devDependencies, which npm scripts find first; where that one could not
 * be installed (install scripts are off), a Node of at least 22 on the PATH takes its place.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const NEEDED_MAJOR = 22;

/** Runs a command in the repository's root; ends this process with its status if it fails. */
export function run(command, args) {
  const shell = process.platform === 'win32';
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', shell });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

export function ensureInstalled() {
  if (!isInstalled()) {
    console.error('Installing dependencies (npm ci) ...');
    run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  }
  if (existsSync(join(root, 'node_modules/.bin/node')) || Number(process.versions.node.split('.')[0]) >= NEEDED_MAJOR) return;
  console.error(`Node ${process.versions.node} is too old and npm did not install the one in devDependencies. Use Node ${NEEDED_MAJOR} or later, or run: npm rebuild node`);
  process.exit(1);
}

/** npm notes what it installed; every package of the lock file that is not optional must be there in its version. */
function isInstalled() {
  const note = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(note)) return false;
  const installed = packages(note);
  return Object.entries(packages(join(root, 'package-lock.json'))).every(
    ([path, { version, optional, link }]) => !path.startsWith('node_modules/') || optional || link || installed[path]?.version === version,
  );
}

function packages(lockFile) {
  return JSON.parse(readFileSync(lockFile, 'utf8')).packages;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) ensureInstalled();
