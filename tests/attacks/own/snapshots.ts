/** Snapshots: made huge, handed back damaged, and asked for in the middle of everything that goes on for ever. */
import { fails, type Outcome, succeeds } from '../outcome.ts';
import type { OwnAttack } from './attack.ts';

const tools = { ask: { external: true } };
const SLOWLY = { cpu_ms: 100_000, timeout_ms: 120_000 };
/** The program waits, is moved by its snapshot, and goes on. */
const moved = [{ submit: true }, { wait: 'paused' }, { restart: 'server' }, { answer: { tool: 'ask', value: 4 } }, { wait: 'final' }];

const HUGE: readonly OwnAttack[] = [
  {
    id: 'own-py-huge-memory',
    language: 'python',
    tools,
    program: `
import os, hashlib
held = [os.urandom(1_000_000) for _ in range(60)]
def digest():
    total = hashlib.sha256()
    for part in held:
        total.update(part)
    return total.hexdigest()
before = digest()
answer = tools.ask(q=1)
[answer, digest() == before]`,
    limits: { ...SLOWLY, memory_mb: 400 },
    scenario: moved,
    outcome: succeeds('sixty megabytes of noise go along', { output: [4, true] }),
  },
  {
    id: 'own-js-huge-memory',
    language: 'javascript',
    tools,
    program: `
const held = Array.from({ length: 200_000 }, () => ({ a: Math.random() }));
const sum = () => held.reduce((total, { a }) => total + a, 0);
const before = sum();
const answer = await tools.ask({ q: 1 });
return [answer, sum() === before];`,
    limits: { ...SLOWLY, memory_mb: 400 },
    scenario: moved,
    outcome: succeeds('two hundred thousand objects go along', { output: [4, true] }),
  },
  {
    id: 'own-py-scattered-pages',
    language: 'python',
    tools,
    program: `
held = bytearray(50_000_000)
for at in range(0, len(held), 4096):
    held[at] = at % 251
answer = tools.ask(q=1)
[answer, all(held[at] == at % 251 for at in range(0, len(held), 4096))]`,
    limits: { ...SLOWLY, memory_mb: 400 },
    scenario: moved,
    outcome: succeeds('one byte in each of 12,000 pages goes along', { output: [4, true] }),
  },
  {
    id: 'own-py-many-files',
    language: 'python',
    tools,
    program: `
import os
for n in range(20_000):
    with open(f"/work/{n}", "w") as f:
        f.write(str(n))
held = [open(f"/work/{n}") for n in range(400)]
answer = tools.ask(q=1)
names = os.listdir("/work")
ok = [len(names), held[7].read(), open("/work/19999").read(), answer]
for name in names:
    os.remove("/work/" + name)
ok`,
    limits: SLOWLY,
    scenario: moved,
    outcome: succeeds('twenty thousand files and four hundred open ones go along', { output: [20_000, '7', '19999', 4] }),
  },
  {
    id: 'own-js-many-waiting',
    language: 'javascript',
    tools: { ask: { external: true }, never: { never: true } },
    program: "for (let i = 0; i < 900; i++) tools.never({ i, pad: 'p'.repeat(10_000) });\nreturn await tools.ask({})",
    limits: { ...SLOWLY, timeout_ms: 8000 },
    scenario: [{ submit: true }, { wait: 'final' }],
    outcome: fails('timeout', 'open calls hold a program up to its limit of wall time', { max_host_tool_calls: 901 }),
  },
];

const DAMAGED: readonly OwnAttack[] = [
  {
    id: 'own-py-damaged',
    language: 'python',
    tools,
    program: 'held = list(range(1000))\nanswer = tools.ask(q=1)\n[answer, sum(held)]',
    scenario: [{ submit: true }, { wait: 'paused' }, { restore_damaged: 120 }, { answer: { tool: 'ask', value: 4 } }, { wait: 'final' }],
    limits: SLOWLY,
    outcome: succeeds('damaged bytes are refused by name, and the task that they were taken from goes on', { output: [4, 499_500] }),
  },
  {
    id: 'own-js-damaged',
    language: 'javascript',
    tools,
    program: 'const held = [1, 2, 3];\nreturn [await tools.ask({}), held.length]',
    scenario: [{ submit: true }, { wait: 'paused' }, { restore_damaged: 240 }, { answer: { tool: 'ask', value: 4 } }, { wait: 'final' }],
    limits: SLOWLY,
    outcome: succeeds('damaged bytes are refused by name, and the task that they were taken from goes on', { output: [4, 3] }),
  },
];

interface Busy {
  id: string;
  language: 'python' | 'javascript';
  program: string;
  limits?: OwnAttack['limits'];
  outcome: Outcome;
}

const CPU = { cpu_ms: 1500, timeout_ms: 120_000 };
const spins = fails('cpu_limit', 'it is paused, moved, goes on, and is ended by its limit of processor time');

/** Each prints `going` and is then busy in its own way. */
const PAUSED: readonly Busy[] = [
  { id: 'py-loop', language: 'python', program: 'print("going", flush=True)\nwhile True: pass', outcome: spins },
  { id: 'py-caught', language: 'python', program: 'print("going", flush=True)\nwhile True:\n    try:\n        while True: pass\n    except BaseException: pass', outcome: spins },
  {
    id: 'py-memory',
    language: 'python',
    program: 'print("going", flush=True)\nheld = []\nwhile True:\n    try: held.append(bytearray(100_000))\n    except MemoryError: pass',
    limits: { cpu_ms: 5000, timeout_ms: 120_000, memory_mb: 64 },
    outcome: spins,
  },
  {
    id: 'py-files',
    language: 'python',
    program: 'print("going", flush=True)\nn = 0\nwhile True:\n    n += 1\n    open(f"/tmp/{n % 1000}", "w").write("x" * n)\n    if n > 1000: n = 0',
    limits: CPU,
    outcome: spins,
  },
  { id: 'py-regex', language: 'python', program: 'import re\nprint("going", flush=True)\nre.match("(a*)*b", "a" * 40)', outcome: spins },
  { id: 'py-c-loop', language: 'python', program: 'import itertools\nprint("going", flush=True)\nsum(itertools.repeat(1))', outcome: spins },
  {
    id: 'py-recursion',
    language: 'python',
    program: 'print("going", flush=True)\ndef f(n): return f(n + 1)\nwhile True:\n    try: f(0)\n    except RecursionError: pass',
    outcome: spins,
  },
  {
    id: 'py-sql',
    language: 'python',
    program:
      'import sqlite3\nprint("going", flush=True)\nsqlite3.connect(":memory:").execute("with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n").fetchall()',
    outcome: spins,
  },
  {
    id: 'py-sleep',
    language: 'python',
    program: 'import time\nprint("going", flush=True)\ntime.sleep(10**6)',
    limits: { timeout_ms: 6000 },
    outcome: fails('timeout', 'sleeping counts as wall time'),
  },
  { id: 'js-loop', language: 'javascript', program: "console.log('going'); for (;;);", outcome: spins },
  { id: 'js-sort', language: 'javascript', program: "console.log('going'); [3, 1, 2].sort(() => { for (;;); });", outcome: spins },
  { id: 'js-getter', language: 'javascript', program: "console.log('going'); return { get a() { for (;;); } }", outcome: spins },
  { id: 'js-regex', language: 'javascript', program: "console.log('going'); /^(a+)+$/.test('a'.repeat(60) + 'b');", outcome: spins },
  { id: 'js-jobs', language: 'javascript', program: "console.log('going'); const f = () => Promise.resolve().then(f); f(); await new Promise(() => {});", outcome: spins },
  {
    id: 'js-memory',
    language: 'javascript',
    program: "console.log('going'); let held = []; for (;;) { try { held.push('x'.repeat(1e5) + held.length); } catch {} }",
    limits: { cpu_ms: 5000, timeout_ms: 120_000, memory_mb: 64 },
    outcome: spins,
  },
  { id: 'js-to-string', language: 'javascript', program: "console.log('going'); String({ toString() { for (;;); } });", outcome: spins },
];

/** Where no stop is possible a pause waits, and says what came first. */
const UNPAUSABLE: readonly Busy[] = [
  {
    id: 'py-del',
    language: 'python',
    program: 'class A:\n    def __del__(self):\n        print("going", flush=True)\n        while True: pass\nA()',
    outcome: fails('cpu_limit', 'an object ends inside of code that cannot be unwound'),
  },
];

const busy = ({ id, language, program, limits = CPU, outcome }: Busy, scenario: OwnAttack['scenario']): OwnAttack => ({
  id: `own-pause-${id}`,
  language,
  program,
  limits,
  scenario: scenario ?? [],
  outcome,
});
const pausing = { pause_after_output: 'going', within_ms: 20_000 };

export const SNAPSHOTS: readonly OwnAttack[] = [
  ...HUGE,
  ...DAMAGED,
  ...PAUSED.map((one) => busy(one, [{ submit: true }, pausing, { wait: 'paused' }, { restart: 'server' }, { resume: true }, { wait: 'final' }])),
  ...UNPAUSABLE.map((one) => busy(one, [{ submit: true }, { ...pausing, within_ms: 90_000, refused: 'the task has failed' }, { wait: 'final' }])),
];
