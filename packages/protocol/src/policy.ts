/**
 * Rules of policy: what a task may do with a tool. What they are made of, and the schemas of those parts that code and wire
 * write alike.
 */
import { z } from 'zod';
import { strictOptions } from './options.ts';

export type Scalar = string | number | boolean | null;
/** A JSON scalar stands for `eq`. */
export type Condition = Scalar | { eq?: Scalar; ne?: Scalar; gt?: number; gte?: number; lt?: number; lte?: number; in?: Scalar[]; matches?: string; exists?: boolean };
export type PolicyAction = 'allow' | 'deny' | 'require_approval';

/** When a rule holds; all that is given must be so. */
export interface PolicyTime {
  /** Of the day, as `HH:MM`: from the one until before the other; over midnight where `to` is not later. */
  from?: string;
  to?: string;
  /** On which such a stretch, or the day, begins. */
  days?: Weekday[];
  /** Of `from`, `to` and `days`, as `Europe/Berlin`. Default: UTC. */
  zone?: string;
  /** A moment, as an ISO date with a time and an offset. */
  after?: string;
  before?: string;
}
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** At most so many calls within any stretch of so long; those that policy refuses do not count. */
export interface PolicyRate {
  calls: number;
  windowMs: number;
  /** Whose calls count: those of one task (default), or those of all tasks of a tenant. */
  per?: 'task' | 'tenant';
}

export interface PolicyRule {
  /** A tool's name; `*` stands for any characters. */
  tool: string;
  /** Conditions on arguments, by path; all must hold. Absent: always. */
  when?: Record<string, Condition>;
  /** A condition on how many calls of the tool the task has made before this one, those that policy refused aside. */
  calls?: Condition;
  time?: PolicyTime;
  /** `rate_limit` decides nothing: a call that is within all rates that fit it is left to the other rules. */
  action: PolicyAction | 'rate_limit';
  /** Of `rate_limit`. */
  rate?: PolicyRate;
  /** Told to the program where it is denied, and to who approves. */
  reason?: string;
  /** An approval that is not given in this time is a rejection. */
  expiresAfterMs?: number;
}

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
