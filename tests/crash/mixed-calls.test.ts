/** A hundred calls at the same time under mixed rules, decided last things first, in a process that is killed on the way. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskView } from 'fermata';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { EngineUnderFire } from './engine-under-fire.ts';
import { effectsFile } from './tools.ts';

const REF = { tenant: 'acme', taskId: 'one' };
const OFTEN = 10;
let root: string;
let engine: EngineUnderFire;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'fermata-mixed-'));
  await live();
});
afterEach(async () => {
  await engine.kill();
  rmSync(root, { recursive: true });
});

const folder = () => join(root, 'data');
async function live(): Promise<void> {
  engine = new EngineUnderFire({ folder: folder(), host: 'threads' });
  await engine.ready;
}
async function dieAndLive(): Promise<void> {
  await engine.kill();
  await live();
}
const effects = () => (existsSync(effectsFile(folder())) ? readFileSync(effectsFile(folder()), 'utf8').split('\n').filter(Boolean) : []);
async function until(holds: (view: TaskView) => boolean): Promise<TaskView> {
  for (;;) {
    const view = await engine.call('task', REF);
    if (holds(view)) return view;
    await sleep(10);
  }
}
/** Says what came of calls of which nobody knows, as whoever looks at their effects would. */
async function settleUnknown(view: TaskView): Promise<void> {
  for (const { callId, kind, arguments: args } of view.waitingFor) {
    if (kind === 'outcome_unknown') await engine.call('decide', REF, callId as string, { action: 'result', output: `looked ${(args as { key: string }).key}` }, 'who looked');
  }
}
/** Nothing is under way but what people must decide. */
const isStill = ({ waitingFor, endedAt, status }: TaskView) => endedAt !== null || (status === 'waiting' && waitingFor.every(({ kind }) => kind === 'approval'));
async function still(): Promise<TaskView> {
  for (;;) {
    const view = await until((one) => isStill(one) || one.waitingFor.some(({ kind }) => kind === 'outcome_unknown'));
    if (isStill(view)) return view;
    await settleUnknown(view);
  }
}

const CODE = `
const call = (n) => [
  () => tools.effect({ key: 'e' + n, ms: 5 }), () => tools.effect({ key: 'drop', ms: n }), () => tools.pay({ key: 'p' + n, ms: 5 }), () => tools.again({ key: 'a' + n, ms: 5 }),
][n % 4]();
return await Promise.all(Array.from({ length: 100 }, async (_, n) => { try { return await call(n); } catch (error) { return error.toolErrorName; } }));`;

test('each of a hundred calls is right, the journal is complete and no effect happens twice, through two kills', { timeout: 600_000 }, async () => {
  const policy = [
    { tool: 'effect', when: { key: 'drop' }, action: 'deny' as const },
    { tool: 'again', action: 'rate_limit' as const, rate: { calls: OFTEN, windowMs: 3_600_000 } },
  ];
  await engine.call('submit', REF.tenant, { language: 'javascript', code: CODE, policy, limits: { maxCallsAtOnce: 4 } }, { taskId: REF.taskId });
  while (effects().length < 4) await sleep(5);
  await dieAndLive();
  expect((await engine.call('task', REF)).endedAt).toBeNull();

  const parked = await still();
  const pays = Array.from({ length: 25 }, (_, i) => 4 * i + 2);
  const numberOf = (args: unknown) => Number((args as { key: string }).key.slice(1));
  expect(parked.waitingFor.map(({ arguments: args }) => numberOf(args))).toEqual(pays);
  const lastFirst = parked.waitingFor.map(({ callId, arguments: args }) => ({ callId: callId as string, n: numberOf(args) })).reverse();
  const decide = ({ callId, n }: (typeof lastFirst)[number]) =>
    engine.call('decide', REF, callId, n % 3 === 0 ? { action: 'reject' } : { action: 'approve', ...(n % 3 === 1 ? { arguments: { key: `q${n}`, ms: 5 } } : {}) }, `person ${n}`);
  for (const one of lastFirst.slice(0, 12)) await decide(one);
  await dieAndLive();
  for (const one of lastFirst.slice(12)) await decide(one);
  const ended = await still();

  const agains = Array.from({ length: 25 }, (_, i) => 4 * i + 3);
  // Who looks is shown what the tool was called with.
  const carriedOut = (key: string) => expect.stringMatching(`^(done|looked) ${key}$`);
  const wanted = (n: number) => {
    if (n % 4 === 0) return carriedOut(`e${n}`);
    if (n % 4 === 1) return 'PolicyViolation';
    if (n % 4 === 3) return agains.indexOf(n) < OFTEN ? `done a${n}` : 'RateLimited';
    if (n % 3 === 0) return 'ApprovalRejected';
    return n % 3 === 1 ? carriedOut(`q${n}`) : carriedOut(`p${n}`);
  };
  expect(ended.status).toBe('succeeded');
  expect(ended.output).toEqual(Array.from({ length: 100 }, (_, n) => wanted(n)));

  // The effects of calls that are not idempotent happen once; those of others by one key.
  const made = effects();
  expect(made.filter((line) => !line.startsWith('a'))).toHaveLength(new Set(made.filter((line) => !line.startsWith('a')).map((line) => line.split(' ')[0])).size);
  expect(new Set(made.filter((line) => line.startsWith('a'))).size).toBe(OFTEN);
  expect(made.some((line) => line.startsWith('drop'))).toBe(false);

  const entries = (await engine.call('journal', REF, 0, 10_000)).map(({ kind, body }) => ({ kind, body: JSON.parse(body) }));
  const of = (kind: string) => entries.filter((entry) => entry.kind === kind).map(({ body }) => body);
  expect(of('call').map(({ n }) => n)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
  expect(
    of('call_settled')
      .map(({ n }) => n)
      .sort((a, b) => a - b),
  ).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
  const people = of('decided').filter(({ by }) => by.startsWith('person'));
  expect(people.map(({ call_id, by }) => [call_id, by])).toEqual(lastFirst.map(({ callId, n }) => [callId, `person ${n}`]));
  expect(await engine.call('verify', REF)).toMatchObject({ verified: true, differences: [] });
});
