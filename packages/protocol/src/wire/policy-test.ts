/** A question to policy: what would become of a call. */
import { z } from 'zod';
import { strictOptions } from '../options.ts';
import { policyRuleSchema } from './constraints.ts';

export const policyTestSchema = strictOptions({
  policy: z.array(policyRuleSchema).max(1000).optional().meta({ description: 'Rules of the task; those of the server come after them' }),
  tool: z.string().min(1).max(256),
  arguments: z.record(z.string(), z.unknown()).optional(),
}).meta({ id: 'PolicyTest' });

export const policyVerdictSchema = z
  .object({
    action: z.enum(['allow', 'deny', 'require_approval']),
    decided_by: z.enum(['task', 'server', 'tool']).meta({ description: 'Whose rule has decided; `tool`: none fits, and the tool itself says so' }),
    rule: z.int().nullable().meta({ description: 'The place of that rule among the rules of its owner, from 0' }),
    reason: z.string().nullable(),
  })
  .meta({ id: 'PolicyVerdict' });

export type PolicyTestWire = z.input<typeof policyTestSchema>;
export type PolicyVerdictWire = z.output<typeof policyVerdictSchema>;
