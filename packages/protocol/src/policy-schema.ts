/** Schemas of those parts of policy rules that code and wire write alike. */
import { z } from 'zod';
import { WEEKDAYS } from './policy.ts';
import { strictOptions } from './strict-options.ts';

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const numbers = { gt: z.number().optional(), gte: z.number().optional(), lt: z.number().optional(), lte: z.number().optional() };

const comparison = strictOptions({
  eq: scalar.optional(),
  ne: scalar.optional(),
  ...numbers,
  in: z.array(scalar).optional(),
  matches: z.string().max(1000).refine(isPattern, 'this is not a regular expression').optional(),
  exists: z.boolean().optional(),
});

/** By the path of an argument. */
export const policyConditionsSchema = z.record(z.string(), z.union([scalar, comparison]));

export const policyCallsSchema = z.union([z.number(), strictOptions({ eq: z.number().optional(), ne: z.number().optional(), ...numbers, in: z.array(z.number()).optional() })]);

const clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time of the day is wanted, as 09:30');
const moment = z.iso.datetime({ offset: true, error: 'a moment is wanted, as 2026-01-31T09:30:00Z' });

export const policyTimeSchema = strictOptions({
  from: clock.optional(),
  to: clock.optional(),
  days: z.array(z.enum(WEEKDAYS)).min(1).optional(),
  zone: z.string().refine(isZone, 'this is not a time zone; write it as Europe/Berlin').optional(),
  after: moment.optional(),
  before: moment.optional(),
}).refine(({ from, to }) => (from === undefined) === (to === undefined), 'from and to go together');

/** Counts and lengths that can be kept. */
export const policyRateBounds = { calls: z.int().min(1).max(1000), windowMs: z.int().min(1).max(31_536_000_000) };

/** Whether it can be judged: with the flag that it is judged with. */
function isPattern(text: string): boolean {
  try {
    new RegExp(text, 'u');
    return true;
  } catch {
    return false;
  }
}

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
