/** Options that callers give: every one has a schema, and what does not fit is refused with its place. */
import type { z } from 'zod';
import { FermataError } from './errors.ts';

/** What the schema makes of a value; throws `invalid_request` with the place and the fault. `at`: what the value is called. */
export function parseOptions<S extends z.ZodType>(schema: S, value: unknown, at = ''): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw misfit(parsed.error.issues, at);
}

/** The `invalid_request` that says what a schema found. */
export function misfit(issues: readonly z.core.$ZodIssue[], at = ''): FermataError {
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  const place = [...(at ? [at] : []), ...(issue?.path ?? [])].join('.');
  return new FermataError('invalid_request', `${place ? `${place}: ` : ''}${issue?.message}`);
}

/** No name that we have is so long, and comparing takes as long as both lengths multiplied. */
export const LONGEST_NAME = 100;

/** The name that is most like `given`, if one is like it at all: one begins with the other, or few letters differ. */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  if (given.length > LONGEST_NAME) return undefined;
  const plain = (name: string) => name.toLowerCase().replace(/[_-]/g, '');
  const wanted = plain(given);
  const begins = names.find((name) => wanted.length >= 4 && (plain(name).startsWith(wanted) || wanted.startsWith(plain(name))));
  if (begins !== undefined) return begins;
  const [best] = names.map((name) => ({ name, away: distance(wanted, plain(name)) })).sort((a, b) => a.away - b.away);
  return best && best.away <= Math.max(2, Math.floor(best.name.length / 3)) ? best.name : undefined;
}

/** How many characters must be added, taken away or changed. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const [i, char] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) next.push(Math.min((next[j] as number) + 1, (row[j + 1] as number) + 1, (row[j] as number) + (char === b[j] ? 0 : 1)));
    row = next;
  }
  return row[b.length] as number;
}
