/**
 * `fermata run`: a durable task. It is kept in the data folder from the moment at which it is submitted; whatever happens to
 * this process, `fermata resume` goes on with it.
 */
import { toWire } from '@fermata/protocol';
import type { CreateTaskWire } from '@fermata/protocol/wire';
import { keepAndFollow, readGiven } from './durable-task.ts';
import { Progress } from './progress.ts';
import { readProgram, readStdin } from './read-input.ts';
import type { RunOptions } from './task-options.ts';

/** Resolves with the exit code. */
export async function runDurably(file: string | undefined, options: RunOptions): Promise<number> {
  const program = await readProgram(file, options);
  const given = await readGiven(options);
  const progress = new Progress(options.quiet === true || options.json === true);
  const stdin = await readStdin(program, (text) => progress.line(text));
  const what: Partial<CreateTaskWire> = {
    ...{ language: program.language, code: program.code },
    ...(options.session === undefined ? {} : { session_id: options.session, shared_interpreter: true }),
    ...(stdin === undefined ? {} : { stdin: toWire(textOf(stdin)) as NonNullable<CreateTaskWire['stdin']> }),
    ...(program.file === undefined || program.language !== 'python' ? {} : { file_name: program.file }),
  };
  return keepAndFollow(what, given, options, progress);
}

/** Text where it is text: so it is readable in the journal. */
function textOf(bytes: Uint8Array): string | Uint8Array {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes;
  }
}
