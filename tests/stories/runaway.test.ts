/** Story 3: what never ends and what never has enough is ended for the right reason, and its neighbours do not notice. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StoryServer } from './story-server.ts';

let server: StoryServer;
beforeAll(async () => {
  server = await StoryServer.start({ host: 'processes' });
});
afterAll(() => server[Symbol.asyncDispose]());

const NEIGHBOURS = 8;
const MANY_S = 3600;
const RUNAWAYS = [
  { what: 'loop', language: 'python', code: 'while True: pass', tool_constraints: { max_cpu_seconds: 1, timeout_seconds: MANY_S }, error: 'cpu_limit' },
  { what: 'loop', language: 'javascript', code: 'for (;;) {}', tool_constraints: { max_cpu_seconds: MANY_S, timeout_seconds: 1 }, error: 'timeout' },
  { what: 'loop in C', language: 'python', code: 'max(range(10**12))', tool_constraints: { max_cpu_seconds: 1, timeout_seconds: MANY_S }, error: 'cpu_limit' },
  { what: 'bomb', language: 'python', code: 'all = []\nwhile True: all.append(bytearray(1 << 20))', tool_constraints: { max_memory_mb: 96 }, error: 'memory_limit' },
  {
    what: 'bomb',
    language: 'javascript',
    code: 'const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1))',
    tool_constraints: { max_memory_mb: 96 },
    error: 'memory_limit',
  },
] as const;

test('endless loops and memory bombs end at their limits by name; their neighbours are right, and the server is the same', async () => {
  const client = server.client();
  const { pid } = server;
  const bad = await Promise.all(RUNAWAYS.map(({ language, code, tool_constraints }) => client.tasks.create({ language, code, tool_constraints })));
  const good = await Promise.all(
    Array.from({ length: NEIGHBOURS }, (_, n) =>
      client.tasks.create({ language: n % 2 ? 'python' : 'javascript', code: n % 2 ? `sum(range(${n}00))` : `let s = 0; for (let i = 0; i < ${n}00; i++) s += i; return s` }),
    ),
  );
  for (const [n, { task_id }] of good.entries()) {
    expect(await client.tasks.wait(task_id)).toMatchObject({ status: 'succeeded', attempt: 1, result: { output: (n * 100 * Math.abs(n * 100 - 1)) / 2 } });
  }
  for (const [n, { task_id }] of bad.entries()) {
    const ended = await client.tasks.wait(task_id);
    expect(ended, `${RUNAWAYS[n]?.language} ${RUNAWAYS[n]?.what}`).toMatchObject({ status: 'failed', attempt: 1, error: { code: RUNAWAYS[n]?.error, hint: expect.any(String) } });
  }
  expect(await client.tasks.create({ language: 'python', code: '6 * 7', wait_seconds: 100 })).toMatchObject({ status: 'succeeded', result: { output: 42 } });
  expect(server.pid).toBe(pid);
  process.kill(pid, 0);
});
