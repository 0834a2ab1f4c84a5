/** Strings as bytes: every string comes back as it was, lone surrogates too, and any bytes decode. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeString, encodeString } from '../src/wasm/wtf8.ts';

/** Any sequence of UTF-16 units, surrogates on purpose. */
const units = fc.array(fc.oneof(fc.nat(0xffff), fc.integer({ min: 0xd800, max: 0xdfff }), fc.constantFrom(0xfeff, 0xfffd, 0))).map((codes) => String.fromCharCode(...codes));

test('a well-formed string has the bytes that Buffer gives it', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
      (text) => {
        expect(Buffer.from(encodeString(text)).equals(Buffer.from(text))).toBe(true);
      },
    ),
  );
});

test('every string comes back as it was, lone surrogates and byte order marks included', () => {
  fc.assert(
    fc.property(units, (text) => {
      expect(decodeString(encodeString(text))).toBe(text);
    }),
    { numRuns: 2000 },
  );
});

test('a lone surrogate stands as the three bytes of its own code', () => {
  expect([...encodeString('\ud800')]).toEqual([0xed, 0xa0, 0x80]);
  expect([...encodeString('a\udfffb')]).toEqual([0x61, 0xed, 0xbf, 0xbf, 0x62]);
  expect([...encodeString('\udc00\ud800')]).toEqual([0xed, 0xb0, 0x80, 0xed, 0xa0, 0x80]);
});

test('any bytes decode: like Buffer does where they hold no surrogate, and never by an error', () => {
  const bytes = fc.uint8Array({ maxLength: 60 });
  fc.assert(
    fc.property(
      fc.oneof(
        bytes,
        fc.array(fc.constantFrom(0xed, 0xa0, 0xb0, 0x80, 0xf0, 0x9f, 0x41)).map((list) => new Uint8Array(list)),
      ),
      (raw) => {
        const text = decodeString(raw);
        const holdsSurrogate = /\xed[\xa0-\xbf][\x80-\xbf]/.test(Buffer.from(raw).toString('latin1'));
        if (!holdsSurrogate) expect(text).toBe(new TextDecoder('utf-8', { ignoreBOM: true }).decode(raw));
      },
    ),
    { numRuns: 2000 },
  );
});
