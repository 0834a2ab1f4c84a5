/**
 * The contract of a host: where machines live and are advanced, off the caller's thread.
 *
 * A hosted machine is run until something other than the end of a slice happens. What it emits on the way is told as it
 * comes; the outcome follows after all of it. Where a machine lives may change between two calls and during one; it is
 * `sandbox_lost` only if it breaks down again and again.
 */
import type { Limits, LimitsInput } from './limits.ts';
import type { Call, Emission, Emitted, Input, Inspection, Language, MachineUsage, Outcome, Wait } from './machine.ts';

export type ImageName = 'cpython' | 'quickjs';

export const imageOfLanguage: Record<Language, ImageName> = { python: 'cpython', javascript: 'quickjs', typescript: 'quickjs' };

/** A 256-bit key and the name by which a sealed snapshot says that it needs this one. */
export interface SealKey {
  id: string;
  key: Uint8Array;
}

export interface SealOptions {
  key: SealKey;
  /** What the snapshot is bound to; the same text must be given to open it. Default: empty. */
  boundTo?: string;
}

export interface OpenOptions {
  /** Keys that may open a sealed snapshot. */
  keys?: readonly SealKey[];
  boundTo?: string;
  /** Accept a snapshot that is not sealed. Its pending calls and answers are then believed: only for bytes of your own. */
  trust?: boolean;
  /** What an increment was made on, and what that is bound to. */
  ground?: { data: Uint8Array; boundTo?: string };
}

/**
 * A snapshot for a store that keeps the ones before. It is full, or an increment: what differs from a full one before it,
 * its ground, without which it cannot be opened ({@link OpenOptions}).
 */
export interface Checkpoint {
  data: Uint8Array;
  increment: boolean;
  /** Names what a full one holds, where increments may be made on it. */
  content: string | null;
}

/** How an advance of a hosted machine ended; `slice-used` means that a stop was asked for. */
export type HostedOutcome = WithoutEmitted<Outcome>;
type WithoutEmitted<O> = O extends unknown ? Omit<O, keyof Emitted> : never;

/** How long a machine may go on in one advance; both in milliseconds. */
export interface Budget {
  /** Until the wall time ends. */
  wallMs: number;
  /** Of processor time. */
  cpuMs: number;
}

export const NEVER: Budget = { wallMs: Number.POSITIVE_INFINITY, cpuMs: Number.POSITIVE_INFINITY };

/** What is known of a machine at its last stop, or while it runs at the end of its last slice. */
export interface Report {
  usage: MachineUsage;
  /** Processor time that this host measured, in ms, since the machine came here. */
  cpuMs: number;
  position: { line: number; column: number } | null;
}

/** Where a restored machine stands. */
export interface Restored {
  /** `go`: in the middle of a program; `start`: between programs; else it waits for an answer or for `dueMs`. */
  waits: Wait;
  pending: Call[];
  attachment: Uint8Array;
}

export interface HostedMachine {
  readonly report: Report;
  readonly limits: Limits;
  /**
   * Goes on until an outcome. `onEmitted` is told output, calls and notes as they come. With the budget used up the
   * outcome is a limit (`timeout` or `cpu`) and the machine is gone. Rejects with `sandbox_lost` if it broke down.
   */
  advance(input: Input, budget: Budget, onEmitted: (emitted: Emission[], report: Report) => void): Promise<HostedOutcome>;
  /** Asks a running advance to stop at the next fuel check; it then ends with `slice-used`, or with what came first. */
  stop(): void;
  snapshot(seal?: SealOptions, attachment?: Uint8Array): Promise<Uint8Array>;
  /**
   * A snapshot that may be an increment on the full one whose content is named `ground`. It is full if the machine does not
   * hold that one any more, or where an increment would not be much smaller.
   */
  checkpoint(seal: SealOptions, ground: string | null): Promise<Checkpoint>;
  hash(): Promise<string>;
  inspect(): Promise<Inspection>;
  readFile(path: string): Promise<Uint8Array | undefined>;
  /** The files in `/work`. */
  files(): Promise<{ path: string; data: Uint8Array }[]>;
  dispose(): void;
}

export interface MachineOptions {
  /** Machines of different tenants never share a process that has no other use. Default: one tenant for all. */
  tenant?: string | undefined;
  /** Told why the machine has to wait for a place, whenever it has to. */
  onQueued?: ((reason: string) => void) | undefined;
}

export interface HostUsage {
  threads: number;
  /** Machines that are on a thread; the others of `machines` are hibernated. */
  residentMachines: number;
  machines: number;
}

export interface Host {
  readonly usage: HostUsage;
  /** Loads the image and makes machines in advance, so that the first ones start and continue as fast as later ones. */
  prepare(image: ImageName): Promise<void>;
  /** Waits in line while there is no place; rejects with `resources_exhausted` if there can never be one. */
  create(image: ImageName, limits: LimitsInput, options?: MachineOptions): Promise<HostedMachine>;
  /** Finds the image by the digest in the snapshot; throws as `Machine.restore` does. */
  restore(snapshot: Uint8Array, open: OpenOptions, options?: MachineOptions): Promise<{ machine: HostedMachine; restored: Restored }>;
  close(): Promise<void>;
}
