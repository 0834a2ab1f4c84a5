/**
 * The check of a program before it runs, from its text alone.
 *
 * It tells a model at once what would fail later, and it is no boundary: what it cannot see is refused where the program runs.
 * It never changes a program, and finds nothing wrong with one that is right.
 */
import type { CheckOptions } from './check-options.ts';
import type { ProgramFacts } from './facts.ts';
import type { Finding } from './finding.ts';
import { javascriptFacts } from './javascript/facts.ts';
import { placesIn } from './places.ts';
import { pythonFacts } from './python/facts.ts';
import { awaitingFound } from './rules/awaiting.ts';
import { commandsFound } from './rules/commands.ts';
import type { Found } from './rules/found.ts';
import { importsFound, missingFound, requiredFound } from './rules/libraries.ts';
import { networkFound } from './rules/network.ts';
import { strictFound } from './rules/strict.ts';
import { toolsFound } from './rules/tools.ts';

/** Characters; a longer program is not looked at, only run. */
const LONGEST = 250_000;
/** Findings that are told; errors before warnings. */
const MOST = 100;

/** What is found, by place. `text`: JavaScript or Python; of TypeScript the text without its types. */
export async function checkProgram(text: string, options: CheckOptions): Promise<Finding[]> {
  const facts = await factsOf(text, options.language);
  const found: Found[] = [...requiredFound(options), ...(facts ? await rulesFound(text, facts, options) : unseen(options))];
  const told = found.length <= MOST ? found : found.sort((a, b) => a.severity.localeCompare(b.severity) || a.at - b.at).slice(0, MOST);
  const place = placesIn(text);
  return told.sort((a, b) => a.at - b.at).map(({ rule, severity, at, message }) => ({ rule, severity, ...place(at), message }));
}

async function factsOf(text: string, language: CheckOptions['language']): Promise<ProgramFacts | undefined> {
  if (text.length > LONGEST) return undefined;
  return language === 'python' ? pythonFacts(text) : javascriptFacts(text);
}

async function rulesFound(text: string, facts: ProgramFacts, options: CheckOptions): Promise<Found[]> {
  return [
    ...(facts.unparsed ? [{ rule: 'syntax_error', severity: 'error', at: facts.unparsed.at, message: `SyntaxError: ${facts.unparsed.message}` } as const] : []),
    ...importsFound(text, facts, options),
    ...missingFound(facts, options),
    ...(await commandsFound(facts, options)),
    ...(options.strict ? strictFound(text, facts) : []),
    ...(options.tools ? toolsFound(facts, options.tools, options.language) : []),
    ...awaitingFound(facts),
    ...(options.network ? [] : networkFound(facts)),
  ];
}

/** What cannot be looked at is run all the same, unless nothing else would hold it to the rules. */
function unseen({ strict }: CheckOptions): Found[] {
  const message = 'The program is too long or too deeply nested to be checked: make it shorter.';
  return [{ rule: 'policy_violation', severity: strict ? 'error' : 'warning', at: 0, message }];
}
