/**
 * Runs a task for a person at a terminal: output as it comes, Ctrl-C as a pause that is saved, the result at the end.
 *
 * A pause (Ctrl-C, SIGTERM, `--pause-after`) stops the program, gives calls that are under way some time to finish, and
 * writes the snapshot before anything is said about it; a second Ctrl-C cancels. In the end the task is disposed of, which
 * aborts whatever calls are still under way.
 */
import { rename, rm, writeFile } from 'node:fs/promises';
import { FermataError, toWire } from '@fermata/protocol';
import { withHint } from '../hints.ts';
import type { Task } from '../task.ts';
import type { TaskEvent } from '../task-event.ts';
import type { TaskResult } from '../task-result.ts';
import { describeError } from './describe-error.ts';
import { exitCodeOf } from './exit-code.ts';
import type { Progress } from './progress.ts';
import { taskJson } from './task-json.ts';
import { formatBytes } from './units.ts';

/** How long a pause waits for calls that are under way. */
const SETTLE_MS = 10_000;

export interface DriveOptions {
  json: boolean;
  pauseAfterMs: number | undefined;
  progress: Progress;
}

/** Shows events of a task as they come. */
export function showEvents({ json, progress }: Pick<DriveOptions, 'json' | 'progress'>): (event: TaskEvent) => void {
  return (event) => {
    if (event.type === 'output' && json) return;
    progress.onEvent(event);
    if (event.type === 'output') (event.stream === 'stdout' ? process.stdout : process.stderr).write(event.text);
  };
}

/** Resolves with the exit code. */
export async function driveTask(task: Task, options: DriveOptions): Promise<number> {
  let interrupts = 0;
  const cancelled = Promise.withResolvers<void>();
  const pause = () => void task.pause().catch(ended);
  const interrupt = () => {
    interrupts++;
    options.progress.line(interrupts === 1 ? 'pausing, as soon as calls under way have ended; Ctrl-C again cancels the task' : 'cancelling');
    if (interrupts === 1) pause();
    else void task.cancel().then(() => cancelled.resolve());
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  const timer = options.pauseAfterMs === undefined ? undefined : setTimeout(pause, options.pauseAfterMs);
  try {
    let result = await task.run();
    let snapshot: string | undefined;
    if (result.status === 'paused' || result.status === 'waiting') {
      await Promise.race([task.settled(SETTLE_MS), cancelled.promise]);
      if (interrupts > 1) result = await task.cancel();
      else {
        snapshot = snapshotFile(task.id);
        const bytes = await task.snapshot();
        await save(snapshot, bytes);
        tellStopped(task, result, snapshot, bytes.length, options.progress);
      }
    }
    options.progress.end();
    const told = inOurWords(result, task);
    if (options.json) process.stdout.write(`${JSON.stringify(taskJson(told, snapshot))}\n`);
    else show(told, options.progress);
    return exitCodeOf(result);
  } finally {
    clearTimeout(timer);
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
    options.progress.end();
    await task[Symbol.asyncDispose]();
  }
}

/** A pause that comes too late is not an error. */
function ended(error: unknown): void {
  if (!(error instanceof FermataError && error.code === 'invalid_state')) throw error;
}

/** In the current folder, whatever the task is called: an id may come out of a snapshot. */
export function snapshotFile(id: string): string {
  return `${id.replace(/[^A-Za-z0-9_.-]/g, '_')}.snap`;
}

/** Whole or not at all, so that a kill while saving spoils nothing. */
async function save(file: string, bytes: Uint8Array): Promise<void> {
  try {
    await writeFile(`${file}.part`, bytes, { mode: 0o600, flush: true });
    await rename(`${file}.part`, file);
  } catch (cause) {
    await rm(`${file}.part`, { force: true }).catch(() => {});
    throw new FermataError('sandbox_unavailable', `the program is paused, but its snapshot cannot be saved as ${file}: ${(cause as Error).message}`, {
      hint: 'The program is lost. Run it anew in a folder that can be written.',
      cause,
    });
  }
}

function tellStopped(task: Task, result: TaskResult, snapshot: string, bytes: number, progress: Progress): void {
  const at = task.position ? ` at line ${task.position.line}` : '';
  const what = result.status === 'paused' ? 'paused' : `waiting for ${result.waitingFor.map(({ tool, kind }) => `${tool} (${kind})`).join(', ')}`;
  const kinds = new Set(result.waitingFor.map(({ kind }) => kind));
  const decisions = `${kinds.has('outcome_unknown') ? ' --redo' : ''}${kinds.has('approval') ? ' --approve auto' : ''}`;
  progress.say(`${what}${at}; saved ${snapshot} (${formatBytes(bytes)})\nGo on, here or elsewhere, with: fermata resume ${snapshot}${decisions}`);
}

/** What the library advises is told with the options that the command line has. */
function inOurWords(result: TaskResult, { program: { language } }: Task): TaskResult {
  return result.status === 'failed' ? { ...result, error: withHint(result.error, 'cli', language) } : result;
}

function show(result: TaskResult, progress: Progress): void {
  if (result.status === 'failed') progress.say(describeError(result.error));
  else if (result.status === 'cancelled') progress.say('cancelled');
  else if (result.status === 'succeeded' && result.output !== undefined && result.output !== null) {
    process.stdout.write(`${typeof result.output === 'string' ? result.output : JSON.stringify(toWire(result.output))}\n`);
  }
}
