/** The limit of output: what fits passes whole and with its offset, and no character is cut. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputMeter } from '../src/wasm/output-meter.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);

test('output up to the limit passes whole, with the offset of every chunk', () => {
  const meter = new OutputMeter(6);
  expect(meter.take('stdout', utf8('abc'))).toEqual({ chunk: { stream: 'stdout', offset: 0, bytes: new Uint8Array([97, 98, 99]) }, full: false });
  expect(meter.take('stderr', utf8('def'))).toMatchObject({ chunk: { stream: 'stderr', offset: 3 }, full: false });
  expect(meter.take('stdout', utf8('g'))).toMatchObject({ chunk: { offset: 6, bytes: new Uint8Array() }, full: true });
  expect(meter.bytes).toBe(6);
});

test('what passes of a text is the longest beginning that fits and cuts no character', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 30 }).filter((text) => text.isWellFormed()),
      fc.nat(100),
      (text, limit) => {
        const { chunk, full } = new OutputMeter(limit).take('stdout', utf8(text));
        let fits = '';
        for (const character of text) {
          if (Buffer.byteLength(fits + character) > limit) break;
          fits += character;
        }
        expect(Buffer.from(chunk.bytes).toString()).toBe(fits);
        expect(full).toBe(fits !== text);
      },
    ),
  );
});

test('a chunk is a copy, as the memory it came from goes on changing', () => {
  const memory = new Uint8Array([1, 2]);
  const { chunk } = new OutputMeter(10).take('stdout', memory);
  memory.fill(9);
  expect(chunk.bytes).toEqual(new Uint8Array([1, 2]));
});

test('notes take of the same room, and move no offset', () => {
  const meter = new OutputMeter(10);
  expect(meter.note(4)).toBe(false);
  expect(meter.take('stdout', utf8('abcdef'))).toMatchObject({ chunk: { offset: 0 }, full: false });
  expect(meter.note(0)).toBe(false);
  expect(meter.note(1)).toBe(true);
  expect([meter.bytes, meter.noteBytes]).toEqual([6, 5]);
  expect(new OutputMeter(10, 6, 3).take('stdout', utf8('xyz'))).toMatchObject({ chunk: { offset: 6, bytes: utf8('x') }, full: true });
});

test('a meter goes on from a saved count', () => {
  expect(new OutputMeter(10, 8).take('stdout', utf8('xyz'))).toMatchObject({ chunk: { offset: 8, bytes: utf8('xy') }, full: true });
});
