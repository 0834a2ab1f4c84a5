/**
 * All that a stopped machine is, besides its memory pages, as one value: what a snapshot stores and a restore checks.
 *
 * Hostile input ends here: every field is checked for type and range before anything of it is used.
 */
import { FermataError, type Limits, limitsSchema, type Value, type ValueRecord } from '@fermata/protocol';
import { z } from 'zod';

const count = z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER);
const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array);
const record = z.custom<ValueRecord>((value) => value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype);

const fsStateSchema = z.strictObject({
  nextId: count,
  usedBytes: count,
  refused: count,
  stdin: bytes,
  /**
   * In the order of `/work`, `/tmp`, then downwards: [parent id, id, name, mtimeMs, data or null for a folder]. The two
   * themselves are here only once something was made in them.
   */
  nodes: z.array(z.tuple([count, count, z.string(), z.number(), bytes.nullable()])),
  /** Files and folders without a name that are still open: [id, mtimeMs, data or null for a folder]. */
  unnamed: z.array(z.tuple([count, z.number(), bytes.nullable()])),
  /** [fd, node id or stream name, position, flags] */
  descriptors: z.array(z.tuple([count, z.union([count, z.enum(['stdout', 'stderr', 'stdin'])]), count, count])),
});

const stateSchema = z.strictObject({
  stackPointer: count,
  pages: count.max(65536),
  peakPages: count.max(65536),
  fuel: count,
  stoppedIn: z.enum(['checkpoint', 'exchange']),
  said: z.enum(['ready', 'wait', 'done', 'failed']),
  dueMs: z.number().nullable(),
  nextCall: count,
  calls: z.array(z.strictObject({ id: count, name: z.string(), args: record })),
  outputBytes: count,
  /** Absent = 0, so that a state without notes is what it was before they were counted. */
  noteBytes: count.optional(),
  clock: z.strictObject({ startMs: z.number().int(), anchorMs: z.number().int(), anchorFuel: count }),
  random: z.strictObject({ seed: bytes.refine((seed) => seed.length === 32), blocks: count }),
  fs: fsStateSchema,
  limits: limitsSchema,
});

export type FsState = z.infer<typeof fsStateSchema>;
export type MachineState = Omit<z.infer<typeof stateSchema>, 'limits'> & { limits: Limits };

/** Limits that a saved state leaves out at their default, so that it is what it was before there were these. */
const NEWER_LIMITS = ['maxCallsAtOnce', 'maxJournalBytes', 'maxCheckpointBytes'] as const satisfies (keyof Limits)[];

function savedLimits(limits: Limits): Limits {
  const saved = { ...limits };
  const defaults = limitsSchema.parse({});
  for (const name of NEWER_LIMITS) if (saved[name] === defaults[name]) delete (saved as Partial<Limits>)[name];
  return saved;
}

export function stateToValue(state: MachineState): Value {
  return { ...state, limits: savedLimits(state.limits) } as unknown as Value;
}

/** Throws `checkpoint_invalid` on anything that this version does not write. */
export function stateFromValue(value: Value): MachineState {
  const parsed = stateSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new FermataError('checkpoint_invalid', `the snapshot's state is malformed at ${issue?.path.join('.')}: ${issue?.message}`);
}
