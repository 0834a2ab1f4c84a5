/** Rules hold for whoever tries to get around them: programs by what they pass, approvers by what they put in its place. */
import { defineTool, type OpenEngine, openEngine } from 'fermata';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';

const TENANT = 'acme';
let opened: OpenEngine;
afterEach(() => opened?.close());

const transfer = (made: unknown[]) =>
  defineTool({
    name: 'transfer',
    parameters: z.object({ to: z.string().trim().toLowerCase(), amount: z.number() }),
    execute: (args: { to: string; amount: number }) => {
      made.push(args);
      return args.amount;
    },
  });

async function waiting(code: string): Promise<{ ref: { tenant: string; taskId: string }; callIds: string[] }> {
  const { taskId } = await opened.engine.submit(TENANT, { language: 'javascript', code });
  const ref = { tenant: TENANT, taskId };
  const { waitingFor } = await opened.engine.wait(ref, 60_000);
  return { ref, callIds: waitingFor.map(({ callId }) => callId as string) };
}

test('who approves may change arguments within the rules, not beyond them', async () => {
  const made: unknown[] = [];
  opened = await openEngine({
    tools: [transfer(made)],
    policy: [
      { tool: 'transfer', when: { amount: { gt: 1000 } }, action: 'deny', reason: 'too much' },
      { tool: 'transfer', when: { to: 'mallory' }, action: 'deny' },
      { tool: 'transfer', action: 'require_approval' },
      { tool: 'transfer', action: 'rate_limit', rate: { calls: 1, windowMs: 3_600_000, per: 'tenant' } },
    ],
  });
  const { ref, callIds } = await waiting("return await tools.transfer({ to: 'bob', amount: 1 })");
  const approve = (args: Record<string, unknown>) => opened.engine.decide(ref, callIds[0] as string, { action: 'approve', arguments: args }, 'ann');
  await expect(approve({ to: 'bob', amount: 5000 })).rejects.toMatchObject({ code: 'policy_violation', message: expect.stringContaining('too much') });
  await expect(approve({ to: ' MALLORY', amount: 1 })).rejects.toMatchObject({ code: 'policy_violation', message: expect.stringContaining('rule 2 of the server') });
  await expect(approve({ to: 'bob', amount: 'all' })).rejects.toMatchObject({ code: 'invalid_request' });
  await expect(approve({ to: 'bob' })).rejects.toMatchObject({ code: 'invalid_request' });
  expect(made).toEqual([]);
  await approve({ to: 'Carol', amount: 900 });
  expect((await opened.engine.wait(ref, 60_000)).output).toBe(900);
  expect(made).toEqual([{ to: 'carol', amount: 900 }]);
});

test('of decisions at the same moment one holds, and the tool is called at most once', async () => {
  const made: unknown[] = [];
  opened = await openEngine({ tools: [{ ...transfer(made), requiresApproval: true }] });
  const { ref, callIds } = await waiting("try { return await tools.transfer({ to: 'bob', amount: 1 }) } catch (error) { return error.toolErrorName }");
  const decisions = [
    ...[{ action: 'reject' as const }, { action: 'approve' as const }, { action: 'approve' as const, arguments: { to: 'eve', amount: 2 } }],
    ...[{ action: 'approve' as const }, { action: 'reject' as const, reason: 'no' }],
  ];
  const settled = await Promise.allSettled(decisions.map((decision, i) => opened.engine.decide(ref, callIds[0] as string, decision, `person ${i}`)));
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected', 'rejected']);
  expect((await opened.engine.wait(ref, 60_000)).output).toBe('ApprovalRejected');
  expect(made).toEqual([]);
});

test('a call counts whoever has decided about it, also one who is called as policy is', async () => {
  opened = await openEngine({ tools: [{ name: 'ask', execute: () => 1 }], policy: [{ tool: 'ask', action: 'require_approval' }] });
  const { taskId } = await opened.engine.submit(TENANT, {
    ...{ language: 'javascript', code: 'await tools.ask({}); try { await tools.ask({}) } catch (error) { return error.toolErrorName }' },
    policy: [{ tool: 'ask', calls: { gte: 1 }, action: 'deny' }],
  });
  const ref = { tenant: TENANT, taskId };
  const { waitingFor } = await opened.engine.wait(ref, 60_000);
  await opened.engine.decide(ref, waitingFor[0]?.callId as string, { action: 'approve' }, 'policy');
  expect(await opened.engine.wait(ref, 60_000)).toMatchObject({ status: 'succeeded', output: 'PolicyViolation' });
});

test('a program hides nothing from rules in maps, lists, names with dots, or what a schema makes of it', async () => {
  const made: unknown[] = [];
  opened = await openEngine({ tools: [transfer(made), { name: 'mail', execute: (args) => made.push(args) }], policy: [{ tool: '*', when: { to: 'mallory' }, action: 'deny' }] });
  await opened.policy.set(TENANT, [{ tool: 'mail', when: { 'to.name': 'mallory' }, action: 'deny' }]);
  const code = `
const tries = [
  () => tools.transfer({ to: ' Mallory ', amount: 1 }), () => tools.mail({ to: ['mallory'] }), () => tools.mail({ to: new Set(['mallory']) }),
  () => tools.mail({ to: new Map([['name', 'mallory']]) }), () => tools.mail({ 'to.name': 'bob', to: { name: 'mallory' } }), () => tools.mail({ to: [{ name: 'mallory' }] }),
];
const seen = [];
for (const one of tries) try { await one(); seen.push('done'); } catch (error) { seen.push(error.toolErrorName); }
return seen;`;
  const { taskId } = await opened.engine.submit(TENANT, { language: 'javascript', code, policy: [{ tool: '*', action: 'allow' }] });
  expect((await opened.engine.wait({ tenant: TENANT, taskId }, 60_000)).output).toEqual(Array(6).fill('PolicyViolation'));
  expect(made).toEqual([]);
});
