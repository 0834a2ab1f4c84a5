/**
 * A host whose machines live in child processes, one Worker in each, so that a breakdown of V8, or an escape from its
 * sandbox, meets a process that holds one tenant's machines and may do nothing.
 */
import { availableParallelism } from 'node:os';
import { FermataError, type Host } from '@fermata/protocol';
import { defaultCacheDir } from '../wasm/image-store.ts';
import { childPorts } from './child-port.ts';
import { type HostSize, hostSize } from './host-size.ts';
import { type JailMode, jailObstacle } from './jail.ts';
import { MachineHost } from './machine-host.ts';

export interface ChildHostOptions extends HostSize {
  /** Child processes at most. Default: one per core. */
  children?: number | undefined;
  /** Where unpacked images are kept. Default: see {@link defaultCacheDir}. */
  cacheDir?: string | undefined;
  /** Whether children live in a bubblewrap jail. Default: `auto`. */
  jail?: JailMode | undefined;
  /** A child that is silent for so long (ms) is killed. Default: 15 s. */
  silentMs?: number | undefined;
}

/** A host in child processes. Nothing starts before the first machine is made. Throws `sandbox_unavailable` if the jail is required and cannot be had. */
export function createChildHost({ children = availableParallelism(), cacheDir = defaultCacheDir(), jail = 'auto', silentMs = 15_000, ...size }: ChildHostOptions = {}): Host {
  const obstacle = jail === 'off' ? 'it is turned off' : jailObstacle();
  if (jail === 'required' && obstacle) throw new FermataError('sandbox_unavailable', `the jail for child processes cannot be had: ${obstacle}`);
  return new MachineHost({ open: childPorts({ cacheDir, jailed: obstacle === undefined, silentMs }), ...hostSize(children, size) });
}
