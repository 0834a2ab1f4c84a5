/** Rules as somebody wrote them, checked before they decide anything: one that cannot be understood is refused. */
import { FermataError, type PolicyRule, parseOptions, strictOptions } from '@fermata/protocol';
import { z } from 'zod';

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const isExpression = (source: string) => {
  try {
    return Boolean(new RegExp(source, 'u'));
  } catch {
    return false;
  }
};
const operators = {
  eq: scalar.optional(),
  ne: scalar.optional(),
  gt: z.number().optional(),
  gte: z.number().optional(),
  lt: z.number().optional(),
  lte: z.number().optional(),
  in: z.array(scalar).optional(),
  matches: z.string().max(1000).refine(isExpression, 'it is not a regular expression').optional(),
  exists: z.boolean().optional(),
};
const ruleSchema = strictOptions({
  tool: z.string().min(1),
  when: z.record(z.string(), z.union([scalar, strictOptions(operators)])).optional(),
  action: z.enum(['allow', 'deny', 'require_approval']),
  reason: z.string().optional(),
  expiresAfterMs: z.int().positive().optional(),
});

/** Throws `invalid_request` with the place of what is wrong. */
export function checkRules(rules: readonly PolicyRule[]): void {
  if (!Array.isArray(rules)) throw new FermataError('invalid_request', 'policy: a list of rules is wanted');
  for (const [index, rule] of rules.entries()) parseOptions(ruleSchema, rule, `policy.${index}`);
}
