/** `fermata run`. */
import { resolve } from 'node:path';
import type { Language, LimitsInput } from '@fermata/protocol';
import { type Command, Option } from 'commander';
import { createFermata } from '../fermata.ts';
import { driveTask, showEvents } from './drive.ts';
import { sealKey } from './key-file.ts';
import { addLimitOptions, limitsOf } from './limit-options.ts';
import { Progress } from './progress.ts';
import { readFileFor, readInput, readProgram, readStdin } from './read-input.ts';
import { addTaskOptions, approver, type TaskCommandOptions } from './task-options.ts';
import { loadToolsFile } from './tools-file.ts';

interface RunOptions extends TaskCommandOptions, LimitsInput {
  eval?: string;
  lang?: Language;
  input?: string;
  file?: string[];
  allowLibrary?: string[];
}

/** `done` is told the exit code. */
export function addRunCommand(program: Command, done: (exitCode: number) => void): void {
  const command = program
    .command('run')
    .description('run a program in a sandbox; its output and result go to stdout, all else to stderr')
    .argument('[file]', 'the program, or - for standard input')
    .option('-e, --eval <code>', 'the program itself, in place of a file')
    .addOption(new Option('-l, --lang <language>', 'its language; default: by the ending of the file').choices(['python', 'javascript', 'typescript']))
    .option('-i, --input <json>', 'what the program sees as its input: JSON, or @file with JSON')
    .option('-f, --file <path=file>', 'put a file into /work or /tmp (repeatable)', collect)
    .option('--allow-library <module>', 'modules the program may import; default: all (repeatable)', collect)
    .addOption(new Option('--sandbox <kind>', 'where it runs; auto takes the lightest that can do it').choices(['auto', 'wasm']).default('auto'));
  addTaskOptions(addLimitOptions(command))
    .option('--ephemeral', 'keep nothing but the snapshot file of a pause (what this version always does)')
    .addHelpText('after', '\nA Python program reads the standard input of this command, unless it is itself read from there.')
    .action(async (file: string | undefined, options: RunOptions) => done(await run(file, options)));
}

async function run(file: string | undefined, options: RunOptions): Promise<number> {
  const json = options.json === true;
  const program = await readProgram(file, options);
  const input = await readInput(options.input);
  const files = await Promise.all((options.file ?? []).map(readFileFor));
  const tools = options.tools === undefined ? [] : await loadToolsFile(options.tools);
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
    ...(program.file === undefined || program.language !== 'python' ? {} : { file: program.file }),
    ...(options.allowLibrary ? { allowedLibraries: options.allowLibrary } : {}),
    ...approver(options.approve),
    limits: limitsOf(options),
    onEvent: showEvents({ json, progress }),
    label: { tools: options.tools === undefined ? null : resolve(options.tools) },
  });
  return await driveTask(task, { json, pauseAfterMs: options.pauseAfter, progress });
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}
