/** The options of a command that say what a program may do. */
import type { CodeConstraints } from '@fermata/tools';
import type { Command } from 'commander';

export interface ConstraintOptions {
  allowLibrary?: string[];
  requireLibrary?: string[];
  blockCommand?: string[];
  strict?: boolean;
}

export function addConstraintOptions(command: Command): Command {
  return command
    .option('--allow-library <module>', 'modules the program may import; default: all (repeatable)', collect)
    .option('--require-library <module>', 'modules without which it is not run (repeatable)', collect)
    .option('--block-command <name>', 'programs it must not try to start (repeatable)', collect)
    .option('--strict', 'refuse os, sys, subprocess, importlib, ctypes, eval, exec, compile, Function and import()');
}

/** What they come to, as the library takes it. */
export function codeConstraintsOf({ allowLibrary, requireLibrary, blockCommand, strict }: ConstraintOptions): CodeConstraints {
  return {
    ...(allowLibrary ? { allowedLibraries: allowLibrary } : {}),
    ...(requireLibrary ? { requiredLibraries: requireLibrary } : {}),
    ...(blockCommand ? { blockedCommands: blockCommand } : {}),
    ...(strict ? { strict } : {}),
  };
}

/** The values of an option that may be given more than once. */
export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}
