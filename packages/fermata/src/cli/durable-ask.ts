/**
 * `fermata ask`: a durable task with an instruction in place of a program. The answer goes to stdout; what the program prints, and
 * all else, to stderr.
 */
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { FermataError } from '@fermata/protocol';
import type { CreateTaskWire } from '@fermata/protocol/wire';
import { keepAndFollow, readGiven } from './durable-task.ts';
import { type ModelCommandOptions, modelsFor } from './models-for.ts';
import { Progress } from './progress.ts';
import type { RunOptions } from './task-options.ts';

export interface AskOptions extends RunOptions, ModelCommandOptions {
  maxRepairs?: number;
  maxTokens?: number;
  approvePlan?: boolean;
}

/** Resolves with the exit code. */
export async function askDurably(given: string, options: AskOptions): Promise<number> {
  const { lang, session, maxRepairs, maxTokens, approvePlan } = options;
  const instruction = (given === '-' ? (await buffer(process.stdin)).toString() : given).trim();
  if (instruction === '') throw new FermataError('invalid_request', 'the instruction is empty', { hint: 'Say what is to be done: fermata ask "..."' });
  const name = options.model?.replace(/^scripted:(.*)$/, (_, file: string) => `scripted:${resolve(file)}`);
  const model: NonNullable<CreateTaskWire['model']> = {
    ...(name === undefined ? {} : { name }),
    ...(maxRepairs === undefined ? {} : { max_repairs: maxRepairs }),
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...(approvePlan ? { approve_plan: true } : {}),
  };
  const what: Partial<CreateTaskWire> = {
    ...{ instruction, model },
    ...(lang === undefined ? {} : { language: lang }),
    ...(session === undefined ? {} : { session_id: session }),
  };
  const progress = new Progress(options.quiet === true || options.json === true);
  return keepAndFollow(what, await readGiven(options), options, progress, { models: () => modelsFor(options, true) });
}
