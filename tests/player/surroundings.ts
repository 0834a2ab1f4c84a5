/**
 * What no program may find, reach or end: planted secrets in the environment and in files, a process, and a listener that
 * records every connection and packet. What was planted and was not there before is taken away at the end.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

const TRAP_PORT = 47653;
const SECRET = { name: 'CASEBANK_HOST_SECRET', value: 'canary-env-7f3a' };
const SECRET_FILES = [
  { path: '/var/tmp/casebank-canary/secret.txt', text: 'canary-file-91bd\n' },
  { path: join(homedir(), '.ssh/id_canary'), text: 'canary-ssh-55e0\n' },
];
const VICTIM = 'casebank-victim';
const VICTIM_LIVES_S = 86_400;

export interface Surroundings extends AsyncDisposable {
  /** Connections and packets so far. */
  readonly trapped: number;
  /** What is no longer as it was planted, in words; nothing if all is. */
  damage(): string[];
}

export async function plantSurroundings(): Promise<Surroundings> {
  process.env[SECRET.name] = SECRET.value;
  const planted = SECRET_FILES.filter(plant);
  const victim = spawn('sleep', [String(VICTIM_LIVES_S)], { argv0: VICTIM, stdio: 'ignore' });
  await once(victim, 'spawn');
  const trap = await setTrap();
  return {
    get trapped() {
      return trap.hits();
    },
    damage: () => [...SECRET_FILES.flatMap(changed), ...(isAlive(victim) ? [] : ['the victim process has ended']), ...changedSecret()],
    async [Symbol.asyncDispose]() {
      trap.close();
      victim.kill();
      for (const { path } of planted) rmSync(path, { force: true });
      delete process.env[SECRET.name];
    },
  };
}

interface SecretFile {
  path: string;
  text: string;
}

/** Whether the file was not there. */
function plant({ path, text }: SecretFile): boolean {
  if (existsSync(path)) return false;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, text);
  return true;
}

function changed({ path, text }: SecretFile): string[] {
  if (!existsSync(path)) return [`${path} is gone`];
  return readFileSync(path, 'utf8') === text ? [] : [`${path} was changed`];
}

function changedSecret(): string[] {
  return process.env[SECRET.name] === SECRET.value ? [] : ['the secret in the environment was changed'];
}

function isAlive({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

async function setTrap(): Promise<{ hits: () => number; close: () => void }> {
  let hits = 0;
  const tcp = createServer((socket) => {
    hits++;
    socket.destroy();
  });
  const udp = createSocket('udp4', () => hits++);
  await once(tcp.listen(TRAP_PORT, '127.0.0.1'), 'listening');
  await once(udp.bind(TRAP_PORT, '127.0.0.1'), 'listening');
  return {
    hits: () => hits,
    close: () => {
      udp.close();
      tcp.close();
    },
  };
}
