/** Runs things in processes of their own. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  /** What it reads on standard input; `null` leaves that open and empty. */
  stdin?: string | Uint8Array | null;
  /** A file for both streams, which are then not returned. */
  output?: number;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Is told its standard error as it comes, to act on it. */
  whileRunning?: (stderr: string, kill: (signal: NodeJS.Signals) => void) => void;
}

/** Runs a script with this Node. */
export async function runNode(args: string[], { stdin = '', output, cwd, env, whileRunning }: RunOptions = {}): Promise<Ended> {
  const child = spawn(process.execPath, args, { cwd, env: { ...process.env, NO_COLOR: '1', ...env }, stdio: ['pipe', output ?? 'pipe', output ?? 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('exit', resolve));
  let told = '';
  child.stderr?.on('data', (bytes) => {
    told += bytes;
    whileRunning?.(told, (signal) => child.kill(signal));
  });
  if (stdin !== null) child.stdin?.end(stdin);
  const [stdout, stderr, code] = await Promise.all([child.stdout ? text(child.stdout) : '', child.stderr ? text(child.stderr) : '', ended]);
  child.stdin?.destroy();
  return { code, stdout, stderr };
}

export interface Continued {
  pid: number;
  status: string;
  output: unknown;
  stdout: string;
  error?: string;
  fuel: number;
  hash: string;
}

/** Goes on with a snapshot in a new process, with a tool `echo`. Without a key the snapshot must be trusted. */
export async function continueInNewProcess(snapshot: Uint8Array, key?: Uint8Array): Promise<Continued> {
  const folder = mkdtempSync(join(tmpdir(), 'fermata-test-'));
  try {
    const file = join(folder, 'task.snap');
    writeFileSync(file, snapshot);
    const script = fileURLToPath(new URL('./continue-task.mjs', import.meta.url));
    const { code, stdout, stderr } = await runNode([script, file, ...(key ? [Buffer.from(key).toString('base64')] : [])]);
    if (code !== 0) throw new Error(`the process ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as Continued;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
