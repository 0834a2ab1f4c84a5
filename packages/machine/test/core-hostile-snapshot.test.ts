/**
 * A snapshot whose outside is in order and whose inside is not: the host refuses it, or the machine does something else,
 * fails or is lost. The host itself goes on, and gives honest machines the same result as before.
 */
import { FermataError, type Host, type Restored } from '@fermata/protocol';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createThreadHost } from '../src/hosts/thread-host.ts';
import { ByteReader, ByteWriter } from '../src/wasm/bytes.ts';
import { closeContainer, openContainer, pack, unpack } from '../src/wasm/container.ts';
import { loadImage } from '../src/wasm/image-store.ts';
import { Machine } from '../src/wasm/machine.ts';
import { readPages, writePages } from '../src/wasm/pages.ts';

const programs = {
  cpython: { language: 'python', code: "f = open('/work/a', 'w')\nf.write('x')\nx = tools.f(a=[1, {'k': 'v'}])\nf.close()\n[x, open('/work/a').read()]" },
  quickjs: { language: 'javascript', code: "const x = await tools.f({ a: [1, { k: 'v' }] });\nreturn [x, 'x'];" },
} as const;
const seed = new Uint8Array(32);
const nowMs = 1_700_000_000_000;
const budget = { wallMs: 1000, cpuMs: 1000 };

let host: Host;
beforeAll(() => {
  host = createThreadHost({ threads: 1 });
});
afterAll(() => host.close());

async function stoppedAtCall(name: keyof typeof programs): Promise<Uint8Array> {
  const machine = await host.create(name, {});
  const program = { ...programs[name], tools: [{ name: 'f', parameters: ['a'] }] };
  const outcome = await machine.advance({ kind: 'start', program, seed, nowMs }, { wallMs: 60_000, cpuMs: 60_000 }, () => {});
  expect(outcome.kind).toBe('calls');
  const snapshot = await machine.snapshot();
  machine.dispose();
  return snapshot;
}
async function goOn(snapshot: Uint8Array): Promise<unknown> {
  const { machine, restored } = await host.restore(snapshot, { trust: true });
  try {
    return await machine.advance(nextInput(restored), budget, () => {});
  } finally {
    machine.dispose();
  }
}
function nextInput({ waits, pending }: Restored) {
  if (waits.for === 'go') return { kind: 'go' } as const;
  return { kind: 'answer', callId: pending[0]?.id ?? 1, result: { ok: 5 }, nowMs } as const;
}

describe.each(Object.keys(programs) as (keyof typeof programs)[])('a %s snapshot with a changed inside', (name) => {
  test('never breaks the host', async () => {
    const { digest } = await loadImage(name);
    const honest = await stoppedAtCall(name);
    const body = unpack(openContainer(honest, digest, { trust: true }));
    const inState = fc.nat(1500);
    const anywhere = fc.nat(body.length - 1);
    const changes = fc.array(fc.tuple(fc.oneof(inState, anywhere), fc.nat(255)), { minLength: 1, maxLength: 300, size: 'max' });
    const cut = fc.nat(body.length).map((length): [number, number][] => [[length, -1]]);
    await fc.assert(
      fc.asyncProperty(fc.oneof({ weight: 9, arbitrary: changes }, { weight: 1, arbitrary: cut }), async (edits) => {
        let changed = new Uint8Array(body);
        for (const [at, byte] of edits) {
          if (byte < 0) changed = changed.slice(0, at);
          else changed[at] = byte;
        }
        try {
          await goOn(closeContainer(pack(changed), digest));
        } catch (error) {
          expect(error).toBeInstanceOf(FermataError);
        }
      }),
      { numRuns: 150, endOnFailure: true },
    );
    expect(await goOn(honest)).toMatchObject({ kind: 'done', value: [5, 'x'] });
  });
});

describe('files given to a program', () => {
  const start = (path: string, size: number) => ({
    kind: 'start' as const,
    program: { ...programs.cpython, files: [{ path, data: new Uint8Array(size) }] },
    seed,
    nowMs,
  });
  test.each([
    ['outside of the writable folders are refused', '/usr/x', 1, 'invalid_request'],
    ['at no absolute path are refused', 'x', 1, 'invalid_request'],
    ['at a folder are refused', '/work', 1, 'invalid_request'],
    ['beyond the disk limit are refused', '/work/x', 2000, 'disk_limit'],
  ])('%s', async (_what, path, size, code) => {
    const machine = await host.create('cpython', { maxDiskBytes: 1000 });
    await expect(machine.advance(start(path, size), budget, () => {})).rejects.toMatchObject({ name: 'FermataError', code });
    machine.dispose();
  });
});

describe('a list of frames without an end', () => {
  test('is left after a number of steps', async () => {
    // In a file of its own: the look for the program's line passes over these frames.
    const code = 'exec(compile("def g(n):\\n  if n: return g(n - 1)\\n  return tools.f(a=1)\\ng(30)", "other", "exec"))';
    const image = await loadImage('cpython');
    const machine = Machine.fresh(image);
    expect(machine.advance({ kind: 'start', program: { language: 'python', code, tools: [{ name: 'f', parameters: ['a'] }] }, seed, nowMs }, 1e9).kind).toBe('calls');
    const body = new ByteReader(unpack(openContainer(machine.snapshot(), image.digest, { trust: true })));
    const [attachment, state] = [body.block().slice(), body.block().slice()];
    const memory = new Uint8Array(machine.usage.memoryBytes + image.base.length);
    memory.set(image.base);
    readPages(body, memory);
    const knots = knotted(new Uint32Array(memory.buffer));
    expect(knots).toBeGreaterThan(20);

    const writer = new ByteWriter(64 * 1024);
    writer.block(attachment);
    writer.block(state);
    writePages(writer, memory, image.base, []);
    const began = performance.now();
    const restored = Machine.restore(image, closeContainer(pack(writer.finish()), image.digest), { trust: true });
    expect(performance.now() - began).toBeLessThan(5000);
    expect(restored.pending).toHaveLength(1);
  });

  /** Of frames that call their own function (executable, previous, function, globals, ...), makes the outer ones lead back in. */
  function knotted(words: Uint32Array): number {
    let count = 0;
    for (let at = 8; at < words.length - 8; at++) {
      const previous = (words[at + 1] as number) / 4;
      if (!Number.isInteger(previous) || previous === 0 || previous >= at || at - previous > 64) continue;
      const same = [0, 2, 3, 4].every((i) => (words[at + i] as number) > 65536 && words[at + i] === words[previous + i]);
      if (!same) continue;
      words[previous + 1] = at * 4;
      count++;
    }
    return count;
  }
});
