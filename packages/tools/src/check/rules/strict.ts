/** What `strict` refuses. */
import type { ProgramFacts } from '../facts.ts';
import { STRICT_NAMES } from '../refused.ts';
import type { Found } from './found.ts';

const WORDS = new RegExp(`(?<![\\w.])(?:${[...STRICT_NAMES.python, ...STRICT_NAMES.attributes].join('|')})(?!\\w)`);

/** An error each, whether its failure would be caught or not. `text`: where it does not parse, its words are looked at, too. */
export function strictFound(text: string, { imports, reaches, unparsed }: ProgramFacts): Found[] {
  const word = unparsed && reaches.length === 0 ? WORDS.exec(text) : null;
  if (word) reaches = [{ name: word[0], at: word.index }];
  const refused = imports.filter(({ module }) => STRICT_NAMES.modules.has(module.split('.')[0] as string)).map(({ module, at }) => ({ name: module, at }));
  return [...refused, ...reaches].map(({ name, at }) => ({
    rule: 'policy_violation',
    severity: 'error',
    at,
    message: `This task is strict, and refuses ${name}: write it out in the program, or have a tool do it.`,
  }));
}
