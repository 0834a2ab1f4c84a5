/** The outside of a snapshot: whatever is done to the bytes, the answer is the body or a named error, nothing else. */
import { randomBytes } from 'node:crypto';
import { FermataError, type OpenOptions } from '@fermata/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { closeContainer, imageDigestOf, openContainer, pack, unpack } from '../src/wasm/container.ts';

const digest = randomBytes(32);
const key = { id: 'key-1', key: randomBytes(32) };
const body = Buffer.from('a body that compresses, compresses, compresses');
const sealed = closeContainer(pack(body), digest, { key, boundTo: 'tenant/task/1' });
const unsealed = closeContainer(pack(body), digest);
const kinds: [string, Uint8Array, OpenOptions][] = [
  ['sealed', sealed, { keys: [key], boundTo: 'tenant/task/1' }],
  ['unsealed', unsealed, { trust: true }],
];

/** The code of the error that opening throws; fails on another error and on success. */
function refusal(bytes: Uint8Array, options: OpenOptions, image: Uint8Array = digest): string {
  try {
    unpack(openContainer(bytes, image, options));
  } catch (error) {
    if (error instanceof FermataError) return error.code;
    throw error;
  }
  return 'opened';
}
const refused = expect.stringMatching(/^(checkpoint_invalid|environment_mismatch)$/);

describe.each(kinds)('a %s snapshot', (_kind, whole, options) => {
  test('opens to the body that was put in', () => {
    expect(Buffer.from(unpack(openContainer(whole, digest, options)))).toEqual(body);
    expect(Buffer.from(imageDigestOf(whole))).toEqual(digest);
  });

  test('is refused after any change of any one bit, also by who trusts it', () => {
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const changed = whole.slice();
      changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
      expect(refusal(changed, { ...options, trust: true }), `bit ${bit}`).toEqual(refused);
    }
  });

  test('is refused when cut at any length, and when anything follows it', () => {
    for (let length = 0; length < whole.length; length++) expect(refusal(whole.subarray(0, length), options), `length ${length}`).toBe('checkpoint_invalid');
    expect(refusal(Buffer.concat([whole, Buffer.of(0)]), options)).toBe('checkpoint_invalid');
  });

  test('is refused by another image', () => {
    expect(refusal(whole, options, randomBytes(32))).toBe('environment_mismatch');
  });

  test('opens where its bytes lie in a larger buffer', () => {
    const buffer = Buffer.concat([randomBytes(3), whole, randomBytes(5)]);
    expect(Buffer.from(unpack(openContainer(buffer.subarray(3, 3 + whole.length), digest, options)))).toEqual(body);
  });
});

describe('a sealed snapshot', () => {
  test.each<[string, OpenOptions]>([
    ['without a key', { boundTo: 'tenant/task/1', trust: true }],
    ['with a key of another name', { keys: [{ ...key, id: 'key-2' }], boundTo: 'tenant/task/1' }],
    ['with another key of the same name', { keys: [{ id: key.id, key: randomBytes(32) }], boundTo: 'tenant/task/1' }],
    ['bound to another place', { keys: [key], boundTo: 'tenant/task/2' }],
    ['bound to no place', { keys: [key] }],
  ])('does not open %s', (_what, options) => {
    expect(refusal(sealed, options)).toBe('checkpoint_invalid');
  });

  test('opens with an old key among others', () => {
    expect(Buffer.from(unpack(openContainer(sealed, digest, { keys: [{ id: 'new', key: randomBytes(32) }, key], boundTo: 'tenant/task/1' })))).toEqual(body);
  });

  test('never has the same bytes twice and never shows its body', () => {
    const again = closeContainer(pack(body), digest, { key, boundTo: 'tenant/task/1' });
    expect(Buffer.from(again).equals(sealed)).toBe(false);
    expect(Buffer.from(sealed).includes('compresses')).toBe(false);
  });
});

test('an unsealed snapshot is refused without trust, even when keys are given', () => {
  expect(refusal(unsealed, {})).toBe('checkpoint_invalid');
  expect(refusal(unsealed, { keys: [key] })).toBe('checkpoint_invalid');
});

test('any bytes whatever are refused by name, also behind an honest header', () => {
  const header = Buffer.from(unsealed.subarray(0, 44));
  const bytes = fc.uint8Array({ maxLength: 200 });
  fc.assert(
    fc.property(
      fc.oneof(
        bytes,
        bytes.map((rest) => Buffer.concat([header, rest])),
      ),
      (hostile) => {
        expect(refusal(hostile, { trust: true, keys: [key] })).toEqual(refused);
      },
    ),
  );
});
