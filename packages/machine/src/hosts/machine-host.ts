/**
 * A host: machines on Workers of this process or of child processes, which differ in nothing but the way to the Worker.
 *
 * Workers start as they are needed. An idle host does not keep the process alive.
 */
import {
  DEFAULT_LIMITS,
  FermataError,
  type Host,
  type HostedMachine,
  type HostUsage,
  type ImageName,
  type LimitsInput,
  type MachineOptions,
  type OpenOptions,
  type Restored,
} from '@fermata/protocol';
import { limitsSchema } from '@fermata/protocol/schemas';
import { imageDigestOf } from '../wasm/container.ts';
import { imageDigest } from '../wasm/image.ts';
import type { ImageManifest } from '../wasm/image-manifest.ts';
import { IMAGE_NAMES, readManifest } from '../wasm/image-store.ts';
import { LastingMachine, type Origin } from './lasting-machine.ts';
import { rehearse } from './rehearsal.ts';
import type { RemoteThread } from './remote-thread.ts';
import { type Seat, Seats, type SeatsOptions } from './seats.ts';

const NO_TENANT = '';
/** How long a machine may do nothing while others wait for a place: longer than a quick tool call takes. */
const HURRIED_MS = 30;

export interface MachineHostOptions extends SeatsOptions {
  /** A machine that does nothing for so long is taken off its thread. */
  hibernateMs: number;
}

export class MachineHost implements Host {
  readonly #seats: Seats;
  readonly #hibernateMs: number;
  readonly #manifests = new Map<ImageName, Promise<ImageManifest>>();
  readonly #machines = new Set<LastingMachine>();

  constructor({ hibernateMs, ...seats }: MachineHostOptions) {
    this.#hibernateMs = hibernateMs;
    this.#seats = new Seats(seats, () => {
      for (const machine of this.#machines) machine.rest();
    });
  }

  get usage(): HostUsage {
    return { threads: this.#seats.threads, residentMachines: this.#seats.machines, machines: this.#machines.size };
  }

  async prepare(image: ImageName): Promise<void> {
    await this.#seats.fill(NO_TENANT, (thread) => prepareThread(thread, image, this.#manifest(image)));
  }

  async create(image: ImageName, limits: LimitsInput, options: MachineOptions = {}): Promise<HostedMachine> {
    const parsed = limitsSchema.parse(limits);
    const origin = this.#origin(image, parsed.maxMemoryBytes, (seat) => seat.thread.create(image, parsed), options);
    return this.#kept(await LastingMachine.create(origin, (gone) => this.#machines.delete(gone)));
  }

  async restore(snapshot: Uint8Array, open: OpenOptions, options: MachineOptions = {}): Promise<{ machine: HostedMachine; restored: Restored }> {
    const image = await this.#imageOf(imageDigestOf(snapshot));
    const notAgain = () => Promise.reject(new FermataError('internal', 'a machine of a snapshot is never made anew'));
    // Its limits are inside; until they are known it counts as one with the default limits.
    const origin = this.#origin(image, DEFAULT_LIMITS.maxMemoryBytes, notAgain, options);
    const { machine, restored } = await LastingMachine.restore(origin, snapshot, open, (gone) => this.#machines.delete(gone));
    return { machine: this.#kept(machine), restored };
  }

  async close(): Promise<void> {
    for (const machine of this.#machines) machine.dispose();
    await this.#seats.close();
  }

  #kept(machine: LastingMachine): LastingMachine {
    this.#machines.add(machine);
    return machine;
  }

  #origin(image: ImageName, bytes: number, create: (seat: Seat) => Promise<HostedMachine>, { tenant = NO_TENANT, onQueued }: MachineOptions): Origin {
    return {
      create,
      idleMs: () => (this.#seats.pressed ? Math.min(HURRIED_MS, this.#hibernateMs) : this.#hibernateMs),
      seat: () => this.#seats.take({ tenant, bytes, onQueued }),
      restore: (seat, snapshot, open) => seat.thread.restore(image, snapshot, open),
    };
  }

  /** Read once: what lies on disk may be replaced by a newer version while this process runs. */
  #manifest(name: ImageName): Promise<ImageManifest> {
    const manifest = this.#manifests.get(name) ?? readManifest(name);
    this.#manifests.set(name, manifest);
    return manifest;
  }

  async #imageOf(digest: Uint8Array): Promise<ImageName> {
    for (const name of IMAGE_NAMES) if (Buffer.from(imageDigest(await this.#manifest(name))).equals(digest)) return name;
    throw new FermataError('environment_mismatch', 'the snapshot was made with an image that this version does not have', {
      hint: 'Use the version of Fermata that made it; `fermata image list` shows the images of this one.',
    });
  }
}

async function prepareThread(thread: RemoteThread, image: ImageName, reading: Promise<ImageManifest>): Promise<void> {
  const [language] = (await reading).languages;
  if (language) {
    const restore = async (snapshot: Uint8Array) => (await thread.restore(image, snapshot, { trust: true })).machine;
    await rehearse(language, () => thread.create(image, {}), restore);
  }
  await thread.prepare(image);
}
