/** `fermata run`: a durable task of the data folder or of a server; with `--ephemeral` one in memory. */
import { type Command, Option } from 'commander';
import { addConnectionOptions } from './connection-options.ts';
import { addConstraintOptions, collect } from './constraint-options.ts';
import { addLimitOptions } from './limit-options.ts';
import { addTaskOptions, type RunOptions } from './task-options.ts';

/** `done` is told the exit code. */
export function addRunCommand(command: Command, done: (exitCode: number) => void): void {
  command
    .argument('[file]', 'the program, or - for standard input')
    .option('-e, --eval <code>', 'the program itself, in place of a file')
    .addOption(new Option('-l, --lang <language>', 'its language; default: by the ending of the file').choices(['python', 'javascript', 'typescript']))
    .option('-i, --input <json>', 'what the program sees as its input: JSON, or @file with JSON')
    .option('-f, --file <path=file>', 'put a file into /work or /tmp (repeatable)', collect)
    .option('--allow-net <host>', 'host the program may reach: a name, *.name, an address or CIDR, with :port for one port; default: none (repeatable)', collect)
    .addOption(new Option('--sandbox <kind>', 'where it runs; auto takes the lightest that can do it').choices(['auto', 'wasm']).default('auto'));
  addConnectionOptions(addTaskOptions(addLimitOptions(addConstraintOptions(command))))
    .option('--ephemeral', 'keep nothing: the task is in memory, and a pause writes a snapshot file into the current folder')
    .option('--session <id>', 'run it on the interpreter of this session, with the variables and files of its programs before; made if there is none')
    .option('--detach', 'only submit it, to a server that runs, and print its id')
    .addHelpText('after', '\nA Python program reads the standard input of this command, unless it is itself read from there.')
    .action(async (file: string | undefined, options: RunOptions) => done(await run(file, options)));
}

/** Each way loads what it takes, and not what the other one takes. */
async function run(file: string | undefined, options: RunOptions): Promise<number> {
  if (options.ephemeral) return (await import('./ephemeral-run.ts')).runInMemory(file, options);
  return (await import('./durable-run.ts')).runDurably(file, options);
}
