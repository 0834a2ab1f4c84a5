/** Increments: what differs from a full snapshot before them, and with it the whole machine again. */
import { randomBytes } from 'node:crypto';
import { FermataError, type OpenOptions } from '@fermata/protocol';
import { describe, expect, test } from 'vitest';
import { loadImage } from '../src/wasm/image-store.ts';
import { Machine } from '../src/wasm/machine.ts';
import { runJavaScript } from './run-javascript.ts';
import { runPython } from './run-python.ts';

const key = { id: 'one', key: randomBytes(32) };
const PROGRAMS = {
  python: {
    run: runPython,
    image: await loadImage('cpython'),
    // Grows, changes here and there, gives memory back, writes files, and at the end has changed everything.
    code: `
rows = [{"id": i, "name": str(i)} for i in range(20_000)]
for round in range(4):
    for row in rows[round * 500:(round + 1) * 500]: row["name"] = "changed"
    open("/work/log", "a").write("round %d\\n" % round)
    tools.ask(n=round)
del rows[10_000:]
tools.ask(n=4)
rows = [str(n) * 3 for n in range(60_000)]
tools.ask(n=5)
[len(rows), rows[-1], open("/work/log").read()]`,
    result: [60_000, '59999'.repeat(3), 'round 0\nround 1\nround 2\nround 3\n'],
  },
  javascript: {
    run: runJavaScript,
    image: await loadImage('quickjs'),
    code: `
let rows = Array.from({ length: 20_000 }, (_, id) => ({ id, name: String(id) }));
for (let round = 0; round < 4; round++) {
  for (const row of rows.slice(round * 500, (round + 1) * 500)) row.name = 'changed';
  await tools.ask({ n: round });
}
rows.length = 10_000;
await tools.ask({ n: 4 });
rows = Array.from({ length: 60_000 }, (_, n) => String(n).repeat(3));
await tools.ask({ n: 5 });
return [rows.length, rows.at(-1)];`,
    result: [60_000, '59999'.repeat(3)],
  },
};

/** A store of checkpoints as an engine keeps it: the last full one, and what each is bound to. */
class Kept {
  readonly sizes: { bytes: number; increment: boolean }[] = [];
  #ground: { data: Uint8Array; boundTo: string; content: string | null } | undefined;
  last: { data: Uint8Array; open: OpenOptions } | undefined;

  take(machine: Machine): void {
    const boundTo = `checkpoint ${this.sizes.length}`;
    const { data, increment, content } = machine.checkpoint({ key, boundTo }, this.#ground?.content ?? null);
    this.sizes.push({ bytes: data.length, increment });
    if (!increment) this.#ground = { data, boundTo, content };
    this.last = { data, open: { keys: [key], boundTo, ...(increment && this.#ground ? { ground: this.#ground } : {}) } };
  }
}

describe.each(Object.entries(PROGRAMS))('%s', (_language, { run, image, code, result }) => {
  const tools = { ask: { parameters: ['n'], call: () => null } };
  const plain = run(code, { with: tools });

  test.each([
    ['at its calls', () => 1e9],
    ['at its calls and after every so much fuel', (step: number) => 100_000 + 37_001 * (step % 7)],
  ])('moved from checkpoint to checkpoint %s, a program is the same', (_when, fuel) => {
    const kept = new Kept();
    const moved = run(code, {
      with: tools,
      fuel,
      onStop: (machine) => {
        kept.take(machine);
        const { data, open } = kept.last as { data: Uint8Array; open: OpenOptions };
        const next = Machine.restore(image, data, open);
        expect(next.hash()).toBe(machine.hash());
        return next;
      },
    });
    expect(moved.outcome).toEqual({ kind: 'done', emitted: expect.anything(), value: result });
    expect([moved.stdout, moved.machine.fuel, moved.machine.hash()]).toEqual([plain.stdout, plain.machine.fuel, plain.machine.hash()]);
    expect(kept.sizes.some(({ increment }) => increment)).toBe(true);
  });

  test('an increment is small beside its ground, and where everything is new the checkpoint is full', () => {
    const kept = new Kept();
    run(code, {
      with: tools,
      onStop: (machine) => {
        kept.take(machine);
        return machine;
      },
    });
    const [first, ...rest] = kept.sizes;
    expect(first?.increment).toBe(false);
    for (const { increment, bytes } of rest.slice(0, 3)) {
      expect(increment).toBe(true);
      expect(bytes).toBeLessThan(0.1 * (first?.bytes ?? 0));
    }
    expect(rest.at(-1)?.increment).toBe(false);
  });
});

describe('an increment', () => {
  const { image, code } = PROGRAMS.javascript;
  /** A full checkpoint and an increment on it. */
  const pair = (program: string) => {
    const one = new Kept();
    let asked = 0;
    runJavaScript(program, {
      with: { ask: { call: () => null } },
      onStop: (machine) => {
        if (asked++ < 2) one.take(machine);
        return machine;
      },
    });
    const { data, open } = one.last as { data: Uint8Array; open: OpenOptions };
    return { data, open, ground: open.ground as NonNullable<OpenOptions['ground']> };
  };
  const [mine, other] = [pair(code), pair(code.replace('20_000', '20_001'))];
  const refusal = (data: Uint8Array, open: OpenOptions) => {
    try {
      Machine.restore(image, data, open);
    } catch (error) {
      if (error instanceof FermataError) return `${error.code}: ${error.message}`;
      throw error;
    }
    return 'restored';
  };

  test('is opened with its ground', () => {
    expect(refusal(mine.data, mine.open)).toBe('restored');
  });
  test.each<[string, OpenOptions['ground'], RegExp]>([
    ['no ground', undefined, /made on is not at hand/],
    ['the ground of another', other.ground, /^checkpoint_invalid/],
    ['itself as its ground', { data: mine.data, boundTo: mine.open.boundTo as string }, /on another one/],
    ['its ground, bound to something else', { ...mine.ground, boundTo: 'checkpoint 7' }, /seal does not hold/],
    ['a ground with a changed byte', { ...mine.ground, data: mine.ground.data.map((byte, i) => (i === 5000 ? byte ^ 1 : byte)) }, /seal does not hold/],
    ['a ground that is cut', { ...mine.ground, data: mine.ground.data.subarray(0, 3000) }, /^checkpoint_invalid/],
  ])('is refused with %s', (_what, ground, told) => {
    const { ground: _own, ...open } = mine.open;
    expect(refusal(mine.data, { ...open, ...(ground ? { ground } : {}) })).toMatch(told);
  });
  test('is refused when it says that it is none, or names another ground', () => {
    const FLAGS = 11;
    const full = mine.data.slice();
    full[FLAGS] = (full[FLAGS] as number) & ~2;
    expect(refusal(full, mine.open)).toMatch(/^checkpoint_invalid/);
    const renamed = mine.data.slice();
    renamed[60] = (renamed[60] as number) ^ 1;
    expect(refusal(renamed, mine.open)).toMatch(/^checkpoint_invalid/);
  });
  test('is not made on what the machine does not know', () => {
    const machine = Machine.restore(image, mine.data, mine.open);
    expect(machine.checkpoint({ key }, 'f'.repeat(64)).increment).toBe(false);
    expect(machine.checkpoint({ key }, null).increment).toBe(false);
  });
});
