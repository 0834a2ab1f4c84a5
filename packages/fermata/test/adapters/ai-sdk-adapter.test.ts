/** `fermata/ai-sdk`: one code tool in the AI SDK's own loops, against a model over HTTP. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, type ModelMessage, streamText, tool, wrapLanguageModel } from 'ai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { codeApprovals, codeTool, codeWaits, waitingCode } from '../../src/adapters/ai-sdk.ts';
import { PAYING, PAYS, PROGRAMS, REPAIRS, RESULT, SEAL, serve, shop } from './programs.ts';

const modelAt = (url: string) => createOpenAICompatible({ name: 'scripted', baseURL: `${url}/v1`, apiKey: 'none' })('scripted');
const given = { toolCallId: 'c', messages: [], context: {} };

function toolsOf({ price, pay }: ReturnType<typeof shop>) {
  return {
    price: tool({ description: price.description, inputSchema: price.schema, execute: price.execute }),
    pay: tool({ description: pay.description, inputSchema: pay.schema, needsApproval: ({ amount }) => amount > 10, execute: pay.execute }),
  };
}

describe.each(['javascript', 'python'] as const)('a program in %s', (language) => {
  test('calls the tools one after the other and side by side, and catches what they throw', async () => {
    const { did, most, ...tools } = shop();
    const outcome = await codeTool(toolsOf({ did, most, ...tools })).execute({ language, code: PROGRAMS[language] }, given);
    expect(outcome).toMatchObject({ status: 'succeeded', text: RESULT });
    expect([...did].sort()).toEqual(['price gold', 'price milk', 'price rice', 'price tea']);
    expect(most.open).toBe(2);
  });
});

test('what is wrong with a program is told to the model with its line, and the next one is right', async () => {
  await using server = await serve(REPAIRS);
  const shopped = shop();
  const { text, steps } = await generateText({ model: modelAt(server.url), tools: { code: codeTool(toolsOf(shopped)) }, prompt: 'What do they cost?', stopWhen: isStepCount(5) });
  expect(text).toBe('Tea costs 3.');
  expect(steps.flatMap(({ content }) => content).filter(({ type }) => type === 'tool-error')).toEqual([]);
  server.check();
});

test('a tool is given what the SDK gives to tools: its parsed input, context, messages, an id of the call and the signal', async () => {
  const seen: unknown[] = [];
  const tools = {
    find: tool({
      inputSchema: z.object({ name: z.string().transform((name) => name.toUpperCase()), limit: z.number().default(3) }),
      contextSchema: z.object({ key: z.string() }),
      execute: (input, { toolCallId, messages, context, abortSignal }) => {
        seen.push(input, toolCallId, messages.length, context.key, abortSignal instanceof AbortSignal);
        return [input.name];
      },
    }),
    watch: tool({
      inputSchema: z.object({}),
      execute: async function* () {
        yield 1;
        yield 2;
      },
    }),
  };
  await using server = await serve([
    { reply: { calls: [{ name: 'code', arguments: { language: 'javascript', code: 'return [await tools.find({ name: "ann" }), await tools.watch({})]' } }] } },
    { expect: '[["ANN"],2]', reply: 'Found.' },
  ]);
  const { text } = await generateText({
    model: modelAt(server.url),
    tools: { code: codeTool(tools) },
    toolsContext: { code: { find: { key: 'secret' } } },
    prompt: 'Find her',
    stopWhen: isStepCount(3),
  });
  expect(text).toBe('Found.');
  expect(seen).toEqual([{ name: 'ANN', limit: 3 }, expect.stringMatching(/:1$/), 1, 'secret', true]);
});

test('a program that waits is in the messages, and goes on from them alone: each effect once, answers in any order', async () => {
  const first = shop();
  await using server = await serve(PAYS);
  const options = { sealKey: SEAL };
  const prompt: ModelMessage[] = [{ role: 'user', content: 'Pay' }];
  const result = await generateText({ model: modelAt(server.url), tools: { code: codeTool(toolsOf(first), options) }, messages: prompt, stopWhen: [codeWaits, isStepCount(5)] });
  const kept = JSON.stringify([...prompt, ...result.responseMessages]);
  expect(first.did).toEqual(['price tea']);

  const then = shop();
  const code = codeTool(toolsOf(then), options);
  let messages: ModelMessage[] = JSON.parse(kept);
  const waiting = waitingCode(messages);
  expect(waiting).toMatchObject([
    { tool: 'pay', arguments: { amount: 20 }, kind: 'approval' },
    { tool: 'pay', arguments: { amount: 30 }, kind: 'approval' },
  ]);
  const [twenty, thirty] = waiting.map(({ id }) => id) as [string, string];
  messages = JSON.parse(JSON.stringify(await code.resume({ messages, answers: { [thirty]: { approve: false, reason: 'too much' } } })));
  messages = JSON.parse(JSON.stringify(await code.resume({ messages, answers: { [twenty]: { approve: true } } })));
  const [forty] = waitingCode(messages);
  expect(forty).toMatchObject({ arguments: { amount: 40 } });
  messages = await code.resume({ messages, answers: { [forty?.id as string]: { approve: true } } });
  expect(waitingCode(messages)).toEqual([]);
  expect(then.did).toEqual(['pay 20', 'pay 40']);
  const { text } = await generateText({ model: modelAt(server.url), tools: { code }, messages });
  expect(text).toBe('All is paid.');
  expect(server.requests.map(({ body }) => JSON.stringify(body)).join()).not.toContain('fermata');
});

test('an answer to nothing, arguments that were changed on their way, and a state of another key or another user are refused', async () => {
  const shopped = shop();
  const tools = toolsOf(shopped);
  const code = codeTool(tools, { sealKey: SEAL, boundTo: 'ann' });
  const outcome = await code.execute({ language: 'javascript', code: 'return await tools.pay({ amount: 500 })' }, given);
  const output = await code.toModelOutput?.({ toolCallId: 'c', input: { language: 'javascript', code: '' }, output: outcome });
  const messages = [{ role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c', toolName: 'code', output }] }] as ModelMessage[];
  const answers = { 'c:1': { approve: true as const } };
  await expect(code.resume({ messages, answers: { 'c:2': { approve: true } } })).rejects.toMatchObject({ code: 'invalid_request', message: expect.stringContaining('c:1') });
  await expect(code.resume({ messages, answers: { ...answers, 'c:2': { approve: true } } })).rejects.toMatchObject({ code: 'invalid_request' });
  const changed = JSON.parse(JSON.stringify(messages).replace('"amount":500', '"amount":5'));
  await expect(code.resume({ messages: changed, answers })).rejects.toMatchObject({ code: 'invalid_request' });
  await expect(codeTool(tools, { sealKey: SEAL, boundTo: 'bob' }).resume({ messages, answers })).rejects.toMatchObject({ code: 'checkpoint_invalid' });
  const other = { id: SEAL.id, key: new Uint8Array(32).fill(6) };
  await expect(codeTool(tools, { sealKey: other, boundTo: 'ann' }).resume({ messages, answers })).rejects.toMatchObject({ code: 'checkpoint_invalid' });
  expect(shopped.did).toEqual([]);
  expect(waitingCode(await code.resume({ messages, answers }))).toEqual([]);
});

test.each([false, true])("an approval inside of a program is the SDK's own, and no model is asked for it; streamed: %s", async (stream) => {
  const shopped = shop();
  await using server = await serve(PAYS);
  const code = () => codeTool(toolsOf(shopped), { sealKey: SEAL });
  let messages: ModelMessage[] = [{ role: 'user', content: 'Pay' }];
  const ask = async () => {
    const model = wrapLanguageModel({ model: modelAt(server.url), middleware: codeApprovals() });
    const settings = { model, tools: { code: code() }, messages, stopWhen: isStepCount(8) };
    const result = stream ? streamText(settings) : await generateText(settings);
    const [content, text, told] = [await result.content, await result.text, await result.responseMessages];
    messages = JSON.parse(JSON.stringify([...messages, ...told]));
    return { text, requests: content.flatMap((part) => (part.type === 'tool-approval-request' ? [part] : [])) };
  };
  const asked: unknown[] = [];
  let said = await ask();
  while (said.requests.length > 0 && asked.length < 9) {
    const [request] = said.requests;
    const { call } = (request as NonNullable<typeof request>).toolCall.input as unknown as { call: { tool: string; arguments: { amount: number } } };
    asked.push([call.tool, call.arguments.amount]);
    const approved = call.arguments.amount !== 30;
    messages.push({
      role: 'tool',
      content: [{ type: 'tool-approval-response', approvalId: request?.approvalId as string, approved, ...(approved ? {} : { reason: 'too much' }) }],
    });
    said = await ask();
  }
  expect(asked).toEqual([
    ['pay', 20],
    ['pay', 30],
    ['pay', 40],
  ]);
  expect(said.text).toBe('All is paid.');
  expect(shopped.did).toEqual(['price tea', 'pay 20', 'pay 40']);
  expect(server.requests).toHaveLength(2);
});

test('`toolApproval` judges the calls of programs as it judges those of a model, and may deny them', async () => {
  const { did, ...tools } = shop();
  const code = codeTool(toolsOf({ did, ...tools }), {
    toolApproval: { pay: ({ amount }) => (amount === 20 ? 'approved' : amount === 30 ? { type: 'denied', reason: 'over the budget' } : undefined), price: 'not-applicable' },
  });
  expect(await code.execute({ language: 'javascript', code: PAYING }, given)).toMatchObject({
    status: 'succeeded',
    output: [3, 'paid 20', 'the call of pay was rejected: over the budget', 'paid 40'],
  });
});

test('a tool without `execute` is carried out by the app, and the program goes on with what it answers', async () => {
  const code = codeTool({ locate: tool({ inputSchema: z.object({}), outputSchema: z.object({ city: z.string() }) }) });
  const outcome = await code.execute({ language: 'javascript', code: 'return (await tools.locate({})).city' }, given);
  expect(outcome).toMatchObject({ status: 'waiting', waitingFor: [{ tool: 'locate', kind: 'client_tool' }] });
  const output = await code.toModelOutput?.({ toolCallId: 'c', input: { language: 'javascript', code: '' }, output: outcome });
  const [message] = await code.resume({
    messages: [{ role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c', toolName: 'code', output: output as never }] }],
    answers: { 'c:1': { output: { city: 'Oslo' } } },
  });
  expect(message?.content).toMatchObject([{ output: { type: 'text', value: 'Oslo' } }]);
});

test('an abort ends the program and its calls, and rejects with the reason', async () => {
  const abort = new AbortController();
  let signal: AbortSignal | undefined;
  const tools = {
    wait: tool({
      inputSchema: z.object({}),
      execute: (_input, options) =>
        new Promise(() => {
          signal = options.abortSignal;
          abort.abort(new Error('enough'));
        }),
    }),
  };
  await expect(codeTool(tools).execute({ language: 'javascript', code: 'await tools.wait({})' }, { ...given, abortSignal: abort.signal })).rejects.toThrow('enough');
  expect(signal?.aborted).toBe(true);
});

test('many tools are looked up by the program, not read by the model', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 300 }, (_, n) => [
      `find_${n}`,
      tool({ description: `Finds things of kind ${n}`, inputSchema: z.object({ name: z.string().describe('What it is called, as people call it') }), execute: () => n }),
    ]),
  );
  const code = codeTool(many);
  expect(String(code.description).length).toBeLessThan(5000);
  const outcome = await code.execute(
    { language: 'python', code: 'found = tools.search(query="kind 123")\ntools.describe(name=found[0]["name"])["parameters"]["required"], tools.find_123(name="x")' },
    given,
  );
  expect(outcome).toMatchObject({ status: 'succeeded', output: [['name'], 123] });
});
