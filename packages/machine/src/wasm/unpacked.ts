/**
 * Decompresses what may have been made to become huge: only what says how large it is, is not too large, and is as large as it
 * says. It takes that much memory once.
 */
import { zstdDecompressSync } from 'node:zlib';

const MAGIC = 0xfd2fb528;
const SINGLE_SEGMENT = 0x20;
/** zlib wants room for so many bytes at least. */
const LEAST_ROOM = 64;

/** Of one zstd frame. Throws where it is none, or does not keep to `most` bytes. */
export function unpacked(packed: Uint8Array, most: number): Uint8Array {
  const bytes = declaredBytes(packed);
  if (bytes === undefined) throw new Error('it does not say how large it is');
  if (bytes > most) throw new Error(`it unpacks to ${bytes} bytes, which is more than ${most}`);
  const whole = zstdDecompressSync(packed, { maxOutputLength: Math.max(1, bytes), chunkSize: Math.max(LEAST_ROOM, bytes + 1) });
  if (whole.length !== bytes) throw new Error(`it unpacks to ${whole.length} bytes, and not to ${bytes} as it says`);
  return whole;
}

/** What the head of a zstd frame says (RFC 8878, 3.1.1.1); undefined where it says nothing, or is none. */
function declaredBytes(packed: Uint8Array): number | undefined {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  if (packed.length < 5 || view.getUint32(0, true) !== MAGIC) return undefined;
  const descriptor = view.getUint8(4);
  const isSingle = (descriptor & SINGLE_SEGMENT) !== 0;
  const at = 5 + (isSingle ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] as number);
  const size = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] as number;
  if (size === 0 || packed.length < at + size) return undefined;
  if (size === 1) return view.getUint8(at);
  if (size === 2) return view.getUint16(at, true) + 256;
  return size === 4 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true));
}
