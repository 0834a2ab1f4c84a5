/** Rules as somebody wrote them, checked before they decide anything: one that cannot be understood is refused. */
import { FermataError, type PolicyRule, parseOptions, policyConditionsSchema, strictOptions } from '@fermata/protocol';
import { z } from 'zod';

const ruleSchema = strictOptions({
  tool: z.string().min(1),
  when: policyConditionsSchema.optional(),
  action: z.enum(['allow', 'deny', 'require_approval']),
  reason: z.string().optional(),
  expiresAfterMs: z.int().positive().optional(),
});

/** Throws `invalid_request` with the place of what is wrong. */
export function checkRules(rules: readonly PolicyRule[]): void {
  if (!Array.isArray(rules)) throw new FermataError('invalid_request', 'policy: a list of rules is wanted');
  for (const [index, rule] of rules.entries()) parseOptions(ruleSchema, rule, `policy.${index}`);
}
