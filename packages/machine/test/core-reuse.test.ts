/** What a machine leaves behind: an instance that another one can have, with nothing of it inside. */
import type { Language } from '@fermata/protocol';
import { describe, expect, test } from 'vitest';
import { loadImage } from '../src/wasm/image-store.ts';
import { Machine } from '../src/wasm/machine.ts';

const SECRET = 'swordfish-0451';
const programs: [Language, string][] = [
  ['python', `import os\nsecret = '${SECRET}'\nopen('/work/a', 'w').write(secret)\nkept = [secret + str(i) for i in range(500)]\nprint(os.urandom(4), tools.x(a=secret))`],
  ['javascript', `globalThis.kept = Array.from({ length: 500 }, (_, i) => '${SECRET}' + i); console.log(Math.random(), await tools.x({ a: kept[3] }))`],
];

describe.each(programs)('a %s machine on a used instance', async (language, code) => {
  const image = await loadImage(language === 'python' ? 'cpython' : 'quickjs');
  const program = { language, code, tools: [{ name: 'x', parameters: null }] };
  const start = { kind: 'start', program, seed: new Uint8Array(32).fill(5), nowMs: 1e12 } as const;
  const waiting = (machine: Machine) => {
    expect(machine.advance(start, 1e8).kind).toBe('calls');
    return machine;
  };

  test('holds nothing of the one before, and goes the same way as on a new one', () => {
    const used = waiting(Machine.fresh(image)).retire();
    if (!used) throw new Error('the instance cannot be used again');
    expect(Buffer.from(used.memory).includes(SECRET)).toBe(true);
    const again = Machine.fresh(image, {}, used);
    expect(Buffer.from(used.memory).includes(SECRET)).toBe(false);
    expect(again.hash()).toBe(Machine.fresh(image).hash());
    expect(waiting(again).hash()).toBe(waiting(Machine.fresh(image)).hash());
  });

  test('can be what a snapshot is restored onto', () => {
    const whole = waiting(Machine.fresh(image));
    const used = waiting(Machine.fresh(image)).retire();
    const moved = Machine.restore(image, whole.snapshot(), { trust: true }, () => Machine.fresh(image, {}, used));
    expect(moved.hash()).toBe(whole.hash());
    const answer = { kind: 'answer', callId: 1, result: { ok: 1 }, nowMs: 1e12 } as const;
    expect(moved.advance(answer, 1e8)).toEqual(whole.advance(answer, 1e8));
    expect(moved.hash()).toBe(whole.hash());
  });

  test('is not made of one that has grown, or was broken off, or of a machine that started', () => {
    const bytes = language === 'python' ? 'x = bytearray(50_000_000)' : 'const x = new Uint8Array(50_000_000)';
    const grown = Machine.fresh(image);
    expect(grown.advance({ ...start, program: { ...program, code: bytes } }, 1e8).kind).toBe('done');
    expect(grown.retire()).toBeUndefined();
    const limited = Machine.fresh(image, { maxToolCalls: 0 });
    expect(limited.advance(start, 1e8).kind).toBe('limit');
    expect(limited.retire()).toBeUndefined();
    const started = waiting(Machine.fresh(image));
    expect(() => Machine.restore(image, started.snapshot(), { trust: true }, () => started)).toThrow(expect.objectContaining({ code: 'invalid_state' }));
  });

  test('leaves the old machine without a hand on it', () => {
    const old = waiting(Machine.fresh(image));
    old.retire();
    expect(() => old.snapshot()).toThrow(expect.objectContaining({ code: 'invalid_state' }));
    expect(() => old.advance({ kind: 'answer', callId: 1, result: { ok: 1 }, nowMs: 1 }, 1)).toThrow(expect.objectContaining({ code: 'invalid_state' }));
  });
});
