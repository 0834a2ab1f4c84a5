/** How much a host may take, and its defaults. */
import { DEFAULT_LIMITS } from '@fermata/protocol';
import type { MachineHostOptions } from './machine-host.ts';
import { IMAGE_BYTES } from './seats.ts';
import { usableMemory } from './usable-memory.ts';

/** Memory is counted by the limits of the machines that are resident, not by what they use now. */
export interface HostSize {
  /** Bytes that all resident machines together may come to. Default: three quarters of the memory that this process may use. */
  maxBytes?: number | undefined;
  /** The same for one thread or child process. Default: an equal share, but room for one machine of the default limit. */
  maxThreadBytes?: number | undefined;
  /** A machine that does nothing for so long (ms) is taken off its thread until it is wanted. Default: 500. */
  hibernateMs?: number | undefined;
  /** A thread or child without machines is ended after so long (ms), unless it was prepared. Default: 5000. */
  idleMs?: number | undefined;
}

export function hostSize(threads: number, { maxBytes, maxThreadBytes, hibernateMs = 500, idleMs = 5000 }: HostSize): Omit<MachineHostOptions, 'open'> {
  const maxThreads = Math.max(1, threads);
  const all = maxBytes ?? Math.floor(usableMemory() * 0.75);
  const one = DEFAULT_LIMITS.maxMemoryBytes + IMAGE_BYTES;
  return { maxThreads, maxBytes: all, maxThreadBytes: maxThreadBytes ?? Math.max(Math.floor(all / maxThreads), one), hibernateMs, idleMs };
}
