/**
 * The outside of a snapshot: magic, format, image digest, then the compressed body, closed by a checksum or sealed.
 *
 *     "FERMSNAP"  u16 format  u8 codec  u8 flags  32 bytes image digest
 *     increment: 32 bytes digest of the content of its ground
 *     sealed:    block key id, 12 bytes nonce, ciphertext, 16 bytes tag       (AES-256-GCM; the header is authenticated too)
 *     unsealed:  body, 32 bytes SHA-256 of everything before
 *
 * The seal's associated data binds a snapshot to its place (tenant, task, checkpoint, journal position): bytes moved
 * elsewhere do not open. Whatever the bytes are, {@link openContainer} returns a body or throws a named error.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { constants, zstdCompressSync } from 'node:zlib';
import { FermataError, type OpenOptions, type SealOptions } from '@fermata/protocol';
import { ByteReader, ByteWriter, Truncated } from './bytes.ts';
import { unpacked } from './unpacked.ts';

export const SNAPSHOT_FORMAT = 1;
const MAGIC = Buffer.from('FERMSNAP');
const CODEC_XOR_WORDS_ZSTD = 2;
const FLAG_SEALED = 1;
const FLAG_INCREMENT = 2;
const DIGEST = 32;
const NONCE = 12;
const TAG = 16;
/** What a snapshot may unpack to. Making a larger one is refused, so that none is made in vain. */
const MAX_BODY = 1024 ** 3;

/** What a container holds, opened. */
export interface Content {
  /** Compressed, as it was in the container. */
  packed: Uint8Array;
  /** The digest of what an increment was made on. */
  ground: Uint8Array | null;
}

/** The content of a container for this body; throws `checkpoint_too_large`. */
export function pack(body: Uint8Array, ground: Uint8Array | null = null): Content {
  if (body.length > MAX_BODY) {
    throw new FermataError('checkpoint_too_large', `the machine has changed more than ${MAX_BODY} bytes of memory and files, which is more than a snapshot may hold`);
  }
  return { packed: zstdCompressSync(body, { params: { [constants.ZSTD_c_compressionLevel]: 3 } }), ground };
}

/** The body of a content; throws `checkpoint_invalid`. */
export function unpack({ packed }: Content): Uint8Array {
  try {
    return unpacked(packed, MAX_BODY);
  } catch (cause) {
    throw invalid(`its body cannot be unpacked: ${(cause as Error).message}`, cause);
  }
}

/** By which an increment names its ground. */
export function digestOf({ packed }: Content): Uint8Array {
  return createHash('sha256').update(packed).digest();
}

export function closeContainer({ packed, ground }: Content, imageDigest: Uint8Array, seal?: SealOptions): Uint8Array {
  const writer = new ByteWriter(packed.length + 256);
  writer.raw(MAGIC);
  writer.u16(SNAPSHOT_FORMAT);
  writer.byte(CODEC_XOR_WORDS_ZSTD);
  writer.byte((seal ? FLAG_SEALED : 0) | (ground ? FLAG_INCREMENT : 0));
  writer.raw(imageDigest);
  if (ground) writer.raw(ground);
  if (!seal) {
    writer.raw(packed);
    writer.raw(createHash('sha256').update(writer.finish()).digest());
    return writer.finish();
  }
  writer.block(Buffer.from(seal.key.id));
  const nonce = randomBytes(NONCE);
  writer.raw(nonce);
  const cipher = createCipheriv('aes-256-gcm', seal.key.key, nonce);
  cipher.setAAD(associatedData(writer.finish(), seal.boundTo));
  writer.raw(cipher.update(packed));
  cipher.final();
  writer.raw(cipher.getAuthTag());
  return writer.finish();
}

export function openContainer(bytes: Uint8Array, imageDigest: Uint8Array, options: OpenOptions): Content {
  try {
    return open(bytes, imageDigest, options);
  } catch (error) {
    if (error instanceof Truncated) throw invalid('it is cut short', error);
    throw error;
  }
}

/** The image digest that a snapshot names, for finding the image before it is opened. */
export function imageDigestOf(bytes: Uint8Array): Uint8Array {
  try {
    return header(new ByteReader(bytes)).digest;
  } catch (error) {
    if (error instanceof Truncated) throw invalid('it is cut short', error);
    throw error;
  }
}

function header(reader: ByteReader): { digest: Uint8Array; sealed: boolean; ground: Uint8Array | null } {
  if (!MAGIC.equals(reader.raw(MAGIC.length))) throw invalid('it does not begin like one');
  const format = reader.u16();
  if (format !== SNAPSHOT_FORMAT) {
    throw new FermataError('environment_mismatch', `the snapshot has format ${format}; this version reads format ${SNAPSHOT_FORMAT}`);
  }
  const codec = reader.byte();
  if (codec !== CODEC_XOR_WORDS_ZSTD) throw new FermataError('environment_mismatch', `the snapshot uses codec ${codec}, which this version does not know`);
  const flags = reader.byte();
  if (flags > (FLAG_SEALED | FLAG_INCREMENT)) throw invalid('its flags are unknown');
  return { digest: reader.raw(DIGEST), sealed: (flags & FLAG_SEALED) !== 0, ground: (flags & FLAG_INCREMENT) === 0 ? null : reader.raw(DIGEST) };
}

function open(bytes: Uint8Array, imageDigest: Uint8Array, options: OpenOptions): Content {
  const reader = new ByteReader(bytes);
  const { digest, sealed, ground } = header(reader);
  if (!Buffer.from(digest).equals(imageDigest)) {
    throw new FermataError('environment_mismatch', 'the snapshot was made with another image than this one', {
      hint: 'Use the version of Fermata that made it; snapshots are bound to the exact image.',
    });
  }
  return { packed: sealed ? unseal(reader, bytes, options) : check(reader, bytes, options), ground };
}

function check(reader: ByteReader, bytes: Uint8Array, options: OpenOptions): Uint8Array {
  if (reader.remaining < DIGEST) throw invalid('it is cut short');
  const end = bytes.length - DIGEST;
  if (!createHash('sha256').update(bytes.subarray(0, end)).digest().equals(bytes.subarray(end))) throw invalid('its checksum does not match');
  if (!options.trust) {
    throw new FermataError('checkpoint_invalid', 'the snapshot is not sealed', {
      hint: 'Its calls and answers would be believed. If it is your own, say so: --trust, or trust: true.',
    });
  }
  return reader.raw(end - reader.position);
}

function unseal(reader: ByteReader, bytes: Uint8Array, options: OpenOptions): Uint8Array {
  const id = Buffer.from(reader.block()).toString('utf8');
  const nonce = reader.raw(NONCE);
  const authenticated = bytes.subarray(0, reader.position);
  if (reader.remaining < TAG) throw invalid('it is cut short');
  const key = options.keys?.find((candidate) => candidate.id === id);
  if (!key) {
    throw new FermataError('checkpoint_invalid', `the snapshot is sealed with key ${JSON.stringify(id.slice(0, 40))}, which is not at hand`, {
      hint: 'Give the key of the place where it was made.',
    });
  }
  const decipher = createDecipheriv('aes-256-gcm', key.key, nonce);
  decipher.setAAD(associatedData(authenticated, options.boundTo));
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG));
  const packed = decipher.update(reader.raw(reader.remaining - TAG));
  try {
    decipher.final();
  } catch (cause) {
    throw invalid('its seal does not hold: it was changed, or belongs elsewhere', cause);
  }
  return packed;
}

function associatedData(headerBytes: Uint8Array, boundTo = ''): Buffer {
  return Buffer.concat([headerBytes, Buffer.from(boundTo)]);
}

function invalid(why: string, cause?: unknown): FermataError {
  return new FermataError('checkpoint_invalid', `not a usable snapshot: ${why}`, { cause });
}
