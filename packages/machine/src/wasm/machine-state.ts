/**
 * All that a stopped machine is, besides its memory pages, as one value: what a snapshot stores and a restore checks.
 *
 * Hostile input ends here: every field is checked for type and range before anything of it is used.
 */
import { DEFAULT_LIMITS, FermataError, LIMIT_BOUNDS, type Limits, type Value } from '@fermata/protocol';
import { bytes, either, exactly, type Form, type FormOf, listOf, Misfit, nullable, number, oneOf, optional, record, text, tuple, whole, withDefault } from './form.ts';

const count = whole(0);
const pages = whole(0, 65536);
const seed: Form<Uint8Array> = (value) => {
  if (bytes(value).length !== 32) throw new Misfit('32 bytes are wanted');
  return value as Uint8Array;
};

const fsState = exactly({
  nextId: count,
  usedBytes: count,
  refused: count,
  stdin: bytes,
  /**
   * In the order of `/work`, `/tmp`, then downwards: [parent id, id, name, mtimeMs, data or null for a folder]. The two
   * themselves are here only once something was made in them.
   */
  nodes: listOf(tuple<[number, number, string, number, Uint8Array | null]>(count, count, text, number, nullable(bytes))),
  /** Files and folders without a name that are still open: [id, mtimeMs, data or null for a folder]. */
  unnamed: listOf(tuple<[number, number, Uint8Array | null]>(count, number, nullable(bytes))),
  /** [fd, node id or stream name, position, flags] */
  descriptors: listOf(tuple<[number, number | 'stdout' | 'stderr' | 'stdin', number, number]>(count, either(count, oneOf('stdout', 'stderr', 'stdin')), count, count)),
});

const limits = exactly(
  Object.fromEntries(Object.entries(LIMIT_BOUNDS).map(([name, { least, most, default: preset }]) => [name, withDefault(whole(least, most), preset)])) as Record<
    keyof Limits,
    Form<number>
  >,
);

const machineState = exactly({
  stackPointer: count,
  pages,
  peakPages: pages,
  fuel: count,
  stoppedIn: oneOf('checkpoint', 'exchange'),
  said: oneOf('ready', 'wait', 'done', 'failed'),
  dueMs: nullable(number),
  nextCall: count,
  calls: listOf(exactly({ id: count, name: text, args: record })),
  outputBytes: count,
  /** Absent = 0, so that a state without notes is what it was before they were counted. */
  noteBytes: optional(count),
  clock: exactly({ startMs: whole(), anchorMs: whole(), anchorFuel: count }),
  random: exactly({ seed, blocks: count }),
  fs: fsState,
  limits,
});

export type FsState = FormOf<typeof fsState>;
export type MachineState = FormOf<typeof machineState>;

/** Limits that a saved state leaves out at their default, so that it is what it was before there were these. */
const NEWER_LIMITS = ['maxCallsAtOnce', 'maxJournalBytes', 'maxCheckpointBytes'] as const satisfies (keyof Limits)[];

function savedLimits(limits: Limits): Limits {
  const saved = { ...limits };
  for (const name of NEWER_LIMITS) if (saved[name] === DEFAULT_LIMITS[name]) delete (saved as Partial<Limits>)[name];
  return saved;
}

export function stateToValue(state: MachineState): Value {
  return { ...state, limits: savedLimits(state.limits) } as unknown as Value;
}

/** Throws `checkpoint_invalid` on anything that this version does not write. */
export function stateFromValue(value: Value): MachineState {
  try {
    return machineState(value);
  } catch (error) {
    if (error instanceof Misfit) throw new FermataError('checkpoint_invalid', `the snapshot's state is malformed at ${error.path.join('.')}: ${error.message}`);
    throw error;
  }
}
