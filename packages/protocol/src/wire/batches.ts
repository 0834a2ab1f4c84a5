/** Batches, sessions and files. */
import { z } from 'zod';
import { strictOptions } from '../strict-options.ts';
import { idSchema, pageOf, pageQuery, timeSchema, valueSchema } from './scalars.ts';
import { taskErrorSchema, taskStatusSchema } from './task.ts';
import { callbackUrlSchema, taskRequestSchema } from './task-request.ts';

export const createBatchSchema = strictOptions({
  batch_id: idSchema.optional(),
  tasks: z.array(taskRequestSchema).min(1).max(10_000),
  max_concurrency: z.int().min(1).optional(),
  callback_url: callbackUrlSchema.optional(),
}).meta({ id: 'CreateBatch' });

const batchShape = {
  batch_id: z.string(),
  created_at: timeSchema,
  total: z.int(),
  counts: z.record(z.string(), z.int()).meta({ description: 'How many tasks are in each status' }),
  max_concurrency: z.int().nullable(),
  task_ids: z.array(z.string()),
  completed_at: timeSchema.nullable(),
};
export const createdBatchSchema = z.object(batchShape).meta({ id: 'CreatedBatch' });
export const batchSchema = z
  .object({
    ...batchShape,
    results: z.array(z.object({ task_id: z.string(), status: taskStatusSchema, output: valueSchema.optional(), error: taskErrorSchema.optional() })),
    cursor: z.string().optional().meta({ description: 'Where there are more results' }),
  })
  .meta({ id: 'Batch' });
export const batchQuerySchema = strictOptions(pageQuery);
export const batchControlSchema = strictOptions({ action: z.literal('cancel') }).meta({ id: 'BatchControl' });

export const sessionSchema = z.object({ session_id: z.string(), created_at: timeSchema, head: z.int(), language: z.string().nullable(), bytes: z.int() }).meta({ id: 'Session' });
export const sessionPageSchema = pageOf(sessionSchema).meta({ id: 'SessionPage' });
export const pageQuerySchema = strictOptions(pageQuery);

export const storedFileSchema = z.object({ file_id: z.string(), name: z.string(), bytes: z.int() }).meta({ id: 'StoredFile' });
export const fileQuerySchema = strictOptions({ name: z.string().min(1).max(255).optional().meta({ description: 'Where the body is the file itself' }) });

export type CreateBatchWire = z.input<typeof createBatchSchema>;
export type CreatedBatchWire = z.output<typeof createdBatchSchema>;
export type BatchWire = z.output<typeof batchSchema>;
export type SessionPageWire = z.output<typeof sessionPageSchema>;
export type StoredFileWire = z.output<typeof storedFileSchema>;
export type PageQueryWire = z.input<typeof pageQuerySchema>;
