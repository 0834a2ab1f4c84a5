/** Many calls at the same time under rules of task, tenant and server, with people who decide last things first, over a restart. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OpenEngine, openEngine } from 'fermata';
import { afterEach, beforeEach, expect, test } from 'vitest';

const TENANT = 'acme';
const OFTEN = 10;
const HOUR_MS = 3_600_000;
let folder: string;
let opened: OpenEngine;
/** Calls that tools were given, by tool. */
let made: Record<string, number[]>;

async function open(): Promise<void> {
  const tool = (name: string) => ({
    name,
    parameters: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    execute: async ({ n }: Record<string, unknown>) => {
      made[name] = [...(made[name] ?? []), Number(n)];
      return `${name} ${n}`;
    },
  });
  const policy = [
    { tool: 'drop', action: 'deny' as const, reason: 'nothing is dropped' },
    { tool: 'ping', action: 'rate_limit' as const, rate: { calls: OFTEN, windowMs: HOUR_MS, per: 'tenant' as const } },
  ];
  opened = await openEngine({ folder, tools: ['read', 'drop', 'pay', 'ping'].map(tool), policy });
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fermata-policy-'));
  made = {};
  await open();
});
afterEach(async () => {
  await opened.close();
  rmSync(folder, { recursive: true });
});

const PYTHON = `import asyncio
async def one(n):
    try:
        return await [tools.read, tools.drop, tools.pay, tools.ping][n % 4](n=n)
    except Exception as error:
        return [error.name, str(error)]
async def main():
    return await asyncio.gather(*[one(n) for n in range(100)])
asyncio.run(main())`;
const JAVASCRIPT = `return await Promise.all(Array.from({ length: 100 }, async (_, n) => {
  try { return await [tools.read, tools.drop, tools.pay, tools.ping][n % 4]({ n }); } catch (error) { return [error.toolErrorName, error.message]; }
}));`;

test.each([
  ['python', PYTHON],
  ['javascript', JAVASCRIPT],
] as const)('each of a hundred calls gets its own decision, over a restart: %s', { timeout: 300_000 }, async (language, code) => {
  await opened.policy.set(TENANT, [{ tool: 'pay', action: 'require_approval' }]);
  const { taskId } = await opened.engine.submit(TENANT, { language, code, policy: [{ tool: '*', action: 'allow' }] });
  const ref = { tenant: TENANT, taskId };
  const parked = await opened.engine.wait(ref, 120_000);
  expect(parked.status).toBe('waiting');
  expect(parked.waitingFor.map(({ arguments: args }) => args)).toEqual(Array.from({ length: 25 }, (_, i) => ({ n: 4 * i + 2 })));

  const lastFirst = parked.waitingFor.map(({ callId, arguments: args }) => ({ callId: callId as string, n: Number((args as { n: number }).n) })).reverse();
  const decide = ({ callId, n }: (typeof lastFirst)[number]) => {
    if (n % 3 === 0) return opened.engine.decide(ref, callId, { action: 'reject', reason: `not ${n}` }, `person ${n}`);
    return opened.engine.decide(ref, callId, { action: 'approve', ...(n % 3 === 1 ? { arguments: { n: 1000 + n } } : {}) }, `person ${n}`);
  };
  for (const one of lastFirst.slice(0, 12)) await decide(one);
  await opened.close({ drainMs: 10_000 });
  await open();
  for (const one of lastFirst.slice(12)) await decide(one);
  const ended = await opened.engine.wait(ref, 120_000);

  const pings = Array.from({ length: 25 }, (_, i) => 4 * i + 3);
  const wanted = (n: number) => {
    if (n % 4 === 0) return `read ${n}`;
    if (n % 4 === 1) return ['PolicyViolation', 'the call of drop is denied: nothing is dropped'];
    if (n % 4 === 3)
      return pings.indexOf(n) < OFTEN
        ? `ping ${n}`
        : ['RateLimited', expect.stringMatching(/^ping was called too often: at most 10 calls in 3600 s; it can be called again in \d+ s$/)];
    if (n % 3 === 0) return ['ApprovalRejected', `the call of pay was rejected: not ${n}`];
    return `pay ${n % 3 === 1 ? 1000 + n : n}`;
  };
  expect(ended.status).toBe('succeeded');
  expect(ended.output).toEqual(Array.from({ length: 100 }, (_, n) => wanted(n)));

  const numbers = (one: number[] = []) => [...one].sort((a, b) => a - b);
  expect(numbers(made.read)).toEqual(Array.from({ length: 25 }, (_, i) => 4 * i));
  expect(numbers(made.ping)).toEqual(pings.slice(0, OFTEN));
  expect(made.drop).toBeUndefined();
  expect(made.pay).toHaveLength(lastFirst.filter(({ n }) => n % 3 !== 0).length);

  const entries = (await opened.engine.journal(ref, 0, 10_000)).map(({ kind, body }) => ({ kind, body: JSON.parse(body) }));
  const of = (kind: string) => entries.filter((entry) => entry.kind === kind).map(({ body }) => body);
  expect(of('call').map(({ n, arguments: args }) => [n, args.n])).toEqual(Array.from({ length: 100 }, (_, n) => [n + 1, n]));
  expect(of('call').map(({ rule }) => rule)).toEqual(
    Array.from({ length: 100 }, (_, n) => {
      if (n % 4 === 1) return 'rule 1 of the server';
      if (n % 4 === 2) return 'rule 1 of the tenant';
      return n % 4 === 3 && pings.indexOf(n) >= OFTEN ? 'rule 2 of the server' : 'rule 1 of the task';
    }),
  );
  expect(numbers(of('call_settled').map(({ n }) => n))).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
  expect(of('decided').map(({ call_id, by }) => [call_id, by])).toEqual(lastFirst.map(({ callId, n }) => [callId, `person ${n}`]));

  // What was used up of the tenant's rate is so for its next task, too, after one more restart.
  await opened.close({ drainMs: 10_000 });
  await open();
  const again = await opened.engine.submit(TENANT, {
    language: 'javascript',
    code: 'try { return await tools.ping({ n: 1 }) } catch (error) { return error.data.retry_after_seconds > 0 && error.toolErrorName }',
  });
  expect((await opened.engine.wait({ tenant: TENANT, taskId: again.taskId }, 60_000)).output).toBe('RateLimited');
  const other = await opened.engine.submit('others', { language: 'javascript', code: 'return [await tools.ping({ n: 1 }), await tools.pay({ n: 1 })]' });
  expect((await opened.engine.wait({ tenant: 'others', taskId: other.taskId }, 60_000)).output).toEqual(['ping 1', 'pay 1']);
});

test('a rate of a task opens again after its time, and rules by calls count what the task has called', { timeout: 120_000 }, async () => {
  const policy = [
    { tool: 'read', action: 'rate_limit' as const, when: { n: { lt: 100 } }, rate: { calls: 2, windowMs: 10_000 } },
    { tool: 'pay', calls: { gte: 2 }, action: 'deny' as const, reason: 'twice is enough' },
  ];
  const code = `import fermata
said = []
for n in (1, 2, 3, 100):
    try:
        said.append(tools.read(n=n))
    except Exception as error:
        said.append(error.name)
        fermata.sleep(error.data["retry_after_seconds"])
        said.append(tools.read(n=n))
for n in range(4):
    try:
        said.append(tools.pay(n=n))
    except Exception as error:
        said.append(str(error))
said`;
  const { taskId } = await opened.engine.submit(TENANT, { language: 'python', code, policy });
  const { output } = await opened.engine.wait({ tenant: TENANT, taskId }, 60_000);
  const denied = 'the call of pay is denied: twice is enough';
  expect(output).toEqual(['read 1', 'read 2', 'RateLimited', 'read 3', 'read 100', 'pay 0', 'pay 1', denied, denied]);
  await expect(opened.engine.submit(TENANT, { language: 'python', code, policy: [{ tool: 'a', action: 'maybe' as never }] })).rejects.toThrow('policy: rule 1.action');
});
