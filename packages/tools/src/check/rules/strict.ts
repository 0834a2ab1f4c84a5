/** What `strict` refuses. */
import type { ProgramFacts } from '../facts.ts';
import { STRICT_NAMES } from '../refused.ts';
import type { Found } from './found.ts';

/** An error each, whether its failure would be caught or not. */
export function strictFound({ imports, reaches }: ProgramFacts): Found[] {
  const refused = imports.filter(({ module }) => STRICT_NAMES.modules.has(module.split('.')[0] as string)).map(({ module, at }) => ({ name: module, at }));
  return [...refused, ...reaches].map(({ name, at }) => ({
    rule: 'policy_violation',
    severity: 'error',
    at,
    message: `This task is strict, and refuses ${name}: write it out in the program, or have a tool do it.`,
  }));
}
