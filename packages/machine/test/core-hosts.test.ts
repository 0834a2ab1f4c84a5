/** What every host promises, on threads and in child processes; and what it does when a process is killed under it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type Emission, type Host, type HostedMachine, type HostedOutcome, type Input, imageOfLanguage, type Language } from '@fermata/protocol';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { createChildHost } from '../src/hosts/child-host.ts';
import { createThreadHost } from '../src/hosts/thread-host.ts';

const BUDGET = { wallMs: 300_000, cpuMs: 300_000 };
const SMALL = { hibernateMs: 100, idleMs: 200 };
const start = (language: Language, code: string): Input => ({
  kind: 'start',
  program: { language, code, tools: [{ name: 'ask', parameters: ['n'] }] },
  seed: new Uint8Array(32),
  nowMs: 1e12,
});
const answer = (callId: number): Input => ({ kind: 'answer', callId, result: { ok: callId }, nowMs: 1e12 });

/** Drives a program to its end; every call is answered with its id. */
async function run(host: Host, language: Language, code: string, tenant = ''): Promise<{ outcome: HostedOutcome; stdout: string }> {
  const machine = await host.create(imageOfLanguage[language], { maxMemoryBytes: 64 << 20 }, { tenant });
  const ended = await drive(machine, start(language, code));
  machine.dispose();
  return ended;
}

async function drive(machine: HostedMachine, first: Input): Promise<{ outcome: HostedOutcome; stdout: string }> {
  let stdout = '';
  const onEmitted = (emitted: Emission[]) => {
    for (const emission of emitted) if (emission.kind === 'output') stdout += Buffer.from(emission.chunk.bytes);
  };
  for (let input = first; ; ) {
    const outcome = await machine.advance(input, BUDGET, onEmitted);
    if (outcome.kind !== 'calls') return { outcome, stdout };
    input = answer(outcome.pending[0] as number);
  }
}

/** The processes that this one has started, without those that these have started. */
function children(): number[] {
  const own = readdirSync('/proc/self/task').flatMap((thread) => readFileSync(`/proc/self/task/${thread}/children`, 'utf8').trim().split(' '));
  return own.filter(Boolean).map(Number);
}

const hosts: [string, (options: object) => Host][] = [
  ['on threads', (options) => createThreadHost({ threads: 2, ...SMALL, ...options })],
  ['in child processes', (options) => createChildHost({ children: 2, jail: 'off', ...SMALL, ...options })],
  ['in child processes in the jail, where there is one', (options) => createChildHost({ children: 1, ...SMALL, ...options })],
];

describe.each(hosts)('a host %s', (_name, make) => {
  const host = make({});
  afterAll(() => host.close());

  test('runs programs of all languages, with calls, output and results', async () => {
    expect(await run(host, 'javascript', 'console.log("a"); return (await tools.ask({ n: 1 })) + (await tools.ask({ n: 2 }))')).toEqual({
      outcome: { kind: 'done', value: 3 },
      stdout: 'a\n',
    });
    expect(await run(host, 'python', 'print("é")\ntools.ask(n=1) + tools.ask(n=2)')).toEqual({ outcome: { kind: 'done', value: 3 }, stdout: 'é\n' });
    expect(await run(host, 'python', 'x = 2**70\n{"big": x, "bytes": b"\\x00\\xff"}')).toMatchObject({ outcome: { value: { big: 2n ** 70n, bytes: new Uint8Array([0, 255]) } } });
  });

  test('stops a busy loop on request, and goes on with its snapshot on another machine', async () => {
    const machine = await host.create('quickjs', {});
    const stopped = (one: HostedMachine, input: Input) => one.advance(input, BUDGET, () => one.stop());
    expect((await stopped(machine, start('javascript', 'let i = 0; console.log("on"); for (;;) i = (i + 1) % 1000'))).kind).toBe('slice-used');
    const { machine: moved, restored } = await host.restore(await machine.snapshot(), { trust: true });
    expect(restored.waits).toEqual({ for: 'go' });
    expect(await moved.hash()).toBe(await machine.hash());
    machine.dispose();
    const { fuel } = moved.report.usage;
    expect((await stopped(moved, { kind: 'go' })).kind).toBe('slice-used');
    expect(moved.report.usage.fuel).toBeGreaterThan(fuel);
    moved.dispose();
  });

  test('takes machines that wait off their threads, ends the idle threads, and goes on when the answer comes', async () => {
    const waiting = await Promise.all(
      (['python', 'javascript'] as const).map(async (language) => {
        const machine = await host.create(imageOfLanguage[language], {});
        const code =
          language === 'python'
            ? 'kept = [1, 2]\nopen("/work/a", "w").write("b")\nkept + [tools.ask(n=1), open("/work/a").read()]'
            : 'const kept = [1, 2]; return [...kept, await tools.ask({ n: 1 }), "b"]';
        expect(await machine.advance(start(language, code), BUDGET, () => {})).toMatchObject({ kind: 'calls' });
        return machine;
      }),
    );
    await expect.poll(() => host.usage, { timeout: 60_000 }).toEqual({ threads: 0, residentMachines: 0, machines: 2 });
    for (const machine of waiting) {
      expect((await drive(machine, answer(1))).outcome).toEqual({ kind: 'done', value: [1, 2, 1, 'b'] });
      machine.dispose();
    }
  });

  test('ends what goes over its limits, and the next program runs', async () => {
    const limited = async (language: Language, code: string, limits: object) => {
      const machine = await host.create(imageOfLanguage[language], limits);
      const { timeoutMs: wallMs = 300_000, maxCpuMs: cpuMs = 300_000 } = limits as { timeoutMs?: number; maxCpuMs?: number };
      const outcome = await machine.advance(start(language, code), { wallMs, cpuMs }, () => {});
      machine.dispose();
      return outcome;
    };
    expect(await limited('python', 'while True: pass', { maxCpuMs: 300 })).toMatchObject({ kind: 'limit', limit: 'cpu' });
    expect(await limited('javascript', 'for (;;);', { timeoutMs: 300 })).toMatchObject({ kind: 'limit', limit: 'timeout' });
    expect(await limited('python', 'x = bytearray(10**8)', { maxMemoryBytes: 1 << 20 })).toMatchObject({ kind: 'limit', limit: 'memory' });
    expect((await run(host, 'javascript', 'return 1')).outcome).toEqual({ kind: 'done', value: 1 });
  });

  test('refuses a damaged snapshot by name, and a machine that was disposed of', async () => {
    const machine = await host.create('quickjs', {});
    const snapshot = await machine.snapshot();
    snapshot[60] = (snapshot[60] as number) ^ 1;
    await expect(host.restore(snapshot, { trust: true })).rejects.toMatchObject({ code: 'checkpoint_invalid' });
    machine.dispose();
    await expect(machine.hash()).rejects.toMatchObject({ code: 'invalid_state' });
  });

  test('is closed only once, and makes nothing after', async () => {
    const other = make({});
    await run(other, 'javascript', 'return 1');
    await other.close();
    await other.close();
    await expect(other.create('quickjs', {})).rejects.toMatchObject({ code: 'invalid_state' });
  });
});

describe.each([
  ['without a jail', 'off'],
  ['with a jail where there is one', 'auto'],
] as const)('child processes %s', (_name, jail) => {
  const program =
    'let sum = 0; for (let round = 0; round < 4; round++) { for (let i = 0; i < 400000; i++) sum += i % 7; console.log(round, sum); sum += await tools.ask({ n: round }); } return sum';

  test('may be killed at any time: no program is lost or wrong, and nothing is printed twice', async () => {
    const host = createChildHost({ children: 2, jail, ...SMALL });
    onTestFinished(() => host.close());
    const expected = await run(host, 'javascript', program);
    expect(expected.outcome).toMatchObject({ kind: 'done' });
    let ended = false;
    const all = Promise.all(Array.from({ length: 8 }, () => run(host, 'javascript', program))).finally(() => {
      ended = true;
    });
    for (let kills = 0; kills < 6 && !ended; kills++) {
      await new Promise((resolve) => setTimeout(resolve, 150 + Math.random() * 300));
      const [victim] = children().sort(() => Math.random() - 0.5);
      if (victim && !ended) process.kill(victim, 'SIGKILL');
    }
    for (const one of await all) expect(one).toEqual(expected);
    await host.close();
    expect(host.usage).toMatchObject({ machines: 0, residentMachines: 0 });
    await expect.poll(children).toEqual([]);
  });

  test('of different tenants are different', async () => {
    const host = createChildHost({ children: 2, jail, ...SMALL, idleMs: 60_000 });
    onTestFinished(() => host.close());
    await Promise.all([run(host, 'javascript', 'return 1', 'a'), run(host, 'javascript', 'return 1', 'b')]);
    const two = children();
    expect(two.length).toBe(2);
    await run(host, 'javascript', 'return 1', 'c');
    expect(children().filter((child) => !two.includes(child)).length).toBe(1);
  });
});

test.each([
  ['it is our child', 'setsid "$@" &'],
  ['it only waits', 'sleep 300 &'],
])('a process whose jail was killed as it came up ends, and so does what was inside, if %s', async (_name, inside) => {
  const folder = mkdtempSync(join(tmpdir(), 'fermata-torn-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'bwrap'), `#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift\ncase "$1" in */true) exit ;; esac\n${inside}\nwait "$!"\n`, { mode: 0o755 });
  const script = fileURLToPath(new URL('jail-torn-away.ts', import.meta.url));
  const torn = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, PATH: `${folder}:${process.env.PATH}` } });
  onTestFinished(() => void torn.kill('SIGKILL'));
  const [printed] = await Promise.all([text(torn.stdout), once(torn, 'exit')]);
  expect(printed).toMatch(/^\d+ \d+\n$/);
  await expect.poll(() => printed.split(' ').filter((id) => alive(Number(id))), { timeout: 60_000 }).toEqual([]);
});

function alive(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch {
    return false;
  }
}
