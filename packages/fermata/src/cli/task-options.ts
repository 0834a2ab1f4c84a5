/** The options that `fermata run` and `fermata resume` share. */
import { confirm, isCancel } from '@clack/prompts';
import { type Command, Option } from 'commander';
import type { Approver } from '../tool-runner.ts';
import { parseDuration } from './units.ts';

export interface TaskCommandOptions {
  tools?: string;
  approve: 'ask' | 'auto' | 'deny';
  pauseAfter?: number;
  json?: boolean;
  quiet?: boolean;
}

export function addTaskOptions(command: Command): Command {
  return command
    .option('-t, --tools <file>', 'module whose default export is an array of tools')
    .addOption(new Option('--approve <how>', 'calls of tools that require approval').choices(['ask', 'auto', 'deny']).default('ask'))
    .option('--pause-after <duration>', 'pause and save a snapshot after so long', parseDuration)
    .option('-q, --quiet', 'say nothing on stderr but errors')
    .option('--json', 'print one JSON object in place of output and result');
}

/** Who decides on calls that need approval: nobody, if `ask` finds no terminal to ask at. */
export function approver(how: TaskCommandOptions['approve']): { approve?: Approver } {
  if (how === 'auto') return { approve: () => ({ approve: true }) };
  if (how === 'deny') return { approve: () => ({ approve: false, reason: 'approvals are off (--approve deny)' }) };
  if (!process.stdin.isTTY || !process.stderr.isTTY) return {};
  return {
    approve: async (call) => {
      const answer = await confirm({ message: `Allow ${call.name}(${JSON.stringify(call.args)})?`, output: process.stderr });
      return isCancel(answer) || !answer ? { approve: false, reason: 'refused at the terminal' } : { approve: true };
    },
  };
}
