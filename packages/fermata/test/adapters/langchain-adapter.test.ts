/** `fermata/langchain`: one code tool in a graph of LangGraph's, against a model over HTTP. */
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { Command, interrupt, MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type CodeDecisions, type CodeInterrupt, codeTool } from '../../src/adapters/langchain.ts';
import { PAYING, PAYS, PROGRAMS, REPAIRS, RESULT, SEAL, serve, shop } from './programs.ts';

function toolsOf({ price, pay }: ReturnType<typeof shop>) {
  return [
    tool(price.execute, { name: 'price', description: price.description, schema: price.schema }),
    tool(pay.execute, { name: 'pay', description: pay.description, schema: pay.schema }),
  ];
}

function graphOf(url: string, code: ReturnType<typeof codeTool>, checkpointer = new MemorySaver()) {
  const model = new ChatOpenAI({ model: 'scripted', apiKey: 'none', maxRetries: 0, configuration: { baseURL: `${url}/v1` } }).bindTools([code]);
  return new StateGraph(MessagesAnnotation)
    .addNode('agent', async ({ messages }) => ({ messages: await model.invoke(messages) }))
    .addNode('tools', new ToolNode([code]))
    .addEdge('__start__', 'agent')
    .addConditionalEdges('agent', toolsCondition)
    .addEdge('tools', 'agent')
    .compile({ checkpointer });
}

const thread = { configurable: { thread_id: '1' } };
const asked = (state: object) => ((state as { __interrupt__?: { value?: unknown }[] }).__interrupt__ ?? []).map(({ value }) => value as CodeInterrupt);
const resume = (...decisions: CodeDecisions['decisions']) => new Command({ resume: { decisions } }) as never;

describe.each(['javascript', 'python'] as const)('a program in %s', (language) => {
  test('calls the tools one after the other and side by side, and catches what they throw', async () => {
    const shopped = shop();
    expect(await codeTool(toolsOf(shopped)).invoke({ language, code: PROGRAMS[language] })).toBe(RESULT);
    expect([...shopped.did].sort()).toEqual(['price gold', 'price milk', 'price rice', 'price tea']);
    expect(shopped.most.open).toBe(2);
  });
});

test('what is wrong with a program is told to the model with its line, and the next one is right', async () => {
  await using server = await serve(REPAIRS);
  const { messages } = await graphOf(server.url, codeTool(toolsOf(shop()))).invoke({ messages: [new HumanMessage('What do they cost?')] }, thread);
  expect(messages.at(-1)?.content).toBe('Tea costs 3.');
  server.check();
});

test('a call that needs approval interrupts the graph, which goes on elsewhere from its checkpoint: each effect once', async () => {
  await using server = await serve(PAYS);
  const shopped = shop();
  const options = { sealKey: SEAL, interruptOn: { pay: true } };
  const checkpointer = new MemorySaver();
  // Nothing but the checkpointer is the same in the next call.
  const go = (input: Parameters<ReturnType<typeof graphOf>['invoke']>[0]) => graphOf(server.url, codeTool(toolsOf(shopped), options), checkpointer).invoke(input, thread);
  const [first] = asked(await go({ messages: [new HumanMessage('Pay')] }));
  expect(first).toMatchObject({
    actionRequests: [
      { name: 'pay', args: { amount: 20 } },
      { name: 'pay', args: { amount: 30 } },
    ],
    reviewConfigs: [{ actionName: 'pay' }],
  });
  expect(shopped.did).toEqual(['price tea']);
  const [second] = asked(await go(resume({ type: 'approve' }, { type: 'reject', message: 'too much' })));
  expect(second?.actionRequests).toMatchObject([{ args: { amount: 40 } }]);
  const last = await go(resume({ type: 'edit', editedAction: { name: 'pay', args: { amount: 400 } } }));
  expect(last.messages.map(({ content }) => content)).toEqual(['Pay', '', '[3,"paid 20","the call of pay was rejected: too much","paid 400"]', 'All is paid.']);
  expect(shopped.did).toEqual(['price tea', 'pay 20', 'pay 400']);
  expect(server.requests).toHaveLength(2);
});

test('a tool that interrupts the graph by itself does so inside of a program, too, and is answered there', async () => {
  const shopped = shop();
  const ask = tool(({ question }) => `${interrupt({ question })}!`, { name: 'ask', description: 'Asks the user', schema: z.object({ question: z.string() }) });
  const program = 'const tea = await tools.price({ product: "tea" });\nreturn [tea.price, await Promise.all([tools.ask({ question: "who?" }), tools.price({ product: "rice" })])]';
  const call = new AIMessage({ content: '', tool_calls: [{ id: 'c1', name: 'code', args: { language: 'javascript', code: program } }] });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('tools', new ToolNode([codeTool([...toolsOf(shopped), ask])]))
    .addEdge('__start__', 'tools')
    .compile({ checkpointer: new MemorySaver() });
  expect(asked(await graph.invoke({ messages: [call] }, thread))).toEqual([{ question: 'who?' }]);
  const { messages } = await graph.invoke(new Command({ resume: 'ann' }), thread);
  expect(messages.at(-1)?.content).toBe('[3,["ann!",{"product":"rice","price":4}]]');
  expect(shopped.did).toEqual(['price tea', 'price rice']);
});

test('decisions that do not fit are asked for again, and where nobody can be asked a call is rejected', async () => {
  const code = codeTool(toolsOf(shop()), { interruptOn: { pay: { allowedDecisions: ['approve'] } } });
  expect(await code.invoke({ language: 'javascript', code: PAYING })).toContain('nobody can be asked');
  const call = new AIMessage({ content: '', tool_calls: [{ id: 'c1', name: 'code', args: { language: 'javascript', code: PAYING } }] });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('tools', new ToolNode([code]))
    .addEdge('__start__', 'tools')
    .compile({ checkpointer: new MemorySaver() });
  const problems = [];
  for (const input of [{ messages: [call] }, resume({ type: 'approve' }), resume({ type: 'approve' }, { type: 'reject' }), resume({ type: 'approve' }, { type: 'approve' })]) {
    problems.push(asked(await graph.invoke(input, thread))[0]?.problem);
  }
  expect(problems).toEqual([undefined, expect.stringContaining('one for each of pay, pay'), 'decision 2, on pay, is to be approve', undefined]);
  expect(() => codeTool(toolsOf(shop()), { interruptOn: { pya: true } })).toThrow('there is no tool pya');
});

test('an abort ends the program and its calls', async () => {
  const abort = new AbortController();
  const wait = tool(() => new Promise<string>(() => abort.abort(new Error('enough'))), { name: 'wait', description: 'Waits', schema: z.object({}) });
  await expect(codeTool([wait]).invoke({ language: 'javascript', code: 'await tools.wait({})' }, { signal: abort.signal })).rejects.toThrow();
});
