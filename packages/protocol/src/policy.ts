/** Rules of policy: what a task may do with a tool. */

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
