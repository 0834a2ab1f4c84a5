/** What can be asked of one task besides its state: control, code, log, journal, events, state, checkpoints, fork, verify. */
import { z } from 'zod';
import { strictOptions } from '../strict-options.ts';
import { constraintsSchema } from './constraints.ts';
import { idSchema, timeSchema, valueSchema } from './scalars.ts';
import { logLineSchema } from './task.ts';
import { languageSchema } from './task-request.ts';

export const controlSchema = strictOptions({
  action: z.enum(['pause', 'resume', 'cancel']),
  wait_seconds: z.number().min(0).max(600).default(10).meta({ description: 'How long to wait until the state is true; then the answer is 202' }),
}).meta({ id: 'Control' });

export const taskCodeSchema = z
  .object({
    task_id: z.string(),
    language: languageSchema.nullable().meta({ description: 'Null, as the code, until a model has written a program' }),
    code: z.string().nullable(),
    instruction: z.string().optional(),
    tool_call: z.object({ name: z.string(), arguments: z.unknown() }).optional(),
    versions: z
      .array(z.object({ version: z.int(), language: languageSchema, code: z.string(), by: z.string(), created_at: timeSchema }))
      .meta({ description: 'All that a model wrote, or a person made of it, oldest first' }),
  })
  .meta({ id: 'TaskCode' });

export const taskLogSchema = z
  .object({ task_id: z.string(), stdout: z.string(), stderr: z.string(), truncated: z.boolean(), execution_log: z.array(logLineSchema) })
  .meta({ id: 'TaskLog' });

export const journalQuerySchema = strictOptions({
  after: z.coerce.number().int().min(0).default(0).meta({ description: 'Number of the last entry already known' }),
  limit: z.coerce.number().int().min(1).max(1000).default(200),
});
export const journalEntrySchema = z
  .object({ seq: z.int(), at: timeSchema, kind: z.string(), body: z.string().meta({ description: 'JSON, as it was written and hashed' }), hash: z.string() })
  .meta({ id: 'JournalEntry' });
export const journalSchema = z.object({ items: z.array(journalEntrySchema) }).meta({ id: 'Journal' });

export const eventsQuerySchema = strictOptions({
  after: z.coerce.number().int().min(0).optional().meta({ description: 'Where no Last-Event-ID can be sent' }),
  live: z.enum(['true', 'false']).optional().meta({ description: 'Also what passes and is not kept: a line reached, what is spent. Default: true' }),
});
/** The data of one server-sent event; its `id` is `seq`, where that is set. */
export const eventSchema = z.object({ seq: z.int().nullable(), at: timeSchema, kind: z.string(), data: z.unknown() }).meta({ id: 'TaskEvent' });

export const taskStateSchema = z
  .object({
    stack: z.array(z.object({ file: z.string(), line: z.int().nullable(), function: z.string(), locals: z.record(z.string(), z.string()) })),
    pending: z.array(z.object({ id: z.int(), tool: z.string(), arguments: valueSchema })),
    files: z.array(z.object({ path: z.string(), bytes: z.int() })),
    incomplete: z.string().optional(),
  })
  .meta({ id: 'TaskState' });

export const checkpointSchema = z
  .object({
    checkpoint_id: z.string(),
    seq: z.int(),
    created_at: timeSchema,
    reason: z.string(),
    bytes: z.int(),
    ground: z.string().optional().meta({ description: 'Of an increment: the full checkpoint that it was made on' }),
  })
  .meta({ id: 'Checkpoint' });
export const checkpointsSchema = z.object({ items: z.array(checkpointSchema) }).meta({ id: 'Checkpoints' });

const answerSchema = z.union([
  strictOptions({ output: valueSchema }),
  strictOptions({ error: strictOptions({ name: z.string().optional(), message: z.string(), data: valueSchema.optional() }) }),
]);
export const forkSchema = strictOptions({
  checkpoint_id: z.string().optional().meta({ description: 'Default: the newest' }),
  answers: z.record(z.string(), answerSchema).optional().meta({ description: 'Other answers to calls, by call id' }),
  tool_constraints: constraintsSchema.optional().meta({ description: 'Only its limits can be changed' }),
  task_id: idSchema.optional(),
}).meta({ id: 'Fork' });

export const verifiedSchema = z.object({ verified: z.boolean(), checkpoints: z.int(), differences: z.array(z.string()) }).meta({ id: 'Verified' });

export type ControlWire = z.input<typeof controlSchema>;
export type TaskCodeWire = z.output<typeof taskCodeSchema>;
export type TaskLogWire = z.output<typeof taskLogSchema>;
export type JournalWire = z.output<typeof journalSchema>;
export type EventWire = z.output<typeof eventSchema>;
export type TaskStateWire = z.output<typeof taskStateSchema>;
export type CheckpointWire = z.output<typeof checkpointSchema>;
export type ForkWire = z.input<typeof forkSchema>;
export type VerifiedWire = z.output<typeof verifiedSchema>;
