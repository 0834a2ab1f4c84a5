/** A stopped task as bytes, and back: what a snapshot says is checked here against what its new owner gives. */

import { FermataError, type Host, type HostedMachine, type MachineOptions, type OpenOptions, type Program, type SealKey, type Wait } from '@fermata/protocol';
import type { Tool } from '@fermata/tools';
import { checkSnapshotOptions, type SnapshotOptions } from './fermata-options.ts';
import { hintOf } from './hints.ts';
import { decodeTaskState, encodeTaskState, type TaskState } from './task-state.ts';

/** Where the key that seals comes from; asked at each snapshot and restore. */
export type KeySource = () => SealKey | Promise<SealKey>;

/**
 * Throws `invalid_request` for options that do not fit, before the key is asked for. The machine is told at once, unless
 * the key is late: so a task may be disposed of while its snapshot is being made.
 */
export async function writeSnapshot(machine: HostedMachine, state: TaskState, sealKey: KeySource | undefined, options: SnapshotOptions): Promise<Uint8Array> {
  checkSnapshotOptions(options);
  const { boundTo } = options;
  if (boundTo !== undefined && !sealKey) throw new FermataError('invalid_request', 'snapshot.boundTo: only a sealed snapshot can be bound; give createFermata a sealKey');
  const asked = sealKey?.();
  const key = asked instanceof Promise ? await asked : asked;
  const seal = key && { key, ...(boundTo === undefined ? {} : { boundTo }) };
  return machine.snapshot(seal, encodeTaskState(state));
}

/**
 * `complete` is told what the snapshot says, and gives what else the task needs. Throws `checkpoint_invalid`,
 * `environment_mismatch`, or `tools_missing`; the machine is gone then.
 */
export async function openSnapshot<T extends { tools: ReadonlyMap<string, Tool> }>(
  host: Host,
  bytes: Uint8Array,
  open: OpenOptions,
  place: MachineOptions,
  complete: (saved: TaskState) => T | Promise<T>,
): Promise<{ machine: HostedMachine; waits: Wait; saved: TaskState; options: T }> {
  const { machine, restored } = await host.restore(bytes, open, place);
  try {
    const saved = decodeTaskState(restored.attachment);
    const options = await complete(saved);
    mustHaveTools(saved.program, options.tools);
    return { machine, waits: restored.waits, saved, options };
  } catch (error) {
    machine.dispose();
    throw error;
  }
}

function mustHaveTools({ tools = [] }: Program, given: ReadonlyMap<string, Tool>): void {
  const missing = tools.filter(({ name }) => !given.has(name)).map(({ name }) => name);
  if (missing.length === 0) return;
  const message = `the program was given tools that are not there now: ${missing.join(', ')}`;
  throw new FermataError('tools_missing', message, { hint: hintOf({ code: 'tools_missing', message }, 'library') as string });
}
