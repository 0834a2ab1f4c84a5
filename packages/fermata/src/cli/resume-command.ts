/** `fermata resume`: goes on with a durable task, or with the snapshot file of one that was in memory. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { addConnectionOptions } from './connection-options.ts';
import { collect } from './constraint-options.ts';
import { addTaskOptions, type ResumeOptions } from './task-options.ts';

/** `done` is told the exit code. */
export function addResumeCommand(command: Command, done: (exitCode: number) => void): void {
  command.argument('<task>', 'id of a task, or a file that a pause has written');
  addConnectionOptions(addTaskOptions(command))
    .option('--trust', 'accept a snapshot that is not sealed, and believe what it says; its tools must be given with --tools')
    .option('--allow-net <host>', 'of a snapshot file: hosts the program may reach, as for run (repeatable)', collect)
    .option('--redo', 'carry out again the calls whose outcome is unknown; their effects may happen twice')
    .action(async (task: string, options: ResumeOptions) => done(await resume(task, options)));
}

/** Each way loads what it takes, and not what the other one takes. */
async function resume(task: string, options: ResumeOptions): Promise<number> {
  if (isFile(task)) return (await import('./snapshot-resume.ts')).resumeSnapshot(task, options);
  return (await import('./durable-resume.ts')).resumeTask(task, options);
}

/** A task's id has no ending of its own. */
function isFile(name: string): boolean {
  return name.endsWith('.snap') || name.includes('/') || existsSync(name);
}
