/** Makes the checkpoints of one machine: full ones, and increments on the last full one that it made or came from. */
import type { Checkpoint, SealOptions } from '@fermata/protocol';
import { type Content, closeContainer, pack } from './container.ts';
import { Ground } from './ground.ts';
import type { Image } from './image.ts';

export interface CheckpointMakerOptions {
  image: Image;
  /** Of the machine's memory, now. */
  memoryBytes: () => number;
  /** What a container holds of the machine, its memory as the difference from `base`. */
  body: (base: Uint8Array) => Uint8Array;
}

export class CheckpointMaker {
  readonly #options: CheckpointMakerOptions;
  #ground: Ground | undefined;

  constructor(options: CheckpointMakerOptions) {
    this.#options = options;
  }

  /** The machine has been restored from this: on its ground, or as what may be one itself. */
  cameFrom(content: Content, ground: Ground | undefined): void {
    this.#ground = ground ?? Ground.of(content);
  }

  /** An increment, if `ground` names the content of the ground, and it pays. */
  take(seal: SealOptions | undefined, ground: string | null): Checkpoint {
    const { image, body } = this.#options;
    const increment = this.#ground && this.#ground.name === ground ? this.#incrementOn(this.#ground) : undefined;
    if (increment) return { data: closeContainer(increment, image.digest, seal), increment: true, content: null };
    const content = pack(body(image.base));
    this.#ground = Ground.of(content);
    return { data: closeContainer(content, image.digest, seal), increment: false, content: this.#ground?.name ?? null };
  }

  #incrementOn(ground: Ground): Content | undefined {
    const { image, memoryBytes, body } = this.#options;
    const memory = new Uint8Array(memoryBytes());
    memory.set(image.base);
    const most = ground.applyTo(memory);
    const difference = body(memory);
    if (difference.length > most) return undefined;
    const content = pack(difference, ground.digest);
    return ground.pays(content) ? content : undefined;
  }
}
