/** `fermata/openai-agents`: one code tool for an agent of the OpenAI Agents SDK, against a model over HTTP. */
import { Agent, OpenAIProvider, Runner, RunState, setTracingDisabled, tool } from '@openai/agents';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { codeTool } from '../../src/adapters/openai-agents.ts';
import { PAYS, PROGRAMS, REPAIRS, RESULT, SEAL, serve, shop } from './programs.ts';

setTracingDisabled(true);

function toolsOf({ price, pay }: ReturnType<typeof shop>) {
  return [
    tool({ name: 'price', description: price.description, parameters: price.schema, errorFunction: null, execute: price.execute }),
    tool({ name: 'pay', description: pay.description, parameters: pay.schema, needsApproval: async (_context, { amount }) => amount > 10, execute: pay.execute }),
  ];
}

const agentOf = (code: ReturnType<typeof codeTool>) => new Agent({ name: 'shopper', instructions: 'Be brief.', model: 'scripted', tools: [code] });
const runnerAt = (url: string, useResponses = false) => new Runner({ modelProvider: new OpenAIProvider({ apiKey: 'none', baseURL: `${url}/v1`, useResponses }) });
const oneProgram = (language: string, code: string) => [{ reply: { calls: [{ name: 'code', arguments: { language, code } }] } }, { reply: 'Done.' }];

describe.each(['javascript', 'python'] as const)('a program in %s', (language) => {
  test('calls the tools one after the other and side by side, and catches what they throw', async () => {
    await using server = await serve(oneProgram(language, PROGRAMS[language]));
    const shopped = shop();
    const { finalOutput } = await runnerAt(server.url).run(agentOf(codeTool(toolsOf(shopped))), 'Go');
    expect(finalOutput).toBe('Done.');
    expect(JSON.stringify(server.requests.at(-1)?.asked)).toContain(JSON.stringify(RESULT).slice(1, -1));
    expect([...shopped.did].sort()).toEqual(['price gold', 'price milk', 'price rice', 'price tea']);
    expect(shopped.most.open).toBe(2);
  });
});

test('what is wrong with a program is told to the model with its line, and the next one is right', async () => {
  await using server = await serve(REPAIRS);
  const { finalOutput } = await runnerAt(server.url).run(agentOf(codeTool(toolsOf(shop()))), 'What do they cost?');
  expect(finalOutput).toBe('Tea costs 3.');
  server.check();
});

test.each([false, true])(
  'a call that needs approval is an interruption of the run, which goes on elsewhere from its state: each effect once; responses: %s',
  async (useResponses) => {
    await using server = await serve(PAYS);
    const shopped = shop();
    // Nothing but the text of the state is the same in the next one.
    const agent = () => agentOf(codeTool(toolsOf(shopped), { sealKey: SEAL }));
    let result = await runnerAt(server.url, useResponses).run(agent(), 'Pay');
    const asked: unknown[] = [];
    while (result.interruptions.length > 0 && asked.length < 9) {
      const text = result.state.toString();
      const next = agent();
      const state = await RunState.fromString<undefined, typeof next>(next, text);
      for (const interruption of state.getInterruptions()) {
        const { amount } = JSON.parse(interruption.arguments ?? '') as { amount: number };
        asked.push([interruption.name, amount]);
        if (amount === 30) state.reject(interruption, { message: 'rejected: too much' });
        else state.approve(interruption);
      }
      result = await runnerAt(server.url, useResponses).run(next, state);
    }
    expect(asked).toEqual([
      ['pay', 20],
      ['pay', 30],
      ['pay', 40],
    ]);
    expect(result.finalOutput).toBe('All is paid.');
    expect(shopped.did).toEqual(['price tea', 'pay 20', 'pay 40']);
    expect(server.requests).toHaveLength(2);
    server.check();
  },
);

test('two programs side by side have approvals of their own', async () => {
  const pay = (amount: number) => ({ name: 'code', arguments: { language: 'javascript', code: `return await tools.pay({ amount: ${amount} })` } });
  await using server = await serve([{ reply: { calls: [pay(20), pay(30)] } }, { expect: ['paid 20', 'not approved'], reply: 'Done.' }]);
  const shopped = shop();
  const agent = agentOf(codeTool(toolsOf(shopped)));
  const first = await runnerAt(server.url).run(agent, 'Pay');
  for (const interruption of first.interruptions) {
    if (interruption.arguments?.includes('20')) first.state.approve(interruption);
    else first.state.reject(interruption);
  }
  const { finalOutput } = await runnerAt(server.url).run(agent, first.state);
  expect([finalOutput, shopped.did]).toEqual(['Done.', ['pay 20']]);
});

test("a tool has the run's context, may be switched off, and may be too slow; an error that it does not tell is an exception all the same", async () => {
  const tools = [
    tool({ name: 'whoami', description: '', parameters: z.object({}), execute: (_input, context) => (context as { context: { user: string } }).context.user }),
    tool({ name: 'off', description: '', parameters: z.object({}), isEnabled: false, execute: () => 1 }),
    tool({ name: 'slow', description: '', parameters: z.object({}), timeoutMs: 20, execute: () => new Promise<string>(() => {}) }),
    tool({ name: 'broken', description: '', parameters: z.object({}), execute: () => Promise.reject(new Error('a secret')) }),
  ];
  const code = 'const said = (name) => tools[name]({}).catch((error) => error.message);\nreturn await Promise.all([tools.whoami({}), ...["off", "slow", "broken"].map(said)])';
  await using server = await serve([
    { reply: { calls: [{ name: 'code', arguments: { language: 'javascript', code } }] } },
    { expect: ['["ann",', 'not enabled', 'timed out', 'does not tell why'], reply: 'Done.' },
  ]);
  const { finalOutput } = await runnerAt(server.url).run(agentOf(codeTool(tools)), 'Go', { context: { user: 'ann' } });
  expect(finalOutput).toBe('Done.');
});

test('a state that was sealed with another key does not go on, and the model is told not to try again', async () => {
  await using server = await serve([PAYS[0] as (typeof PAYS)[number], { expect: ['cannot go on', 'do not run it again'], reply: 'It is lost.' }]);
  const shopped = shop();
  const first = await runnerAt(server.url).run(agentOf(codeTool(toolsOf(shopped), { sealKey: SEAL })), 'Pay');
  const other = agentOf(codeTool(toolsOf(shopped), { sealKey: { id: SEAL.id, key: new Uint8Array(32) } }));
  const state = await RunState.fromString(other, first.state.toString());
  for (const interruption of state.getInterruptions()) state.reject(interruption);
  expect((await runnerAt(server.url).run(other, state)).finalOutput).toBe('It is lost.');
});

test('an abort ends the run, its program and its calls', async () => {
  const abort = new AbortController();
  const wait = tool({
    name: 'wait',
    description: '',
    parameters: z.object({}),
    execute: (_input, _context, details) =>
      new Promise<string>((_done, reject) => {
        details?.signal?.addEventListener('abort', () => reject(details.signal?.reason));
        abort.abort(new Error('enough'));
      }),
  });
  await using server = await serve([oneProgram('javascript', 'await tools.wait({})')[0] as never]);
  await expect(runnerAt(server.url).run(agentOf(codeTool([wait])), 'Go', { signal: abort.signal })).rejects.toThrow();
});

test('what no program can call is refused when the code tool is made', () => {
  expect(() => codeTool([{ type: 'hosted_tool', name: 'web_search' }])).toThrow('function tools only');
});
