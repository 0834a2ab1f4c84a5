/** The command line: one command per file, data on stdout, talk on stderr. */
import { Console } from 'node:console';
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { COMMANDS } from './commands.ts';
import { EXIT } from './exit-code.ts';

const EXIT_CODES = `
Exit codes: 0 ok, 1 the task failed, 2 usage, 3 unavailable, 4 paused or waiting for someone.`;

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
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
  const program = new Command('fermata')
    .description('Run programs that language models write, safely; hold them anywhere, and carry on later.')
    .version(version)
    .addHelpText('after', EXIT_CODES)
    .exitOverride();
  for (const [name, { about }] of Object.entries(COMMANDS)) program.command(name).description(about);
  const fill = async (given: Command) => {
    const add = await COMMANDS[given.name()]?.load();
    add?.(given, (code) => {
      exitCode = code;
    });
  };
  program.hook('preSubcommand', (_, given) => fill(given));
  // Whoever read our output has gone; there is nobody left to tell.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.unavailable));
  try {
    // `fermata help run` shows the command without going through the hook.
    const shown = argv[0] === 'help' ? program.commands.find((one) => one.name() === argv[1]) : undefined;
    if (shown) await fill(shown);
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const { tellError } = await import('./tell-error.ts');
    return tellError(error, argv.includes('--json'));
  }
}
