/**
 * Attacks that are contained, but not yet with the outcome that is right. The tables hold the right outcome; here stands what
 * comes instead. One that passes, or comes to something else than is said here, fails the suite.
 */
import type { Expectations } from '../player/case-bank.ts';

export interface KnownShort {
  why: string;
  /** Right expectations that do not hold yet. */
  without?: string[];
  /** What holds in their place. */
  instead: Expectations;
}

export const KNOWN_SHORT: Record<string, KnownShort> = {};
