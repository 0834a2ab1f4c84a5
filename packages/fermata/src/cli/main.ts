/** The command line: one command per file, data on stdout, talk on stderr. */
import { Console } from 'node:console';
import { readFileSync } from 'node:fs';
import { FermataApiError } from '@fermata/client';
import { ERROR_CODES, type ErrorCode, FermataError } from '@fermata/protocol';
import { Command, CommanderError } from 'commander';
import { hintOf } from '../hints.ts';
import { addBatchCommand } from './batch-command.ts';
import { addCheckCommand } from './check-command.ts';
import { addDoctorCommand } from './doctor-command.ts';
import { EXIT, exitCodeOfError } from './exit-code.ts';
import { addImageCommand } from './image-command.ts';
import { addKeyCommand } from './key-command.ts';
import { addMcpCommand } from './mcp-command.ts';
import { addPolicyCommand } from './policy-command.ts';
import { addResumeCommand } from './resume-command.ts';
import { addRunCommand } from './run-command.ts';
import { addServeCommand } from './serve-command.ts';
import { addSessionCommand } from './session-command.ts';
import { addStoreCommand } from './store-command.ts';
import { addTaskCommand } from './task-command.ts';
import { addToolCommand } from './tool-command.ts';

const EXIT_CODES = `
Exit codes: 0 ok, 1 the task failed, 2 usage, 3 unavailable, 4 paused or waiting for someone.`;

const COMMANDS = [
  addRunCommand,
  addCheckCommand,
  addResumeCommand,
  addTaskCommand,
  addSessionCommand,
  addBatchCommand,
  addToolCommand,
  addPolicyCommand,
  addServeCommand,
  addMcpCommand,
  addKeyCommand,
  addStoreCommand,
  addImageCommand,
  addDoctorCommand,
];

/**
 * Runs one command and ends the process with its exit code, even where a tool still holds on to something. Errors are told
 * on stderr, or as JSON on stdout where --json is given.
 */
export async function main(argv: readonly string[]): Promise<never> {
  // Tools print where they are, and stdout is for data.
  globalThis.console = new Console(process.stderr);
  const exitCode = await command(argv);
  for (const stream of [process.stdout, process.stderr]) await new Promise<void>((flushed) => stream.write('', () => flushed()));
  process.exit(exitCode);
}

async function command(argv: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.ok;
  const done = (code: number) => {
    exitCode = code;
  };
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
  const program = new Command('fermata')
    .description('Run programs that language models write, safely; hold them anywhere, and carry on later.')
    .version(version)
    .addHelpText('after', EXIT_CODES)
    .exitOverride();
  for (const add of COMMANDS) add(program, done);
  for (const command of [program, ...program.commands, ...program.commands.flatMap(({ commands }) => commands)]) command.exitOverride();
  // Whoever read our output has gone; there is nobody left to tell.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.unavailable));
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return tell(error, argv.includes('--json'));
  }
}

function tell(error: unknown, json: boolean): number {
  const { code, message, hint, exitCode } = error instanceof FermataApiError ? ofServer(error) : ours(error);
  if (json) process.stdout.write(`${JSON.stringify({ error: { code, message, ...(hint ? { hint } : {}) } })}\n`);
  else process.stderr.write(`fermata: ${message}\n${hint ? `hint: ${hint}\n` : ''}`);
  return exitCode;
}

function ours(error: unknown) {
  const told = error instanceof FermataError ? error : new FermataError('internal', error instanceof Error ? error.message : String(error));
  const { code, message } = told;
  return { code, message, hint: hintOf(told, 'cli') ?? told.hint, exitCode: exitCodeOfError(code) };
}

function ofServer({ code, message, hint, status }: FermataApiError) {
  const known = code in ERROR_CODES;
  return { code, message, hint, exitCode: known ? exitCodeOfError(code as ErrorCode) : status > 0 && status < 500 ? EXIT.usage : EXIT.unavailable };
}
