/**
 * What a task adds to its machine's snapshot: program, calls, output, what it has spent. Versioned; read only through a
 * schema, since a snapshot that is not sealed may say anything.
 */
import { decodeValue, encodeValue, MAX_CARRIER_DEPTH } from '@fermata/machine';
import { FermataError, type Program, type Value } from '@fermata/protocol';
import { z } from 'zod';

/** Ids stand in file names. */
export const TASK_ID = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array);
const value = z.custom<Value>(() => true);
const record = z.custom<{ [key: string]: Value }>((it) => it !== null && typeof it === 'object' && Object.getPrototypeOf(it) === Object.prototype);
const duration = z.number().nonnegative().max(1e15);
const id = z.number().int().positive();
const failure = z.object({ name: z.string(), message: z.string(), data: value.optional() });

const callSchema = z.strictObject({
  id,
  name: z.string(),
  args: record,
  state: z.enum(['new', 'started', 'unknown', 'settled', 'delivered']),
  edited: record.optional(),
  result: z.union([z.strictObject({ ok: value }), z.strictObject({ error: failure })]).optional(),
});
const programSchema = z.object({
  language: z.enum(['python', 'javascript', 'typescript']),
  code: z.string(),
  input: value.optional(),
  stdin: z.union([z.string(), bytes]).optional(),
  file: z.string().optional(),
  tools: z.array(z.object({ name: z.string(), parameters: z.array(z.string()).nullable() })).optional(),
  files: z.array(z.object({ path: z.string(), data: bytes })).optional(),
  allowedLibraries: z.array(z.string()).optional(),
  requiredLibraries: z.array(z.string()).optional(),
  blockedCommands: z.array(z.string()).optional(),
  strict: z.boolean().optional(),
  shared: z.boolean().optional(),
});
const taskStateSchema = z.strictObject({
  version: z.literal(1),
  id: z.string().regex(TASK_ID),
  program: programSchema,
  calls: z.strictObject({ answers: z.array(id), records: z.array(callSchema) }),
  output: z.strictObject({ stdout: bytes, stderr: bytes }),
  wallMs: duration,
  cpuMs: duration,
  seed: bytes.refine((seed) => seed.length === 32),
  label: value.optional(),
});

export type SavedCalls = z.infer<typeof taskStateSchema>['calls'];
export type TaskState = Omit<z.infer<typeof taskStateSchema>, 'program'> & { program: Program };

export function encodeTaskState(state: TaskState): Uint8Array {
  return encodeValue(state, 'task', MAX_CARRIER_DEPTH);
}

/** Throws `checkpoint_invalid` on anything that {@link encodeTaskState} does not write. */
export function decodeTaskState(attachment: Uint8Array): TaskState {
  let decoded: unknown;
  try {
    decoded = decodeValue(attachment);
  } catch (cause) {
    throw new FermataError('checkpoint_invalid', 'the snapshot holds a machine but no task', { cause });
  }
  const parsed = taskStateSchema.safeParse(decoded);
  if (parsed.success) return parsed.data as TaskState;
  const issue = parsed.error.issues[0];
  throw new FermataError('checkpoint_invalid', `the snapshot's task is malformed at ${issue?.path.join('.')}: ${issue?.message}`);
}
