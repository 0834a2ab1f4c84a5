/** Starts a process and tells how long it took until it printed its first line. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export async function firstLine(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<{ value: number; output: number }> {
  const began = performance.now();
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  const line = createInterface(child.stdout)[Symbol.asyncIterator]().next();
  const { value: text } = await Promise.race([line, ended.then(() => line)]);
  const value = performance.now() - began;
  if ((await ended) !== 0) throw new Error(said.trim().split('\n').at(-1) || 'the process failed');
  return { value, output: Number(text) };
}
