/** Calls of a task and decisions on them. */
import { z } from 'zod';
import { strictOptions } from '../strict-options.ts';
import { pageOf, pageQuery, recordSchema, timeSchema, valueSchema } from './scalars.ts';

const failure = z.object({ name: z.string(), message: z.string(), data: z.unknown().optional() });

const callShape = {
  call_id: z.string(),
  tool: z.string(),
  arguments: valueSchema,
  edited_arguments: valueSchema.optional().meta({ description: "What a person put in the place of the program's" }),
  status: z.enum(['ready', 'started', 'waiting', 'settled', 'abandoned']),
  waits_for: z.enum(['approval', 'review', 'client_tool', 'outcome_unknown']).nullable(),
  tries: z.int(),
  output: valueSchema.optional(),
  error: failure.optional(),
  delivered: z.boolean(),
  created_at: timeSchema,
  settled_at: timeSchema.nullable(),
  expires_at: timeSchema.nullable(),
  by: z.string().nullable(),
};

export const callSchema = z.object(callShape).meta({ id: 'Call' });
export const callsSchema = z.object({ items: z.array(callSchema) }).meta({ id: 'Calls' });
export const approvalPageSchema = pageOf(z.object({ task_id: z.string(), ...callShape }).meta({ id: 'WaitingCall' })).meta({ id: 'ApprovalPage' });
export const approvalQuerySchema = strictOptions({
  kind: z.string().optional().meta({ description: 'approval, review, client_tool, outcome_unknown, separated by commas; default: those that a person decides' }),
  ...pageQuery,
});

export const approveSchema = strictOptions({
  arguments: recordSchema.optional().meta({ description: "In the place of the program's" }),
  value: valueSchema.optional().meta({ description: 'Of a review: the value that the program goes on with' }),
  comment: z.string().max(10_000).optional(),
}).meta({ id: 'Approve' });
export const rejectSchema = strictOptions({ reason: z.string().max(10_000).optional() }).meta({ id: 'Reject' });
export const callResultSchema = strictOptions({
  output: valueSchema.optional(),
  error: strictOptions({ name: z.string().optional(), message: z.string(), data: valueSchema.optional() }).optional(),
})
  .refine((given) => 'output' in given !== 'error' in given, 'give exactly one of output and error')
  .meta({ id: 'CallResult' });

export type CallWire = z.output<typeof callSchema>;
export type CallsWire = z.output<typeof callsSchema>;
export type ApprovalPageWire = z.output<typeof approvalPageSchema>;
export type ApproveWire = z.input<typeof approveSchema>;
export type RejectWire = z.input<typeof rejectSchema>;
export type CallResultWire = { output: unknown } | { error: { name?: string; message: string; data?: unknown } };
