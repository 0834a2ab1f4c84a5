/** Whether what reached a scripted model is what its script expects. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Asked } from './protocol.ts';
import type { Expectation, Match } from './script.ts';

/** All that the model can read, as one text: the messages, then the functions. */
export function readable({ messages, functions }: Asked): string {
  const said = messages.map(({ role, text, calls }) => [`${role}: ${text}`, ...calls.map(({ name, arguments: args }) => `${name}(${JSON.stringify(args)})`)].join('\n'));
  return [...said, ...functions.map(({ name, description, parameters }) => `${name}: ${description}\n${JSON.stringify(parameters)}`)].join('\n\n');
}

/** What of it is not so, one line each. */
export function unmetOf(expected: Match | Match[] | Expectation | undefined, asked: Asked, headers: IncomingHttpHeaders): string[] {
  const { has = [], lacks = [], functions = [], headers: wanted = {} } = expectationOf(expected);
  const text = readable(asked);
  const offered = new Set(asked.functions.map(({ name }) => name));
  return [
    ...has.filter((match) => !occurs(match, text)).map((match) => `it lacks ${shown(match)}`),
    ...lacks.filter((match) => occurs(match, text)).map((match) => `it has ${shown(match)}, which it should not`),
    ...functions.filter((name) => !offered.has(name)).map((name) => `the function ${name} is not offered`),
    ...Object.entries(wanted)
      .filter(([name, match]) => !occurs(match, String(headers[name.toLowerCase()] ?? '')))
      .map(([name, match]) => `its header ${name} is ${JSON.stringify(headers[name.toLowerCase()] ?? null)}, not ${shown(match)}`),
  ];
}

function expectationOf(expected: Match | Match[] | Expectation | undefined): Expectation {
  if (expected === undefined) return {};
  if (Array.isArray(expected)) return { has: expected };
  return typeof expected === 'string' || expected instanceof RegExp || 'pattern' in expected ? { has: [expected] } : expected;
}

function occurs(match: Match, text: string): boolean {
  if (typeof match === 'string') return text.includes(match);
  return match instanceof RegExp ? new RegExp(match.source, match.flags.replace(/[gy]/g, '')).test(text) : new RegExp(match.pattern, match.flags).test(text);
}

function shown(match: Match): string {
  if (typeof match === 'string') return JSON.stringify(match);
  return match instanceof RegExp ? String(match) : `/${match.pattern}/${match.flags ?? ''}`;
}
