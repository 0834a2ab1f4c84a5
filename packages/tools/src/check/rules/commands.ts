/** Processes that a program would start: none can be, and some commands are not to be tried at all. */
import { commandsIn, commandsOf } from '../bash/commands.ts';
import type { CheckOptions } from '../check-options.ts';
import type { ProcessFact, ProgramFacts } from '../facts.ts';
import type { Found } from './found.ts';

const NONE = 'no process can be started in this machine: do it in the program itself, or have a tool do it';

/** A blocked command is an error, wherever it stands; any other process a warning. */
export async function commandsFound({ processes }: ProgramFacts, { blockedCommands = [] }: Pick<CheckOptions, 'blockedCommands'>): Promise<Found[]> {
  const blocked = new Set(blockedCommands.map((name) => name.slice(name.lastIndexOf('/') + 1)));
  return Promise.all(processes.map((fact) => found(fact, blocked)));
}

async function found({ by, at, command }: ProcessFact, blocked: ReadonlySet<string>): Promise<Found> {
  const named = blocked.size === 0 || command === undefined ? [] : await namesOf(command);
  const hit = [...named].find((name) => blocked.has(name));
  if (hit === undefined) return { rule: 'no_processes', severity: 'warning', at, message: `${by} will fail: ${NONE}.` };
  return { rule: 'policy_violation', severity: 'error', at, message: `The command ${JSON.stringify(hit)} is blocked, and ${NONE}.` };
}

/** A single text may be a shell's, whatever starts it. */
async function namesOf(command: string | string[]): Promise<Set<string>> {
  return typeof command === 'string' ? commandsIn(command) : commandsOf(command);
}
