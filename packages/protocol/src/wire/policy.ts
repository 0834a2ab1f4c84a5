/** Rules of a tenant, and questions to policy: what would become of a call. */
import { z } from 'zod';
import { strictOptions } from '../strict-options.ts';
import { policyRuleSchema } from './constraints.ts';

const rulesSchema = z.array(policyRuleSchema).max(1000);

export const setPolicySchema = strictOptions({ policy: rulesSchema.meta({ description: 'In the place of the rules that the tenant had' }) }).meta({ id: 'SetPolicy' });
export const policySchema = z
  .object({
    tenant: z.array(policyRuleSchema).meta({ description: 'Rules of the tenant, which it can set' }),
    server: z.array(policyRuleSchema).meta({ description: 'Rules of the configuration, for all tenants' }),
  })
  .meta({ id: 'Policy' });

export const policyTestSchema = strictOptions({
  policy: rulesSchema.optional().meta({ description: 'Rules of the task; those of the tenant and of the server hold besides' }),
  tool: z.string().min(1).max(256),
  arguments: z.record(z.string(), z.unknown()).optional(),
  calls: z.int().min(0).optional().meta({ description: 'How many calls of the tool the task has made before; default: 0' }),
  at: z.iso.datetime({ offset: true }).optional().meta({ description: 'When it is called; default: now' }),
}).meta({ id: 'PolicyTest' });

const owner = z.enum(['task', 'tenant', 'server']);

export const policyVerdictSchema = z
  .object({
    action: z.enum(['allow', 'deny', 'require_approval']),
    decided_by: z.enum(['task', 'tenant', 'server', 'tool']).meta({ description: 'Whose rule has decided; `tool`: none fits, and the tool itself says so' }),
    rule: z.int().nullable().meta({ description: 'The number of that rule among the rules of its owner, from 1' }),
    reason: z.string().nullable(),
    why: z.string(),
    rates: z.array(z.object({ of: owner, rule: z.int() })).meta({ description: 'Rules with a rate that the call must be within' }),
    rules: z.array(z.object({ of: owner, rule: z.int(), action: z.string(), fits: z.boolean(), why: z.string() })).meta({ description: 'Every rule that was looked at' }),
  })
  .meta({ id: 'PolicyVerdict' });

export type SetPolicyWire = z.input<typeof setPolicySchema>;
export type PolicyWire = z.output<typeof policySchema>;
export type PolicyTestWire = z.input<typeof policyTestSchema>;
export type PolicyVerdictWire = z.output<typeof policyVerdictSchema>;
