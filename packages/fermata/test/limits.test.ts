/** Limits: each ends its own program with its own code, and nothing else. */
import { createFermata, type Language } from 'fermata';
import { afterAll, describe, expect, test } from 'vitest';

const MiB = 1024 * 1024;
const fermata = createFermata();
afterAll(() => fermata.close());

const LOOPS: [string, Language, string][] = [
  ['a busy loop', 'python', 'while True:\n    pass'],
  ['a busy loop', 'javascript', 'for (;;);'],
  ['a loop inside one builtin', 'python', 'sum(range(10 ** 15))'],
  ['a loop inside one builtin', 'javascript', 'new Array(4e9 - 1).indexOf(1, 0)'],
  ['a regular expression that never ends', 'python', 'import re\nre.match(r"(a+)+$", "a" * 60 + "b")'],
  ['a regular expression that never ends', 'javascript', '/^(a+)+$/.test("a".repeat(60) + "b")'],
  ['a big power', 'python', '7 ** (10 ** 8) and None'],
  ['a loop that catches everything', 'python', 'while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass'],
];

describe.each(LOOPS)('%s in %s', (_what, language, code) => {
  test('ends with timeout when the wall time is over', async () => {
    const result = await fermata.run({ language, code, limits: { timeoutMs: 300 } });
    expect(result).toMatchObject({ status: 'failed', error: { code: 'timeout' } });
  });
  test('ends with cpu_limit when the processor time is over, and what it had printed is kept', async () => {
    const result = await fermata.run({ language, code: `${language === 'python' ? 'print("begun")' : 'console.log("begun");'}\n${code}`, limits: { maxCpuMs: 400 } });
    expect(result).toMatchObject({ status: 'failed', stdout: 'begun\n', error: { code: 'cpu_limit' } });
  });
});

test('a tool that never answers ends with timeout, and its signal is aborted', async () => {
  let signal: AbortSignal | undefined;
  const never = { name: 'never', execute: (_: unknown, info: { signal: AbortSignal }) => new Promise(() => (signal = info.signal)) };
  const result = await fermata.run({ language: 'javascript', code: 'await tools.never({})', tools: [never], limits: { timeoutMs: 2000 } });
  expect(result).toMatchObject({ status: 'failed', error: { code: 'timeout', message: expect.stringContaining('never') }, calls: [{ tool: 'never', status: 'pending' }] });
  expect(signal?.aborted).toBe(true);
});

test('a sleep counts as wall time and not as processor time', async () => {
  const result = await fermata.run({ language: 'python', code: 'import time\ntime.sleep(3600)', limits: { timeoutMs: 200 } });
  expect(result).toMatchObject({ status: 'failed', error: { code: 'timeout' } });
  const short = await fermata.run({ language: 'javascript', code: 'await sleep(0.3); "rested"', limits: { maxCpuMs: 200 } });
  expect(short.output).toBe('rested');
});

const BOMBS: [Language, string][] = [
  ['python', 'a = []\nwhile True:\n    a.append("x" * 100000 + str(len(a)))'],
  ['javascript', 'const keep = []; for (let i = 0; ; i++) keep.push("x".repeat(1000) + i);'],
];

test.each(BOMBS)('a memory bomb in %s ends with memory_limit, and its neighbours finish unharmed', async (language, code) => {
  const neighbour = { language: 'python', code: 'import json\njson.dumps([sum(i * i for i in range(200000))])' } as const;
  await using crowded = createFermata({ threads: 1 });
  const [bomb, ...neighbours] = await Promise.all([crowded.run({ language, code, limits: { maxMemoryBytes: 32 * MiB } }), crowded.run(neighbour), crowded.run(neighbour)]);
  expect(bomb).toMatchObject({ status: 'failed', error: { code: 'memory_limit' } });
  expect(bomb?.resourcesUsed.peakMemoryBytes).toBeLessThanOrEqual(32 * MiB);
  for (const { output } of neighbours) expect(output).toBe('[2666646666700000]');
});

test('running out of memory is an exception that a program can catch', async () => {
  const code = 'try:\n    x = bytearray(10 ** 9)\nexcept MemoryError:\n    x = "caught"\nx';
  expect((await fermata.run({ language: 'python', code, limits: { maxMemoryBytes: 32 * MiB } })).output).toBe('caught');
});

test('output is cut at its limit, on a whole character, and said to be', async () => {
  const result = await fermata.run({ language: 'python', code: 'while True:\n    print("\\u20ac" * 100)', limits: { maxOutputBytes: 1000 } });
  expect(result).toMatchObject({ status: 'failed', truncated: true, error: { code: 'output_limit' } });
  expect(Buffer.byteLength(result.stdout)).toBeLessThanOrEqual(1000);
  expect(Buffer.byteLength(result.stdout)).toBeGreaterThan(990);
  expect(result.stdout).not.toContain('\ufffd');
  expect(await fermata.run({ language: 'python', code: 'print("x" * 999)', limits: { maxOutputBytes: 1000 } })).toMatchObject({ status: 'succeeded', truncated: false });
});

test('writing more than the disk limit is an error the program can catch, or it ends with disk_limit', async () => {
  const limits = { maxDiskBytes: MiB };
  const write = 'with open("/work/big", "wb") as f:\n    for _ in range(64):\n        f.write(bytes(65536))\n';
  expect(await fermata.run({ language: 'python', code: write, limits })).toMatchObject({ status: 'failed', error: { code: 'disk_limit' } });
  const caught = `try:\n    ${write.replaceAll('\n', '\n    ')}\nexcept OSError as e:\n    import errno\n    print(e.errno == errno.ENOSPC)`;
  expect(await fermata.run({ language: 'python', code: caught, limits })).toMatchObject({ status: 'succeeded', stdout: 'True\n' });
});

test('the call after the last one allowed ends the program, and is never carried out', async () => {
  let done = 0;
  const count = { name: 'count', execute: () => ++done };
  const code = 'while True:\n    try:\n        tools.count()\n    except Exception:\n        pass';
  const result = await fermata.run({ language: 'python', code, tools: [count], limits: { maxToolCalls: 5 } });
  expect(result).toMatchObject({ status: 'failed', error: { code: 'tool_call_limit' } });
  expect(done).toBe(5);
});

test('limits of the Fermata hold where the task says nothing', async () => {
  await using strict = createFermata({ limits: { maxToolCalls: 0 }, tools: [{ name: 'ping', execute: () => 1 }] });
  expect(await strict.run({ language: 'javascript', code: 'await tools.ping({})' })).toMatchObject({ error: { code: 'tool_call_limit' } });
  expect(await strict.run({ language: 'javascript', code: 'await tools.ping({})', limits: { maxToolCalls: 1 } })).toMatchObject({ output: 1 });
});

/** A loop that was paused after it had spent at least a fifth of its processor time; with more time where that was over before. */
async function pausedWithTimeSpent(maxCpuMs: number): Promise<{ snapshot: Uint8Array; used: number; maxCpuMs: number }> {
  await using task = await fermata.start({ language: 'javascript', code: 'for (;;);', limits: { maxCpuMs } });
  for (;;) {
    const run = task.run();
    await new Promise((resolve) => setTimeout(resolve, maxCpuMs / 10));
    await task.pause().catch(() => {});
    const { status, resourcesUsed } = await run;
    if (status !== 'paused') return pausedWithTimeSpent(maxCpuMs * 2);
    if (resourcesUsed.cpuTimeMs >= maxCpuMs / 5) return { snapshot: await task.snapshot(), used: resourcesUsed.cpuTimeMs, maxCpuMs };
  }
}

test('time spent before a snapshot counts after it', async () => {
  const { snapshot, used, maxCpuMs } = await pausedWithTimeSpent(1000);
  await using restored = await fermata.restore(snapshot, { trust: true });
  const result = await restored.run();
  expect(result.error?.code).toBe('cpu_limit');
  expect(result.resourcesUsed.cpuTimeMs).toBeLessThan(used + maxCpuMs);
});

const NOTES: [string, Language, string][] = [
  ['steps', 'javascript', 'for (let i = 0; ; i++) step("s" + i)'],
  ['steps', 'python', 'import fermata\ni = 0\nwhile True:\n    fermata.step("s%d" % i)\n    i += 1'],
];

test.each(NOTES)('%s without an end in %s end with output_limit', async (_what, language, code) => {
  let notes = 0;
  const onEvent = ({ type }: { type: string }) => void (type === 'step' && notes++);
  const result = await fermata.run({ language, code, onEvent, limits: { maxOutputBytes: 10_000 } });
  expect(result).toMatchObject({ status: 'failed', error: { code: 'output_limit' } });
  expect(notes).toBeGreaterThan(50);
  expect(notes).toBeLessThan(400);
});

test('notes count across a snapshot', async () => {
  const code = 'import fermata\nfor i in range(60): fermata.step("before")\ntools.go()\nfor i in range(60): fermata.step("after")';
  const tools = [{ name: 'go', execute: () => 1 }];
  const result = await fermata.run({ language: 'python', code, tools, limits: { maxOutputBytes: 6000 } });
  await using task = await fermata.start({ language: 'python', code, tools, limits: { maxOutputBytes: 6000 } });
  await task.next();
  await using restored = await fermata.restore(await task.snapshot(), { tools, trust: true });
  expect([result.error?.code, (await restored.run()).error?.code]).toEqual(['output_limit', 'output_limit']);
});

test.each<[string, Language, string]>([
  ['an argument', 'python', 'tools.take(a=10**20_000)'],
  ['a result', 'python', '10**20_000'],
  ['a result of JavaScript', 'javascript', 'return 10n ** 20_000n'],
])('an integer of very many digits ends its program, which would have the host read it for long: %s', async (_, language, code) => {
  const tools = [{ name: 'take', execute: () => 1 }];
  expect(await fermata.run({ language, code, tools })).toMatchObject({ status: 'failed', error: { name: 'ValueError', message: expect.stringContaining('20000 digits') } });
});

test('arguments of very many parts are refused, and small ones of many calls count as what they take of the host', async () => {
  const tools = [{ name: 'take', execute: () => new Promise(() => {}) }];
  const one = await fermata.run({ language: 'python', code: 'tools.take(a=[[]] * 200_000)', tools });
  expect(one).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('too many parts') } });
  const many = 'import asyncio\nasync def main():\n    await asyncio.gather(*[tools.take(a=[[]] * 100_000) for _ in range(20)])\nasyncio.run(main())';
  expect(await fermata.run({ language: 'python', code: many, tools, limits: { maxMemoryBytes: 32 * MiB } })).toMatchObject({ error: { code: 'memory_limit' } });
});
