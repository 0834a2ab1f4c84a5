/** `fermata check`: what is wrong with a program, without running it. */
import type { Language } from '@fermata/protocol';
import { type Command, Option } from 'commander';
import { createFermata } from '../fermata.ts';
import { addConstraintOptions, type ConstraintOptions, codeConstraintsOf, collect } from './constraint-options.ts';
import { EXIT } from './exit-code.ts';
import { openToolsFile } from './open-tools-file.ts';
import { print } from './print.ts';
import { readProgram } from './read-input.ts';

interface CheckOptions extends ConstraintOptions {
  eval?: string;
  lang?: Language;
  tools?: string;
  allowNet?: string[];
  json?: boolean;
}

export function addCheckCommand(command: Command, done: (exitCode: number) => void): void {
  command
    .argument('[file]', 'the program, or - for standard input')
    .option('-e, --eval <code>', 'the program itself, in place of a file')
    .addOption(new Option('-l, --lang <language>', 'its language; default: by the ending of the file').choices(['python', 'javascript', 'typescript']))
    .option('-t, --tools <file>', 'module whose default export is an array of tools, or { tools, mcp, openapi, policy }; without it calls of tools are not looked at');
  addConstraintOptions(command)
    .option('--allow-net <host>', 'host the program may reach, as for run; default: none (repeatable)', collect)
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExit code 1: there is an error, and `fermata run` would not run the program.')
    .action(async (file: string | undefined, options: CheckOptions) => {
      const { code, language, file: name = `main.${ENDINGS[language]}` } = await readProgram(file, options);
      await using equipment = options.tools === undefined ? undefined : await openToolsFile(options.tools);
      await using fermata = createFermata();
      const report = await fermata.check({
        code,
        language,
        ...(equipment ? { tools: equipment.tools } : {}),
        ...(options.allowNet ? { network: { hosts: options.allowNet } } : {}),
        ...codeConstraintsOf(options),
      });
      print(
        options.json,
        report,
        () => report.findings.map(({ severity, line, column, message }) => `${name}:${line}:${column}: ${severity}: ${message}`).join('\n') || 'nothing found',
      );
      done(report.ok ? EXIT.ok : EXIT.failed);
    });
}

const ENDINGS = { python: 'py', javascript: 'js', typescript: 'ts' } as const satisfies Record<Language, string>;
