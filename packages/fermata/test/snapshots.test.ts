/** Snapshots: what they are bound to, and what is refused. */
import { randomBytes } from 'node:crypto';
import { createFermata, FermataError } from 'fermata';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const sealKey = { id: 'one', key: randomBytes(32) };
const sealed = createFermata({ sealKey });
const open = createFermata();
const otherKey = createFermata({ sealKey: { id: 'one', key: randomBytes(32) } });
const otherId = createFermata({ sealKey: { id: 'two', key: sealKey.key } });
afterAll(() => Promise.all([sealed, open, otherKey, otherId].map((fermata) => fermata.close())));

const tools = [{ name: 'ask' }];
let sealedBytes: Uint8Array;
let openBytes: Uint8Array;

beforeAll(async () => {
  const saved = async (fermata: typeof open) => {
    await using task = await fermata.start({
      language: 'javascript',
      code: 'const secret = "marmalade";\n(await tools.ask({})) + secret.length',
      tools,
      taskId: 'saved',
      label: { from: 'here' },
    });
    await task.run();
    return task.snapshot();
  };
  [sealedBytes, openBytes] = [await saved(sealed), await saved(open)];
});

function changed(bytes: Uint8Array, at: number, to?: number): Uint8Array {
  const copy = bytes.slice();
  copy[at] = to ?? (copy[at] as number) ^ 1;
  return copy;
}
async function refusal(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(
    () => 'restored',
    (error: unknown) => error,
  );
  return error instanceof FermataError ? error.code : String(error);
}

test('a sealed snapshot opens with its key alone, and keeps id, label and what is pending', async () => {
  await using task = await sealed.restore(sealedBytes, { tools });
  expect(task).toMatchObject({ id: 'saved', label: { from: 'here' }, status: 'paused', pending: [{ id: 1, name: 'ask' }] });
  task.answer(1, 'x');
  expect(await task.run()).toMatchObject({ status: 'succeeded', output: 'x9' });
});

test('a sealed snapshot shows nothing of the program', () => {
  expect(Buffer.from(sealedBytes).includes('marmalade')).toBe(false);
});

test('a sealed snapshot is refused with another key, another key id, or none, trusted or not', async () => {
  for (const fermata of [otherKey, otherId, open]) {
    expect(await refusal(fermata.restore(sealedBytes))).toBe('checkpoint_invalid');
    expect(await refusal(fermata.restore(sealedBytes, { trust: true }))).toBe('checkpoint_invalid');
  }
});

test('a snapshot that is not sealed needs trust', async () => {
  for (const fermata of [open, sealed]) {
    expect(await refusal(fermata.restore(openBytes))).toBe('checkpoint_invalid');
    await using task = await fermata.restore(openBytes, { tools, trust: true });
    expect(task.pending).toHaveLength(1);
  }
});

describe('damage is refused by name', () => {
  test('a changed byte, anywhere', async () => {
    for (const [fermata, bytes] of [
      [sealed, sealedBytes],
      [open, openBytes],
    ] as const) {
      for (let at = 0; at < bytes.length; at += Math.ceil(bytes.length / 60)) {
        expect(await refusal(fermata.restore(changed(bytes, at), { trust: true })), `byte ${at}`).toMatch(/^(checkpoint_invalid|environment_mismatch)$/);
      }
    }
  });
  test('a cut end, anywhere', async () => {
    for (let length = 0; length < openBytes.length; length += Math.ceil(openBytes.length / 40)) {
      expect(await refusal(open.restore(openBytes.subarray(0, length), { trust: true })), `${length} bytes`).toBe('checkpoint_invalid');
    }
  });
  test('bytes added at the end', async () => {
    for (const [fermata, bytes] of [
      [sealed, sealedBytes],
      [open, openBytes],
    ] as const) {
      expect(await refusal(fermata.restore(Buffer.concat([bytes, Buffer.of(0)]), { trust: true }))).toBe('checkpoint_invalid');
    }
  });
  test('something else', async () => {
    for (const bytes of [new Uint8Array(), Buffer.from('not a snapshot at all'), randomBytes(4096)]) {
      expect(await refusal(open.restore(bytes, { trust: true }))).toBe('checkpoint_invalid');
    }
  });
  test('another image, another format', async () => {
    expect(await refusal(open.restore(changed(openBytes, 20), { trust: true }))).toBe('environment_mismatch');
    expect(await refusal(open.restore(changed(openBytes, 8, 99), { trust: true }))).toBe('environment_mismatch');
  });
});

test('a refused snapshot does no harm: the thread goes on', async () => {
  await refusal(open.restore(randomBytes(100_000), { trust: true }));
  expect(await open.run({ language: 'javascript', code: '6 * 7' })).toMatchObject({ output: 42 });
});

test('a running task cannot be saved', async () => {
  await using task = await open.start({ language: 'javascript', code: 'for (;;);' });
  const run = task.run();
  expect(await refusal(task.snapshot())).toBe('invalid_state');
  await task.cancel();
  expect(await run).toMatchObject({ status: 'cancelled' });
});

describe('the tools that the program was given', () => {
  test('must be there again: what is missing is named', async () => {
    await using task = await open.start({ language: 'javascript', code: 'await tools.ask({})', tools: [{ name: 'ask' }, { name: 'pay' }, { name: 'log' }] });
    await task.next();
    const bytes = await task.snapshot();
    const restoring = open.restore(bytes, { trust: true, tools: [{ name: 'log' }, { name: 'other' }] });
    await expect(restoring).rejects.toMatchObject({
      code: 'tools_missing',
      message: expect.stringMatching(/: ask, pay$/),
      hint: expect.stringContaining('restore(bytes, { tools })'),
    });
    await using later = await open.restore(bytes, { trust: true, tools: [{ name: 'log' }, { name: 'more' }, { name: 'pay' }, { name: 'ask' }] });
    later.answer(1, 'fine');
    expect(await later.run()).toMatchObject({ output: 'fine' });
  });
  test('may be chosen by the label', async () => {
    const labels: unknown[] = [];
    const chosen = async (label: unknown) => {
      labels.push(label);
      return tools;
    };
    await using task = await sealed.restore(sealedBytes, { tools: chosen });
    expect(labels).toEqual([{ from: 'here' }]);
    expect(task.pending).toHaveLength(1);
    await expect(sealed.restore(sealedBytes, { tools: () => [] })).rejects.toMatchObject({ code: 'tools_missing' });
  });
});

test('a seal can be bound to a text, without which the snapshot does not open', async () => {
  await using task = await sealed.start({ language: 'javascript', code: '6 * 7' });
  const bound = await task.snapshot({ boundTo: 'tenant/task/1' });
  for (const options of [{}, { boundTo: 'tenant/task/2' }, { trust: true }]) expect(await refusal(sealed.restore(bound, options))).toBe('checkpoint_invalid');
  await using later = await sealed.restore(bound, { boundTo: 'tenant/task/1' });
  expect(await later.run()).toMatchObject({ output: 42 });
  await using plain = await open.start({ language: 'javascript', code: '1' });
  expect(await refusal(plain.snapshot({ boundTo: 'x' })), 'nothing is bound without a seal').toBe('invalid_request');
});

test('a key that comes from a function is asked for when it is needed, and checked', async () => {
  let asked = 0;
  const late = createFermata({
    sealKey: async () => {
      asked++;
      return sealKey;
    },
  });
  await using task = await late.start({ language: 'javascript', code: '6 * 7' });
  await late.run({ language: 'javascript', code: '1' });
  expect(asked).toBe(0);
  await using later = await sealed.restore(await task.snapshot());
  expect(await later.run()).toMatchObject({ output: 42 });
  expect(asked).toBe(1);
  await late.close();
  await using wrong = createFermata({ sealKey: () => ({ id: 'short', key: new Uint8Array(3) }) });
  await using other = await wrong.start({ language: 'javascript', code: '1' });
  expect(await refusal(other.snapshot())).toBe('invalid_request');
});

test('an old key opens what it has sealed, and the next snapshot is sealed with the new one', async () => {
  const newKey = { id: 'new', key: randomBytes(32) };
  await using both = createFermata({ sealKey: newKey, oldKeys: [sealKey], tools });
  await using task = await both.restore(sealedBytes);
  const bytes = await task.snapshot();
  expect(await refusal(sealed.restore(bytes, { tools }))).toBe('checkpoint_invalid');
  await using onlyNew = createFermata({ sealKey: newKey, tools });
  await using later = await onlyNew.restore(bytes);
  later.answer(1, 'x');
  expect(await later.run()).toMatchObject({ output: 'x9' });
});
