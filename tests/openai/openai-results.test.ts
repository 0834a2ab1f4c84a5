/** Results of tool calls that come twice, late, in part, in another order, for calls of others or of nobody: each has one outcome, and nothing is done twice. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, jsonSchema, tool } from 'ai';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Chat, type ChatWorld, chatWorld, result, TOOLS, writes } from './chat-world.ts';

const STEPS = [
  writes('pair', 'const [a, b] = await Promise.all([tools.first({ x: 1 }), tools.second({ x: 2 })]);\nconst c = await tools.third({ x: [a, b] });\nreturn { a, b, c };'),
  writes('caught', 'try { return await tools.first({}) } catch (error) { return [error.name, error.message] }'),
  writes('values', 'return await tools.first({ x: new Date(0) })'),
  writes('paid', 'return await tools.pay({ x: 1 })'),
  writes('slow', 'await sleep(0.4);\nreturn await tools.first({ x: 1 })'),
  writes('hopeless', 'throw new Error("no way")'),
  writes('nothing', 'return 42'),
  { when: { has: ['(hello)'], functions: ['run_program'] }, expect: 'reply with the answer itself', times: 'any' as const, reply: 'Hello! What can I do?' },
];

let world: ChatWorld;
beforeAll(async () => {
  world = await chatWorld(STEPS, { chatWaitMs: 200, heartbeatMs: 20 }, { policy: [{ tool: 'pay', action: 'require_approval' }] });
});
afterAll(() => world[Symbol.asyncDispose]());

const chat = (question: string) => new Chat(world.client, question);
const billed = () => world.model.billed.requests;
/** A question of the pair, asked. */
async function pair() {
  const asked = await chat('the (pair)').ask();
  const [first, second] = asked.calls;
  return { asked, first: first?.id as string, second: second?.id as string, task: { tenant: 'ours', taskId: asked.taskId as string } };
}
const refused = (status: number, code: string) => expect.objectContaining({ status, code });

describe('a turn', () => {
  test('asks for calls that the program made at once, and goes on when their results are there, in whatever order', async () => {
    const { asked, first, second } = await pair();
    expect(asked.calls.map(({ name, args }) => [name, args])).toEqual([
      ['first', { x: 1 }],
      ['second', { x: 2 }],
    ]);
    expect(asked.completion.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    const next = await asked.next.with([result(second, 'two'), result(first, { n: 1 })]).ask();
    expect(next.calls).toMatchObject([{ name: 'third', args: { x: [{ n: 1 }, 'two'] } }]);
    const last = await next.next.with([result(next.calls[0]?.id as string, '3')]).ask();
    expect(last.text).toBe('It is {"a":{"n":1},"b":"two","c":3}.');
    expect(last.completion.choices[0]?.finish_reason).toBe('stop');
    expect([asked.taskId, next.taskId, last.taskId]).toEqual(Array(3).fill(asked.taskId));
  });

  test('says what models were paid for in it', async () => {
    const before = { ...world.model.billed };
    const { asked, first, second } = await pair();
    expect(asked.completion.usage).toMatchObject({
      prompt_tokens: world.model.billed.inputTokens - before.inputTokens,
      completion_tokens: world.model.billed.outputTokens - before.outputTokens,
    });
    const next = await asked.next.with([result(first, '1'), result(second, '2')]).ask();
    expect(next.completion.usage).toEqual({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
    const between = { ...world.model.billed };
    const last = await next.next.with([result(next.calls[0]?.id as string, '3')]).ask();
    expect(last.completion.usage?.prompt_tokens).toBe(world.model.billed.inputTokens - between.inputTokens);
  });

  test('has one call where the client wants no more', async () => {
    const one = await chat('the (pair)').ask({ parallel_tool_calls: false });
    expect(one.calls.map(({ name }) => name)).toEqual(['first']);
    const other = await one.next.with([result(one.calls[0]?.id as string, '1')]).ask({ parallel_tool_calls: false });
    expect(other.calls.map(({ name }) => name)).toEqual(['second']);
  });

  test('has arguments in plain JSON, whatever the program has put in', async () => {
    expect((await chat('(values)').ask()).calls).toMatchObject([{ args: { x: '1970-01-01T00:00:00.000Z' } }]);
  });

  test('is over at once where the program needs no call', async () => {
    expect((await chat('(nothing)').ask()).text).toBe('It is 42.');
  });

  test('is one reply of the model where that answers in words', async () => {
    const paid = billed();
    const { completion, text, taskId } = await chat('(hello)').ask();
    expect(text).toBe('Hello! What can I do?');
    expect(completion.choices[0]?.finish_reason).toBe('stop');
    expect(billed()).toBe(paid + 1);
    expect(await world.opened.engine.verify({ tenant: 'ours', taskId: taskId as string })).toMatchObject({ verified: true });
    const runner = world.client.chat.completions.stream({ model: 'writer', messages: chat('(hello)').messages, tools: TOOLS });
    expect(await runner.finalContent()).toBe(text);
  });
});

describe('results', () => {
  test('that are missing are asked for again', async () => {
    const { asked, first, second } = await pair();
    const again = await asked.next.with([result(second, '2')]).ask();
    expect(again.calls.map(({ id }) => id)).toEqual([first]);
    const next = await again.next.with([result(first, '1')]).ask();
    expect(next.calls).toMatchObject([{ name: 'third', args: { x: [1, 2] } }]);
  });

  test('that are sent again have the same answer as before, also when the chat has gone on, and cost nothing', async () => {
    const { asked, first, second } = await pair();
    const brought = asked.next.with([result(first, '1'), result(second, '2')]);
    const next = await brought.ask();
    expect((await brought.ask()).completion).toEqual(next.completion);
    const end = next.next.with([result(next.calls[0]?.id as string, '3')]);
    const last = await end.ask();
    const paid = billed();
    expect((await end.ask()).completion).toEqual(last.completion);
    expect((await brought.ask()).completion).toEqual(next.completion);
    expect(billed()).toBe(paid);
    expect(await world.opened.engine.calls({ tenant: 'ours', taskId: asked.taskId as string })).toHaveLength(3);
  });

  test('that are other ones than were recorded are refused, with all that came beside them', async () => {
    const { asked, first, second, task } = await pair();
    await asked.next.with([result(first, '1')]).ask();
    await expect(asked.next.with([result(second, '2'), result(first, '9')]).ask()).rejects.toEqual(refused(409, 'tool_result_conflict'));
    expect((await world.opened.engine.task(task)).waitingFor).toMatchObject([{ tool: 'second' }]);
    await expect(asked.next.with([result(second, '2'), result(second, '3')]).ask()).rejects.toEqual(refused(409, 'tool_result_conflict'));
    expect((await world.opened.engine.task(task)).waitingFor).toMatchObject([{ tool: 'second' }]);
  });

  test('of calls that nobody made, or others did, are refused, whoever knows what of them', async () => {
    const { asked, first, second, task } = await pair();
    const other = await pair();
    const callId = (await world.opened.engine.calls(task))[0]?.callId as string;
    for (const id of ['call_1', '', callId, task.taskId, `${first.slice(0, -1)}${first.endsWith('0') ? '1' : '0'}`]) {
      await expect(asked.next.with([result(id, '1')]).ask()).rejects.toEqual(refused(400, 'unknown_tool_call'));
    }
    const brought = asked.next.with([result(first, '1'), result(second, '2')]);
    await expect(brought.by(world.foreign).ask()).rejects.toEqual(refused(400, 'unknown_tool_call'));
    await expect(asked.next.with([result(first, '1'), result(other.second, '2')]).ask()).rejects.toEqual(refused(400, 'mixed_tool_calls'));
    expect((await world.opened.engine.task(task)).waitingFor).toHaveLength(2);
  });

  test('that come when the task is over say so', async () => {
    const { asked, first, second, task } = await pair();
    await world.opened.engine.cancel(task);
    await expect(asked.next.with([result(first, '1'), result(second, '2')]).ask()).rejects.toEqual(refused(409, 'task_cancelled'));
    await world.opened.engine.purge(task);
    await expect(asked.next.with([result(first, '1'), result(second, '2')]).ask()).rejects.toEqual(refused(400, 'unknown_tool_call'));
  });

  test('that are errors are exceptions in the program', async () => {
    const asked = await chat('(caught)').ask();
    const last = await asked.next.with([result(asked.calls[0]?.id as string, { error: 'no such city' })]).ask();
    expect(last.text).toBe('It is ["ToolError","no such city"].');
  });
});

describe('a first request', () => {
  test('with the same Idempotency-Key gets the same task, and another one none', async () => {
    const key = { 'idempotency-key': 'k-1' };
    const asked = await chat('the (pair)').ask({}, key);
    const paid = billed();
    expect((await chat('the (pair)').ask({}, key)).completion).toEqual(asked.completion);
    expect(billed()).toBe(paid);
    await expect(chat('another (pair)').ask({}, key)).rejects.toEqual(refused(409, 'conflict'));
    expect((await new Chat(world.foreign, 'the (pair)').ask({}, key)).taskId).not.toBe(asked.taskId);
  });

  test('whose task waits for a person is answered with what it waits for; sent again it goes on', async () => {
    const key = { 'idempotency-key': 'k-2' };
    const waiting = chat('to be (paid)').ask({}, key);
    await expect(waiting).rejects.toThrow(/the task chat_\w+ waits for the approval of pay/);
    await expect(waiting).rejects.toEqual(refused(409, 'task_waiting'));
    const [call] = (await world.opened.engine.inbox('ours')).items;
    await world.opened.engine.decide({ tenant: 'ours', taskId: call?.taskId as string }, call?.callId as string, { action: 'approve', arguments: { x: 2 } }, 'a person');
    const asked = await chat('to be (paid)').ask({}, key);
    expect(asked.calls).toMatchObject([{ name: 'pay', args: { x: 2 } }]);
    expect((await asked.next.with([result(asked.calls[0]?.id as string, 'paid')]).ask()).text).toBe('It is "paid".');
  });

  test('whose program cannot be made to work fails, with the reason and the task', async () => {
    await expect(chat('(hopeless)').ask()).rejects.toEqual(refused(500, 'guest_error'));
  });
});

test('another client, the AI SDK, does its steps by it as well', async () => {
  const provider = createOpenAICompatible({ name: 'fermata', baseURL: `${world.url}/v1`, apiKey: world.key });
  const made: string[] = [];
  const does = (name: string, value: number) =>
    tool({
      description: name,
      inputSchema: jsonSchema<{ x?: unknown }>({ type: 'object', properties: { x: {} } }),
      execute: async ({ x }) => {
        made.push(`${name} ${JSON.stringify(x)}`);
        return value;
      },
    });
  const tools = { first: does('first', 1), second: does('second', 2), third: does('third', 3) };
  const { text, steps } = await generateText({ model: provider('writer'), tools, prompt: 'the (pair)', stopWhen: isStepCount(5) });
  expect(text).toBe('It is {"a":1,"b":2,"c":3}.');
  expect(steps).toHaveLength(3);
  expect(made).toEqual(['first 1', 'second 2', 'third [1,2]']);
});

test('a server that closes says so, and when to come again', async () => {
  const closing = await chatWorld([writes('endless', 'await sleep(600);\nreturn 1')]);
  const asked = new Chat(closing.client, '(endless)').ask();
  const refusal = expect(asked).rejects.toMatchObject({ status: 503, message: expect.stringContaining('the task goes on when it is there again') });
  await expect.poll(() => closing.model.billed.requests, { timeout: 30_000 }).toBe(1);
  await closing[Symbol.asyncDispose]();
  await refusal;
});

describe('streamed', () => {
  const body = (messages: OpenAI.ChatCompletionMessageParam[]) => ({ model: 'writer', messages, tools: TOOLS, stream: true as const });

  test('calls come with their index, id, name and arguments, and the answer in pieces', async () => {
    const { messages } = chat('the (pair)');
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of await world.client.chat.completions.create({ ...body(messages), stream_options: { include_usage: true } })) chunks.push(chunk);
    const deltas = chunks.flatMap(({ choices }) => choices[0]?.delta ?? []);
    expect(deltas[0]).toMatchObject({ role: 'assistant' });
    expect(deltas.flatMap(({ tool_calls: calls = [] }) => calls)).toEqual([
      { index: 0, id: expect.stringMatching(/^call_/), type: 'function', function: { name: 'first', arguments: '' } },
      { index: 0, function: { arguments: '{"x":1}' } },
      { index: 1, id: expect.stringMatching(/^call_/), type: 'function', function: { name: 'second', arguments: '' } },
      { index: 1, function: { arguments: '{"x":2}' } },
    ]);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('tool_calls');
    expect(chunks.at(-1)?.usage?.prompt_tokens).toBeGreaterThan(0);
  });

  test("the client's own runner does the whole", async () => {
    const made: string[] = [];
    const tool = (name: string, value: unknown) => ({
      type: 'function' as const,
      function: {
        name,
        description: name,
        parameters: { type: 'object', properties: { x: {} } },
        parse: JSON.parse,
        function: (args: object) => {
          made.push(`${name} ${JSON.stringify(args)}`);
          return JSON.stringify(value);
        },
      },
    });
    const tools = [tool('first', 1), tool('second', 2), tool('third', 3)];
    const runner = world.client.chat.completions.runTools({ model: 'writer', messages: chat('the (pair)').messages, tools, stream: true });
    const pieces: string[] = [];
    runner.on('content', (piece) => pieces.push(piece));
    expect(await runner.finalContent()).toBe('It is {"a":1,"b":2,"c":3}.');
    expect(pieces.length).toBeGreaterThan(1);
    expect(made).toEqual(['first {"x":1}', 'second {"x":2}', 'third {"x":[1,2]}']);
  });

  test('comments keep the connection while a program runs; a client that goes ends nothing', async () => {
    const { messages } = chat('(slow)');
    const headers = { authorization: `Bearer ${world.key}`, 'content-type': 'application/json', 'idempotency-key': 'k-3' };
    const ask = (signal?: AbortSignal) =>
      fetch(`${world.url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body(messages)), ...(signal ? { signal } : {}) });
    const controller = new AbortController();
    const first = await ask(controller.signal);
    const taskId = first.headers.get('fermata-task-id') as string;
    controller.abort();
    const text = await (await ask()).text();
    expect(text).toContain(': it goes on');
    expect(text).toMatch(/"tool_calls"[\s\S]*data: \[DONE\]/);
    expect(await world.opened.engine.task({ tenant: 'ours', taskId })).toMatchObject({ status: 'waiting', waitingFor: [{ tool: 'first' }] });
  });

  test('what goes wrong after the beginning is an error that the client throws', async () => {
    const streaming = async () => {
      for await (const _ of await world.client.chat.completions.create(body(chat('(hopeless)').messages)));
    };
    await expect(streaming()).rejects.toThrow('no way');
  });
});
