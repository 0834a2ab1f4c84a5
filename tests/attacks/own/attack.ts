import type { Case, Expectations } from '../../player/case-bank.ts';
import type { Outcome } from '../outcome.ts';

/** `outcome` says why; what else must hold stands in `expect`. */
export interface OwnAttack extends Omit<Case, 'expect' | 'exact'> {
  outcome: Outcome;
  expect?: Expectations;
}
