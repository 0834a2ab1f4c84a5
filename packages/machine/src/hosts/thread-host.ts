/** A host whose machines live in Worker threads of this process. */

import { availableParallelism } from 'node:os';
import type { Host, ImageName } from '@fermata/protocol';
import type { Image } from '../wasm/image.ts';
import { defaultCacheDir, loadImage } from '../wasm/image-store.ts';
import { type HostSize, hostSize } from './host-size.ts';
import { MachineHost } from './machine-host.ts';
import { workerPorts } from './worker-port.ts';

export interface ThreadHostOptions extends HostSize {
  /** Threads at most. Default: one per core. */
  threads?: number | undefined;
  /** Where unpacked images are kept. Default: see {@link defaultCacheDir}. */
  cacheDir?: string | undefined;
}

/** A host in this process. Nothing starts before the first machine is made. */
export function createThreadHost({ threads = availableParallelism(), cacheDir = defaultCacheDir(), ...size }: ThreadHostOptions = {}): Host {
  const images = new Map<ImageName, Promise<Image>>();
  const load = (name: ImageName) => {
    const loading = images.get(name) ?? loadImage(name, cacheDir);
    images.set(name, loading);
    loading.catch(() => images.delete(name));
    return loading;
  };
  return new MachineHost({ open: workerPorts(load), ...hostSize(threads, size) });
}
