/** Conditions of policy rules, as callers write them: one schema for code and for the wire. */
import { z } from 'zod';
import { strictOptions } from './options.ts';

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const comparison = strictOptions({
  eq: scalar.optional(),
  ne: scalar.optional(),
  gt: z.number().optional(),
  gte: z.number().optional(),
  lt: z.number().optional(),
  lte: z.number().optional(),
  in: z.array(scalar).optional(),
  matches: z.string().max(1000).refine(isPattern, 'this is not a regular expression').optional(),
  exists: z.boolean().optional(),
});

/** By the path of an argument. */
export const policyConditionsSchema = z.record(z.string(), z.union([scalar, comparison]));

/** Whether it can be judged: with the flag that it is judged with. */
function isPattern(text: string): boolean {
  try {
    new RegExp(text, 'u');
    return true;
  } catch {
    return false;
  }
}
