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

/** Runs a script with this Node; `whileRunning` is told its standard error as it comes, to act on it. */
export async function runNode(
  args: string[],
  options: { stdin?: string; cwd?: string; env?: NodeJS.ProcessEnv; whileRunning?: (stderr: string, kill: (signal: NodeJS.Signals) => void) => void } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, args, { cwd: options.cwd, env: { ...process.env, NO_COLOR: '1', ...options.env } });
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('exit', resolve));
  let told = '';
  child.stderr.on('data', (bytes) => {
    told += bytes;
    options.whileRunning?.(told, (signal) => child.kill(signal));
  });
  child.stdin.end(options.stdin ?? '');
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
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
