/** What is unpacked says how large it becomes, and keeps to that. */
import { zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unpacked } from '../src/wasm/unpacked.ts';

test.each([0, 1, 63, 64, 255, 256, 300, 65_535, 65_791, 65_792, 1 << 20, 5_000_000])('%i bytes come back as they were', (length) => {
  const bytes = Buffer.alloc(length, 'some text');
  expect(Buffer.compare(unpacked(zstdCompressSync(bytes), length), bytes)).toBe(0);
  if (length > 0) expect(() => unpacked(zstdCompressSync(bytes), length - 1)).toThrow(`more than ${length - 1}`);
});

test('what lies about its size, or says none, is refused', () => {
  const packed = zstdCompressSync(Buffer.alloc(1 << 20));
  const lies = Buffer.from(packed);
  lies.writeUInt32LE(1000, 5);
  expect(() => unpacked(lies, 1 << 20)).toThrow();
  lies.writeUInt32LE(1 << 21, 5);
  expect(() => unpacked(lies, 1 << 22)).toThrow();
  const silent = Buffer.concat([packed.subarray(0, 4), Buffer.from([0, 0x58]), packed.subarray(9)]);
  expect(() => unpacked(silent, 1 << 20)).toThrow('does not say how large');
  expect(() => unpacked(Buffer.from('no zstd at all'), 100)).toThrow();
});

test('any bytes end in an error or in no more than the bound', () => {
  const head = zstdCompressSync(Buffer.from('some text, some text, some text'));
  fc.assert(
    fc.property(fc.nat(head.length - 1), fc.uint8Array({ maxLength: 30 }), (keep, rest) => {
      try {
        expect(unpacked(Buffer.concat([head.subarray(0, keep), rest]), 1000).length).toBeLessThanOrEqual(1000);
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    }),
  );
});
