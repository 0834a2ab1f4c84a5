/** What a durable task has come to, told to a person or as JSON; and the exit code that says so. */

import { ERROR_CODES, type ErrorCode, type Language } from '@fermata/protocol';
import type { TaskWire } from '@fermata/protocol/wire';
import { withHint } from '../hints.ts';
import type { TaskError } from '../task-result.ts';
import type { Connection } from './connection.ts';
import { describeError } from './describe-error.ts';
import { EXIT } from './exit-code.ts';
import { isPlan } from './plan.ts';
import type { Progress } from './progress.ts';

/** Says how a task that was followed ended, or how to go on with it. Returns the exit code. */
export function tellTask(task: TaskWire, { json, progress, connection }: { json: boolean; progress: Progress; connection: Connection }): number {
  const told = inOurWords(task);
  if (json) process.stdout.write(`${JSON.stringify(told)}\n`);
  if (told.status === 'paused' || told.status === 'waiting') progress.say(stoppedText(told, connection));
  if (!json) {
    if (told.status === 'failed') progress.say(failureText(told));
    if (told.status === 'cancelled') progress.say('cancelled');
    if ('result' in told) sayTokens(told, progress);
    if (told.status === 'succeeded') process.stdout.write(outputText(told.result.answer ?? told.result.output));
  }
  return exitCodeOfTask(task);
}

/** What the model of an instruction has cost, and that it is silent where it is. */
function sayTokens(task: Extract<TaskWire, { result: unknown }>, progress: Progress): void {
  const { model_tokens: tokens, model_cost_usd: cost } = task.resources_used;
  if (task.status === 'succeeded' && task.result.answer === null) progress.say('the model has not answered; this is the result of its program');
  if (tokens > 0) progress.line(`model: ${tokens} tokens${cost === undefined ? '' : `, $${cost.toFixed(4)}`}`);
}

export function exitCodeOfTask({ status }: TaskWire): number {
  if (status === 'succeeded') return EXIT.ok;
  return status === 'failed' || status === 'cancelled' ? EXIT.failed : EXIT.waiting;
}

/** As a program's result is printed: a text as it is, nothing for null. */
export function outputText(output: unknown): string {
  if (output === null || output === undefined) return '';
  return `${typeof output === 'string' ? output : JSON.stringify(output)}\n`;
}

export function failureText({ error, language }: Extract<TaskWire, { status: 'failed' }>): string {
  const known = Object.fromEntries(Object.entries(error).filter(([, value]) => value !== null)) as unknown as TaskError;
  return describeError(error.code in ERROR_CODES ? withHint(known, 'cli', language as Language) : known);
}

/** What the engine advises is told with the options that the command line has. */
function inOurWords(task: TaskWire): TaskWire {
  if (task.status !== 'failed' || !(task.error.code in ERROR_CODES)) return task;
  const { hint } = withHint(
    { code: task.error.code as ErrorCode, message: task.error.message, ...(task.error.hint ? { hint: task.error.hint } : {}) },
    'cli',
    task.language as Language,
  );
  return { ...task, error: { ...task.error, hint: hint ?? null } };
}

function stoppedText(task: Extract<TaskWire, { status: 'paused' | 'waiting' }>, connection: Connection): string {
  const at = task.line === null ? '' : ` at line ${task.line}`;
  const waits = (task.waiting_for ?? []).filter(({ kind }) => kind !== 'timer');
  const lines = [task.status === 'paused' ? `paused${at}; the task is kept` : `waiting${at} for ${waits.map(({ tool, kind }) => `${tool} (${kind})`).join(', ')}`];
  for (const wait of waits) {
    const { call_id, kind, tool, arguments: args } = wait;
    const what = kind === 'client_tool' ? 'answer' : kind === 'outcome_unknown' ? 'retry' : 'approve';
    lines.push(
      `  ${isPlan(wait) ? 'the program' : `${tool}(${JSON.stringify(args)})`}: fermata task ${what} ${task.task_id} ${call_id}${what === 'approve' ? ' (or reject)' : what === 'retry' ? ' (or answer)' : ' --output <json>'}`,
    );
  }
  const decide = waits.some(({ kind }) => kind === 'approval') ? ' --approve auto' : '';
  const redo = waits.some(({ kind }) => kind === 'outcome_unknown') ? ' --redo' : '';
  if (task.status === 'paused' || connection.store()) lines.push(`Go on with: fermata resume ${task.task_id}${redo}${decide}`);
  return lines.join('\n');
}
