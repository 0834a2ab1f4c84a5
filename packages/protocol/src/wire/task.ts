/** A task as GET shows it, by its state, and the short form of the same. */
import { z } from 'zod';
import { strictOptions } from '../strict-options.ts';
import { metadataSchema, pageOf, pageQuery, timeSchema, valueSchema } from './scalars.ts';
import { usageSchema } from './usage.ts';

const NOT_IN_LISTS = { description: 'Not in lists' };

export const taskStatusSchema = z.enum(['pending', 'running', 'waiting', 'paused', 'succeeded', 'failed', 'cancelled']);

export const waitingForSchema = z
  .object({
    call_id: z.string().nullable(),
    tool: z.string().nullable(),
    arguments: valueSchema,
    kind: z.enum(['approval', 'review', 'client_tool', 'timer', 'outcome_unknown']),
    expires_at: timeSchema.nullable().meta({ description: 'Of a timer: when it is due' }),
    created_at: timeSchema,
  })
  .meta({ id: 'WaitingFor' });

export const inFlightSchema = z.object({ call_id: z.string(), tool: z.string(), started_at: timeSchema, tries: z.int() }).meta({ id: 'InFlight' });

export const taskErrorSchema = z
  .object({
    code: z.string(),
    message: z.string(),
    name: z.string().optional(),
    traceback: z.string().nullable(),
    line: z.int().nullable(),
    column: z.int().nullable(),
    hint: z.string().nullable(),
  })
  .meta({ id: 'TaskError' });

export const logLineSchema = z.object({ seq: z.int(), at: timeSchema, kind: z.string(), data: z.unknown() }).meta({ id: 'LogLine' });

export const taskResultSchema = z
  .object({
    output: valueSchema.meta({ description: "The program's result; null where it has none" }),
    answer: z.string().nullable().optional().meta({ description: 'Of an instruction: what the model says of the result; null where it could not be asked' }),
    stdout: z.string().optional().meta(NOT_IN_LISTS),
    stderr: z.string().optional().meta(NOT_IN_LISTS),
    exit_code: z.int().nullable(),
    truncated: z.boolean(),
    execution_log: z.array(logLineSchema).optional().meta(NOT_IN_LISTS),
    resources_used: usageSchema,
    files: z.array(z.object({ path: z.string(), bytes: z.int(), file_id: z.string() })),
  })
  .meta({ id: 'TaskResult' });

const always = {
  task_id: z.string(),
  created_at: timeSchema,
  updated_at: timeSchema,
  attempt: z.int(),
  worker: z.string().nullable(),
  sandbox: z.literal('wasm'),
  image: z.string().nullable(),
  language: z.string().nullable().meta({ description: 'Of an instruction: null until a program is written' }),
  session_id: z.string().nullable(),
  batch_id: z.string().nullable(),
  priority: z.int(),
  metadata: metadataSchema,
  started_at: timeSchema.nullable(),
  checkpoint_id: z.string().nullable(),
  fork_of: z.object({ task_id: z.string(), checkpoint_id: z.string().nullable() }).optional(),
  resources_used: usageSchema,
};
const unended = {
  ...always,
  desired: z.enum(['run', 'pause', 'cancel']).meta({ description: 'What was asked for last; the status follows' }),
  waiting_for: z.array(waitingForSchema).optional().meta(NOT_IN_LISTS),
  in_flight: z.array(inFlightSchema).optional().meta(NOT_IN_LISTS),
  current_step: z.string().nullable(),
  line: z.int().nullable(),
  progress: z.number().nullable(),
};
const ended = { ...always, completed_at: timeSchema, result: taskResultSchema };

export const taskSchema = z
  .discriminatedUnion('status', [
    z.object({ status: z.literal('pending'), ...unended, queue_position: z.int().nullable(), queue_reason: z.string().nullable() }).meta({ id: 'PendingTask' }),
    z.object({ status: z.literal('running'), ...unended }).meta({ id: 'RunningTask' }),
    z.object({ status: z.literal('waiting'), ...unended }).meta({ id: 'WaitingTask' }),
    z
      .object({
        status: z.literal('paused'),
        ...unended,
        pause_reason: z.enum(['user_request', 'budget', 'shutdown']).nullable(),
        resumable: z.boolean(),
        resumable_reason: z.string().optional(),
      })
      .meta({ id: 'PausedTask' }),
    z.object({ status: z.literal('succeeded'), ...ended }).meta({ id: 'SucceededTask' }),
    z.object({ status: z.literal('failed'), ...ended, error: taskErrorSchema }).meta({ id: 'FailedTask' }),
    z.object({ status: z.literal('cancelled'), ...ended }).meta({ id: 'CancelledTask' }),
  ])
  .meta({ id: 'Task' });

export const createdTaskSchema = z.object({ task_id: z.string(), status: taskStatusSchema, created_at: timeSchema }).meta({ id: 'CreatedTask' });
export const taskPageSchema = pageOf(taskSchema).meta({ id: 'TaskPage' });

export const taskQuerySchema = strictOptions({
  status: z.string().optional().meta({ description: 'One or more statuses, separated by commas' }),
  session_id: z.string().optional(),
  batch_id: z.string().optional(),
  tool: z.string().optional().meta({ description: 'Only tasks that have called it' }),
  created_after: timeSchema.optional(),
  ...pageQuery,
});

export const shortTaskSchema = z
  .object({
    call_id: z.string(),
    status: z.enum(['pending', 'running', 'paused', 'success', 'failed', 'cancelled']),
    output: valueSchema,
    answer: z.string().nullable().optional().meta({ description: 'Of a query' }),
    error_message: z.string().nullable(),
    execution_metadata: z.object({ execution_time_seconds: z.number(), cpu_time_s: z.number(), memory_mb: z.number(), return_code: z.int().nullable() }),
  })
  .meta({ id: 'ShortTask' });

export type TaskWire = z.output<typeof taskSchema>;
export type TaskResultWire = z.output<typeof taskResultSchema>;
export type TaskErrorWire = z.output<typeof taskErrorSchema>;
export type WaitingForWire = z.output<typeof waitingForSchema>;
export type CreatedTaskWire = z.output<typeof createdTaskSchema>;
export type TaskPageWire = z.output<typeof taskPageSchema>;
export type TaskQueryWire = z.input<typeof taskQuerySchema>;
export type ShortTaskWire = z.output<typeof shortTaskSchema>;
export type LogLineWire = z.output<typeof logLineSchema>;
