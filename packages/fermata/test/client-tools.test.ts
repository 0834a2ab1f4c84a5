/** Tools that a task brings along: known to its program and to nobody else's, judged like others, and carried out by its client. */
import { withSafeNames } from '@fermata/tools/registry';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenEngine, openEngine } from '../src/open-engine.ts';

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
const weather = { name: 'get_weather', originalName: 'get-weather', description: 'The weather of a city', parameters };

let opened: OpenEngine;
beforeAll(async () => {
  const registered = { name: 'lookup', parameters: { type: 'object', properties: { key: { type: 'string' } } }, execute: () => 'of the tenant' } as const;
  opened = await openEngine({
    tools: [registered],
    policy: [
      { tool: 'wipe', action: 'deny' },
      { tool: 'pay', action: 'require_approval' },
    ],
  });
});
afterAll(() => opened.close());

const tenant = 'ours';
const WAIT_MS = 60_000;
const submit = (code: string, clientTools: object[], more: object = {}) =>
  opened.engine.submit(tenant, { language: 'javascript', code, clientTools: clientTools as never, ...more });
const settled = async (taskId: string) => opened.engine.wait({ tenant, taskId }, WAIT_MS);

test('a program calls them, several at once, and its client brings the results in any order', async () => {
  const { taskId } = await submit("return await Promise.all(['Oslo', 'Lima'].map((city) => tools.get_weather({ city })))", [weather]);
  const { status, waitingFor } = await settled(taskId);
  expect(status).toBe('waiting');
  expect(waitingFor).toMatchObject([
    { tool: 'get_weather', originalTool: 'get-weather', arguments: { city: 'Oslo' }, kind: 'client_tool' },
    { tool: 'get_weather', originalTool: 'get-weather', arguments: { city: 'Lima' }, kind: 'client_tool' },
  ]);
  for (const { callId, arguments: args } of waitingFor.toReversed()) {
    await opened.engine.decide({ tenant, taskId }, callId as string, { action: 'result', output: `weather of ${(args as { city: string }).city}` }, 'client');
  }
  expect(await settled(taskId)).toMatchObject({ status: 'succeeded', output: ['weather of Oslo', 'weather of Lima'] });
});

test('the program is checked against them, and so are the arguments of each call', async () => {
  const { taskId } = await submit("return await tools.get_weather({ town: 'Oslo' })", [weather]);
  expect(await settled(taskId)).toMatchObject({ status: 'failed', error: { code: 'invalid_arguments' } });
  const hidden = await submit("const name = 'get_weather';\nconst args = { ['to' + 'wn']: 1 };\nreturn await tools[name](args)", [weather]);
  expect(await settled(hidden.taskId)).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('get_weather') } });
  const unknown = await submit('return await tools.get_whether({})', [weather]);
  expect(await settled(unknown.taskId)).toMatchObject({ status: 'failed', error: { code: 'unknown_tool' } });
});

test('one with the name of a registered tool takes its place in this task, and in no other', async () => {
  const own = { name: 'lookup', description: 'of the task' };
  const { taskId } = await submit('return [await tools.describe({ name: "lookup" }), await tools.lookup({})]', [own]);
  const { waitingFor } = await settled(taskId);
  expect(waitingFor).toMatchObject([{ tool: 'lookup', kind: 'client_tool' }]);
  await opened.engine.decide({ tenant, taskId }, waitingFor[0]?.callId as string, { action: 'result', output: 1 }, 'client');
  expect(await settled(taskId)).toMatchObject({ output: [{ name: 'lookup', description: 'of the task' }, 1] });
  const other = await submit('return await tools.lookup({ key: "a" })', []);
  expect(await settled(other.taskId)).toMatchObject({ output: 'of the tenant' });
});

test('the patterns of a task say nothing of them, and policy judges them by their names', async () => {
  const { taskId } = await submit('try { await tools.wipe({}) } catch (error) { return error.message }', [{ name: 'wipe' }], { tools: [] });
  expect(await settled(taskId)).toMatchObject({ status: 'succeeded', output: expect.stringContaining('denied') });
});

test('a call that was approved with other arguments waits for its client with these', async () => {
  const { taskId } = await submit('return await tools.pay({ amount: 1 })', [{ name: 'pay', parameters: { type: 'object', properties: { amount: { type: 'number' } } } }]);
  const [asked] = (await settled(taskId)).waitingFor;
  expect(asked).toMatchObject({ kind: 'approval', arguments: { amount: 1 } });
  const ref = { tenant, taskId };
  await expect(opened.engine.decide(ref, asked?.callId as string, { action: 'result', output: 1 }, 'client')).rejects.toMatchObject({ code: 'invalid_state' });
  await opened.engine.decide(ref, asked?.callId as string, { action: 'approve', arguments: { amount: 2 } }, 'a person');
  expect((await opened.engine.task(ref)).waitingFor).toMatchObject([{ kind: 'client_tool', arguments: { amount: 2 } }]);
  await opened.engine.cancel(ref);
});

test('a request whose tools cannot be called is refused, and nothing is made', async () => {
  for (const [clientTools, message] of [
    [[{ name: 'a b' }], /cannot be the name/],
    [[{ name: 'a' }, { name: 'a' }], /two client tools/],
    [[{ name: 'a', parameters: { type: 'string' } }], /JSON Schema of an object/],
    [[{ name: 'a', parametres: {} }], /did you mean "parameters"/],
  ] as const) {
    await expect(submit('return 1', [...clientTools])).rejects.toMatchObject({ code: 'invalid_request', message: expect.stringMatching(message) });
  }
});

test('names that programs cannot call become ones that they can, with the original kept', () => {
  expect(withSafeNames([{ name: 'get-weather' }, { name: 'crm.find' }, { name: 'from' }, { name: '2nd' }])).toEqual([
    { name: 'get_weather', originalName: 'get-weather' },
    { name: 'crm.find' },
    { name: 'from_', originalName: 'from' },
    { name: 'n_2nd', originalName: '2nd' },
  ]);
  expect(() => withSafeNames([{ name: 'get-weather' }, { name: 'get_weather' }])).toThrow('both become get_weather');
});
