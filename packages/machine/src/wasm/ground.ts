/**
 * The ground of increments: the content of a full snapshot, kept compressed by the machine that it was made of or that came
 * from it. An increment holds the machine's state, and its memory as the difference from the ground's.
 */
import { FermataError, type OpenOptions } from '@fermata/protocol';
import { type Content, digestOf, openContainer, unpack } from './container.ts';
import { readBody } from './snapshot-body.ts';

/** Below this a full snapshot costs no more than an increment. */
const LEAST_BYTES = 64 * 1024;
/** What a machine may hold besides itself; a larger snapshot is nobody's ground. */
const MOST_BYTES = 32 * 1024 * 1024;
/** An increment of more than this share of its ground is not worth having to keep both. */
const MOST_SHARE = 0.5;

export class Ground {
  readonly #content: Content;
  #digest: Uint8Array | undefined;

  private constructor(content: Content) {
    this.#content = content;
  }

  /** Undefined where increments do not pay. */
  static of(content: Content): Ground | undefined {
    const { length } = content.packed;
    return content.ground === null && length >= LEAST_BYTES && length <= MOST_BYTES ? new Ground(content) : undefined;
  }

  /** The one with this digest, from its container; throws `checkpoint_invalid`. */
  static open(digest: Uint8Array, imageDigest: Uint8Array, { ground, ...options }: OpenOptions): Ground {
    if (!ground) throw new FermataError('checkpoint_invalid', 'the snapshot is an increment, and the one that it was made on is not at hand');
    const content = openContainer(ground.data, imageDigest, { ...options, boundTo: ground.boundTo ?? '' });
    if (content.ground || !Buffer.from(digestOf(content)).equals(digest)) {
      throw new FermataError('checkpoint_invalid', 'the snapshot is an increment on another one than what was given with it');
    }
    return new Ground(content);
  }

  get digest(): Uint8Array {
    this.#digest ??= digestOf(this.#content);
    return this.#digest;
  }
  get name(): string {
    return Buffer.from(this.digest).toString('hex');
  }

  /** Makes of a memory that holds the base the ground's. Tells how large the body of an increment may be that is worth it. */
  applyTo(memory: Uint8Array): number {
    const body = unpack(this.#content);
    readBody(body).applyTo(memory);
    return MOST_SHARE * body.length;
  }

  /** Whether an increment with this content is worth it. */
  pays({ packed }: Content): boolean {
    return packed.length <= MOST_SHARE * this.#content.packed.length;
  }
}
