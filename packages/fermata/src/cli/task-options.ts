/** The options that `fermata run` and `fermata resume` share. */
import { type Language, type LimitsInput, toWire } from '@fermata/protocol';
import type { Tool } from '@fermata/tools';
import { type Command, Option } from 'commander';
import type { Approver } from '../tool-runner.ts';
import type { ConnectionOptions } from './connection-options.ts';
import type { ConstraintOptions } from './constraint-options.ts';
import { isPlan } from './plan.ts';
import { parseDuration } from './units.ts';

export interface TaskCommandOptions {
  tools?: string;
  approve: 'ask' | 'auto' | 'deny';
  pauseAfter?: number;
  json?: boolean;
  quiet?: boolean;
}

export interface RunOptions extends TaskCommandOptions, ConnectionOptions, ConstraintOptions, LimitsInput {
  json?: boolean;
  eval?: string;
  lang?: Language;
  input?: string;
  file?: string[];
  allowNet?: string[];
  ephemeral?: boolean;
  detach?: boolean;
  session?: string;
}

export interface ResumeOptions extends TaskCommandOptions, ConnectionOptions {
  allowNet?: string[];
  json?: boolean;
  trust?: boolean;
  config?: string;
  redo?: boolean;
}

export function addTaskOptions(command: Command): Command {
  return command
    .option('-t, --tools <file>', 'module whose default export is an array of tools')
    .addOption(new Option('--approve <how>', 'calls of tools that require approval').choices(['ask', 'auto', 'deny']).default('ask'))
    .option('--pause-after <duration>', 'pause after so long', parseDuration)
    .option('-q, --quiet', 'say nothing on stderr but errors');
}

/** The network of a task in memory. Only who has one loads what it takes. */
export async function networkOf({ allowNet }: Pick<RunOptions, 'allowNet'>): Promise<Tool[]> {
  if (!allowNet) return [];
  const { networkTools } = await import('@fermata/tools/registry');
  return networkTools({ hosts: allowNet, trustHosts: true });
}

/** Decides on a call, or on nothing where the person has left; absent where nobody here can. */
export type Approval = ((wait: { kind: string; tool: string; arguments: unknown }) => Promise<{ approve: true } | { approve: false; reason: string } | undefined>) | undefined;

/** Who decides on calls that need approval: nobody, if `ask` finds no terminal to ask at. `arguments` in wire form. */
export function approvalOf(how: TaskCommandOptions['approve']): Approval {
  if (how === 'auto') return async () => ({ approve: true });
  if (how === 'deny') return async () => ({ approve: false, reason: 'approvals are off (--approve deny)' });
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  return async (wait) => {
    const { confirm, isCancel } = await import('@clack/prompts');
    const answer = await confirm({
      message: isPlan(wait) ? 'Run this program?' : `Allow ${wait.tool}(${JSON.stringify(wait.arguments)})?`,
      initialValue: false,
      output: process.stderr,
    });
    if (!isCancel(answer)) return answer ? { approve: true } : { approve: false, reason: 'refused at the terminal' };
    // The prompt has taken the key from the terminal; it means here what it means elsewhere.
    process.emit('SIGINT');
    return undefined;
  };
}

/** The same for a task in memory. */
export function approver(how: TaskCommandOptions['approve']): { approve?: Approver } {
  const approval = approvalOf(how);
  return approval ? { approve: async ({ name, args }) => (await approval({ kind: 'approval', tool: name, arguments: toWire(args) })) ?? new Promise<never>(() => {}) } : {};
}
