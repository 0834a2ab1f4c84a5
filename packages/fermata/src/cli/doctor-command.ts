/** `fermata doctor`: what this machine can do, and why not. */
import { accessSync, constants, existsSync } from 'node:fs';
import { availableParallelism, freemem } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ownerOf } from '@fermata/engine/folder-owner';
import { defaultCacheDir, IMAGE_NAMES, jailObstacle, verifyCached } from '@fermata/machine';
import type { ImageName, Language } from '@fermata/protocol';
import type { Command } from 'commander';
import { createFermata } from '../fermata.ts';
import { dataDir, hasSealKey, sealKey } from '../seal-key-file.ts';
import { EXIT } from './exit-code.ts';
import { sizeOf } from './store-command.ts';
import { formatBytes } from './units.ts';

interface Finding {
  what: string;
  ok: boolean;
  /** Something that one may do without. */
  missing?: true;
  detail: string;
}

const PROBES: Record<Language, string> = { python: '20 + 1', javascript: '20 + 1', typescript: 'const n: number = 20; n + 1' };

export function addDoctorCommand(command: Command, done: (exitCode: number) => void): void {
  command
    .option('--data <folder>', 'data folder to look at (default: FERMATA_DATA_DIR, else that of the user)')
    .option('--json', 'as JSON')
    .action(async ({ data, json }: { data?: string; json?: boolean }) => {
      const findings = await examine(data ?? dataDir());
      const ok = findings.every((finding) => finding.ok);
      if (json) process.stdout.write(`${JSON.stringify({ ok, findings })}\n`);
      else for (const finding of findings) process.stdout.write(`${finding.missing ? '-- ' : finding.ok ? 'ok ' : 'NO '} ${finding.what}: ${finding.detail}\n`);
      done(ok ? EXIT.ok : EXIT.unavailable);
    });
}

async function examine(folder: string): Promise<Finding[]> {
  return [
    { what: 'node', ok: true, detail: `${process.version} on ${process.platform} ${process.arch}` },
    { what: 'machine', ok: true, detail: `${availableParallelism()} cores, ${formatBytes(freemem())} of memory free` },
    ...(await languages()),
    attempt('image cache', () => defaultCacheDir() + writable(defaultCacheDir())),
    ...(await Promise.all(IMAGE_NAMES.map(cached))),
    attempt('seal key', () => (hasSealKey() ? keyInUse() : `none yet; a first pause makes it in ${dataDir()}${writable(existing(dataDir()))}`)),
    await dataFolder(folder),
    { what: 'threads', ok: true, detail: 'Wasm machines in threads of the process that runs them; no fence around that process' },
    await processes(),
    jail(),
  ];
}

/** Who has it, how large it is, and which version of its form. Looking makes nothing. */
async function dataFolder(folder: string): Promise<Finding> {
  const what = 'data folder';
  const file = join(folder, 'store.db');
  if (!existsSync(file)) return { what, ok: true, detail: `${folder}: no tasks yet` };
  try {
    const owner = ownerOf(folder);
    const database = new DatabaseSync(file, { readOnly: true });
    const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
    database.close();
    const who = owner && isLocked(folder) ? `owned by process ${owner.pid}${owner.url === undefined ? '' : ` at ${owner.url}`}` : 'owned by nobody now';
    return { what, ok: true, detail: `${folder}: ${formatBytes((await sizeOf(folder)).bytes)}, version ${version}, ${who}` };
  } catch (error) {
    return { what, ok: false, detail: `${folder}: ${(error as Error).message}` };
  }
}

/** Without taking it: who starts at this moment must not find it taken. */
function isLocked(folder: string): boolean {
  const lock = new DatabaseSync(join(folder, 'owner.db'), { readOnly: true, timeout: 0 });
  try {
    lock.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch {
    return true;
  } finally {
    lock.close();
  }
}

/** Machines in child processes, under Node's permission model. */
async function processes(): Promise<Finding> {
  const what = 'processes';
  try {
    await using fermata = createFermata({ host: 'processes', threads: 1, jail: 'off' });
    const result = await fermata.run({ language: 'javascript', code: '20 + 1' });
    const detail = result.output === 21 ? 'Wasm machines in child processes that may read only what they need' : `wrong result: ${result.error?.message ?? result.output}`;
    return { what, ok: result.output === 21, detail };
  } catch (error) {
    return { what, ok: false, detail: (error as Error).message };
  }
}

/** Its absence is worth knowing, and no fault. */
function jail(): Finding {
  const obstacle = jailObstacle();
  const without = 'without it, child processes are fenced by Node alone, which does not stop them from using the network';
  if (obstacle) return { what: 'jail', ok: true, missing: true, detail: `not available: ${obstacle}; ${without}` };
  return { what: 'jail', ok: true, detail: 'bubblewrap works: child processes see no file, process or network of the host' };
}

async function languages(): Promise<Finding[]> {
  await using fermata = createFermata();
  const findings: Finding[] = [];
  for (const [language, code] of Object.entries(PROBES)) {
    const began = performance.now();
    try {
      const result = await fermata.run({ language: language as Language, code });
      const took = `first result after ${Math.round(performance.now() - began)} ms`;
      findings.push({ what: language, ok: result.output === 21, detail: result.output === 21 ? took : `wrong result: ${result.error?.message ?? result.output}` });
    } catch (error) {
      findings.push({ what: language, ok: false, detail: (error as Error).message });
    }
  }
  return findings;
}

/** After the probes, which bring the images into the cache. */
async function cached(name: ImageName): Promise<Finding> {
  const what = `cached ${name}`;
  const check = await verifyCached(name);
  if (!check) return { what, ok: false, detail: 'not in the cache, so it is built anew in every process' };
  const bad = check.parts.filter(({ sha256, pinned }) => sha256 !== pinned).map(({ part }) => part);
  if (bad.length > 0) return { what, ok: false, detail: `${bad.join(', ')} differs from what is pinned; delete the image cache` };
  return { what, ok: true, detail: `${check.version}, ${check.parts.length} parts as pinned` };
}

function attempt(what: string, look: () => string): Finding {
  try {
    return { what, ok: true, detail: look() };
  } catch (error) {
    return { what, ok: false, detail: (error as Error).message };
  }
}

function keyInUse(): string {
  return `${sealKey().id}${process.env.FERMATA_SEAL_KEY === undefined ? ` in ${dataDir()}` : ' from FERMATA_SEAL_KEY'}`;
}

/** The folder, or the nearest one above it that is there. */
function existing(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existing(dirname(folder));
}

function writable(folder: string): string {
  accessSync(folder, constants.W_OK);
  return '';
}
