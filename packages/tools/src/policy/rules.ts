/** Rules as somebody wrote them, checked before they decide anything: one that cannot be understood is refused. */
import { FermataError, type PolicyRule, parseOptions } from '@fermata/protocol';
import { policyCallsSchema, policyConditionsSchema, policyRateBounds, policyTimeSchema, strictOptions } from '@fermata/protocol/schemas';
import { z } from 'zod';

const ruleSchema = strictOptions({
  tool: z.string().min(1),
  when: policyConditionsSchema.optional(),
  calls: policyCallsSchema.optional(),
  time: policyTimeSchema.optional(),
  action: z.enum(['allow', 'deny', 'require_approval', 'rate_limit']),
  rate: strictOptions({ ...policyRateBounds, per: z.enum(['task', 'tenant']).optional() }).optional(),
  reason: z.string().optional(),
  expiresAfterMs: z.int().positive().optional(),
} satisfies Record<keyof PolicyRule, z.ZodType>);

/** Throws `invalid_request` with the number of the rule and what is wrong. `of`: whose they are. */
export function checkRules(rules: readonly PolicyRule[], of: 'task' | 'others' = 'others'): void {
  if (!Array.isArray(rules)) throw new FermataError('invalid_request', 'policy: a list of rules is wanted');
  for (const [index, rule] of rules.entries()) {
    parseOptions(ruleSchema, rule, `policy: rule ${index + 1}`);
    const fault = ruleFault(rule, of);
    if (fault) throw new FermataError('invalid_request', `policy: rule ${index + 1}: ${fault}`);
  }
}

/** What is wrong with a rule each of whose parts is right, if anything is. */
export function ruleFault({ action, rate }: PolicyRule, of: 'task' | 'others'): string | undefined {
  if ((action === 'rate_limit') !== (rate !== undefined)) return action === 'rate_limit' ? 'rate_limit needs a rate' : 'a rate goes with the action rate_limit';
  if (rate?.per === 'tenant' && of === 'task') return 'a rate per tenant is for rules of the server or of the tenant; a task limits itself';
  return undefined;
}
