/** Runs a process to its end and reads the figure that it printed. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export async function lastFigure(command: string, args: readonly string[]): Promise<number> {
  const { stdout } = await execute(command, [...args]);
  const figure = Number(stdout.trim().split('\n').at(-1));
  if (!Number.isFinite(figure)) throw new Error(`the process printed ${JSON.stringify(stdout)}`);
  return figure;
}
