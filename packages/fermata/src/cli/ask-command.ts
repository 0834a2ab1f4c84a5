/** `fermata ask`: a model writes the program of a durable task, and answers with what comes of it. */
import { type Command, Option } from 'commander';
import { addConnectionOptions } from './connection-options.ts';
import { addConstraintOptions, collect } from './constraint-options.ts';
import type { AskOptions } from './durable-ask.ts';
import { addLimitOptions } from './limit-options.ts';
import { addTaskOptions } from './task-options.ts';
import { parseCount } from './units.ts';

/** `done` is told the exit code. */
export function addAskCommand(command: Command, done: (exitCode: number) => void): void {
  command
    .argument('<instruction>', 'what is to be done, in words; - for standard input')
    .option('-m, --model <name>', '<provider>/<model>, or scripted:<file> (default: FERMATA_MODEL, else that of the configuration)')
    .option('-c, --config <file>', 'JSON with models and their providers (default: FERMATA_CONFIG)')
    .addOption(new Option('-l, --lang <language>', 'the language of the program; default: as the model likes').choices(['python', 'javascript', 'typescript']))
    .option('-i, --input <json>', 'what the program sees as its input: JSON, or @file with JSON')
    .option('-f, --file <path=file>', 'put a file into /work or /tmp (repeatable)', collect)
    .option('--max-repairs <n>', 'how often what is wrong with a program goes back to the model (default: 3)', parseCount)
    .option('--max-tokens <n>', 'tokens after which the task pauses; a resume gives it as many again', parseCount)
    .option('--approve-plan', 'each program waits for you before it runs')
    .option('--allow-net <host>', 'host the program may reach, as for run (repeatable)', collect);
  addConnectionOptions(addTaskOptions(addLimitOptions(addConstraintOptions(command))))
    .option('--session <id>', 'the model is told what was asked and answered in this session before')
    .option('--detach', 'only submit it, to a server that runs, and print its id')
    .action(async (instruction: string, options: AskOptions) => done(await (await import('./durable-ask.ts')).askDurably(instruction, options)));
}
