/** Writing and reading bytes: all comes back in order, and a cut or lying input ends in an error, never beyond its end. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteReader, ByteWriter, Truncated } from '../src/wasm/bytes.ts';

const item = fc.oneof(
  fc.record({ kind: fc.constant('byte' as const), value: fc.nat(0xff) }),
  fc.record({ kind: fc.constant('u16' as const), value: fc.nat(0xffff) }),
  fc.record({ kind: fc.constant('u32' as const), value: fc.integer({ min: 0, max: 0xffff_ffff }) }),
  fc.record({ kind: fc.constant('double' as const), value: fc.double() }),
  fc.record({ kind: fc.constant('varint' as const), value: fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 2 ** 49 - 1 })) }),
  fc.record({ kind: fc.constant('block' as const), value: fc.uint8Array({ maxLength: 300 }) }),
);
type Item = typeof item extends fc.Arbitrary<infer T> ? T : never;

function written(items: readonly Item[]): Uint8Array {
  const writer = new ByteWriter(1);
  for (const { kind, value } of items) (writer[kind] as (value: unknown) => void).call(writer, value);
  return writer.finish();
}

test('what was written is read back, whatever the order of its parts', () => {
  fc.assert(
    fc.property(fc.array(item), (items) => {
      const reader = new ByteReader(written(items));
      for (const { kind, value } of items) expect(reader[kind]()).toEqual(value);
      expect(reader.remaining).toBe(0);
    }),
  );
});

test('bytes that are cut at any place end in Truncated, and nothing beyond them is seen', () => {
  fc.assert(
    fc.property(fc.array(item, { minLength: 1, maxLength: 5 }), fc.nat(), (items, at) => {
      const bytes = written(items);
      const reader = new ByteReader(bytes.subarray(0, at % bytes.length));
      expect(() => {
        for (const { kind } of items) reader[kind]();
      }).toThrow(Truncated);
    }),
  );
});

describe('a reader', () => {
  test('over a part of a buffer sees that part only', () => {
    const reader = new ByteReader(Buffer.from([9, 1, 2, 9]).subarray(1, 3));
    expect(reader.u16()).toBe(0x0201);
    expect(() => reader.byte()).toThrow(Truncated);
  });

  test('does not move when a read fails', () => {
    const reader = new ByteReader(new Uint8Array([1, 2]));
    expect(() => reader.u32()).toThrow(Truncated);
    expect(reader.position).toBe(0);
    expect(reader.u16()).toBe(0x0201);
  });

  test('refuses a varint without an end and a count that its bytes cannot hold', () => {
    expect(() => new ByteReader(new Uint8Array(20).fill(0x80)).varint()).toThrow(Truncated);
    expect(() => new ByteReader(written([{ kind: 'varint', value: 2 ** 49 - 1 }])).count()).toThrow(Truncated);
    expect(() => new ByteReader(written([{ kind: 'varint', value: 2 ** 49 - 1 }])).block()).toThrow(Truncated);
  });

  test('gives parts that are copied by slice, also when it reads from a Buffer', () => {
    const buffer = Buffer.from([1, 7]);
    const copy = new ByteReader(buffer).block().slice();
    buffer.fill(0);
    expect(copy).toEqual(new Uint8Array([7]));
  });
});
