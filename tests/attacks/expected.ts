/** What each hostile program of the case bank comes to. */
import { fails, type Outcome, succeeds, waits } from './outcome.ts';

export const EXPECTED: Record<string, Outcome> = {};
