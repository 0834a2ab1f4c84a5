/** `fermata run --ephemeral`: a task in memory, of which nothing is kept but the snapshot file of a pause. */
import { resolve } from 'node:path';
import { FermataError } from '@fermata/protocol';
import { createFermata } from '../fermata.ts';
import { sealKey } from '../seal-key-file.ts';
import { codeConstraintsOf } from './constraint-options.ts';
import { driveTask, showEvents } from './drive.ts';
import { limitsOf } from './limit-options.ts';
import { openToolsFile } from './open-tools-file.ts';
import { Progress } from './progress.ts';
import { readFileFor, readInput, readProgram, readStdin } from './read-input.ts';
import { approver, networkOf, type RunOptions } from './task-options.ts';

/** Resolves with the exit code. */
export async function runInMemory(file: string | undefined, options: RunOptions): Promise<number> {
  const misplaced = (['url', 'key', 'data', 'detach', 'session'] as const).find((name) => options[name] !== undefined);
  if (misplaced) throw new FermataError('invalid_request', `--${misplaced} has no meaning with --ephemeral, which keeps nothing anywhere`);
  const json = options.json === true;
  const program = await readProgram(file, options);
  const input = await readInput(options.input);
  const files = await Promise.all((options.file ?? []).map(readFileFor));
  await using equipment = await openToolsFile(options.tools);
  const tools = [...equipment.tools, ...(await networkOf(options))];
  // A pause is sure to come: better no program is started than one that cannot be saved.
  if (options.pauseAfter !== undefined) sealKey();
  const progress = new Progress(options.quiet === true || json);
  const stdin = await readStdin(program, (text) => progress.line(text));
  await using fermata = createFermata({ sealKey });
  const task = await fermata.start({
    language: program.language,
    code: program.code,
    input,
    tools,
    files,
    ...(stdin === undefined ? {} : { stdin }),
    ...(program.file === undefined ? {} : { file: program.file }),
    ...codeConstraintsOf(options),
    ...approver(options.approve, progress),
    limits: limitsOf(options),
    onEvent: showEvents({ json, progress }),
    label: { tools: options.tools === undefined ? null : resolve(options.tools) },
  });
  return await driveTask(task, { json, pauseAfterMs: options.pauseAfter, progress });
}
