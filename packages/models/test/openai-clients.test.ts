/** The official clients of OpenAI, Anthropic and Mistral, and the AI SDK's providers, against the scripted server: whole and streamed, text and calls. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createMistral } from '@ai-sdk/mistral';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { Mistral } from '@mistralai/mistralai';
import { generateText, jsonSchema, type LanguageModel, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { createScriptedServer, type ScriptedStep } from '../src/scripted-index.ts';

const TEXT = 'It snows in Oslo, and it rains in Lima.\nNothing else is known: 🌧.';
const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;
const WEATHER = { name: 'weather', description: 'The weather of a city', parameters: PARAMETERS };
const ASKED = [
  { name: 'weather', arguments: { city: 'Oslo' } },
  { name: 'weather', arguments: { city: 'Tromsø, or "the north"' } },
];
const USAGE = { inputTokens: 11, outputTokens: 7 };

/** A reply with text, one with calls, one to their results; each must have been asked for as the protocol does. */
const STEPS: ScriptedStep[] = [
  { expect: { has: ['be brief', /how is the weather/i, '"required":["city"]'], functions: ['weather'] }, reply: { text: TEXT, usage: USAGE } },
  { expect: { has: ['How is the weather?'], functions: ['weather'] }, reply: { calls: ASKED, usage: USAGE } },
  { expect: { has: ['weather({"city":"Oslo"})', 'snow of Oslo', 'rain of Lima'] }, reply: { text: 'Both.', usage: USAGE } },
];
const RESULTS = ['snow of Oslo', 'rain of Lima'];

const serve = () => createScriptedServer(STEPS);
const key = { apiKey: 'sk-not-a-key' };

describe.each([false, true])('streamed: %s', (stream) => {
  test('openai, chat completions', async () => {
    await using server = await serve();
    const client = new OpenAI({ ...key, baseURL: `${server.url}/v1` });
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['scripted']);
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'How is the weather?' },
    ];
    const tools: OpenAI.ChatCompletionTool[] = [{ type: 'function', function: WEATHER }];
    const ask = async () => {
      const request = { model: 'gpt-x', messages, tools };
      if (!stream) return client.chat.completions.create(request);
      return client.chat.completions.stream({ ...request, stream_options: { include_usage: true } }).finalChatCompletion();
    };
    const said = await ask();
    expect(said.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: TEXT } });
    expect(said).toMatchObject({ model: 'gpt-x', usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 } });
    const calls = (await ask()).choices[0]?.message;
    expect(calls?.tool_calls?.map((call) => call.type === 'function' && JSON.parse(call.function.arguments))).toEqual(ASKED.map(({ arguments: args }) => args));
    messages.push(calls as OpenAI.ChatCompletionMessage);
    for (const [i, call] of (calls?.tool_calls ?? []).entries()) messages.push({ role: 'tool', tool_call_id: call.id, content: RESULTS[i] as string });
    expect((await ask()).choices[0]?.message.content).toBe('Both.');
    server.check();
    expect(server.billed).toEqual({ requests: 3, inputTokens: 33, outputTokens: 21 });
  });

  test('openai, responses', async () => {
    await using server = await serve();
    const client = new OpenAI({ ...key, baseURL: `${server.url}/v1` });
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'How is the weather?' }];
    const tools: OpenAI.Responses.Tool[] = [{ type: 'function', strict: false, ...WEATHER }];
    const ask = async (): Promise<OpenAI.Responses.Response> => {
      const request = { model: 'gpt-x', instructions: 'be brief', input, tools };
      return stream ? client.responses.stream(request).finalResponse() : client.responses.create(request);
    };
    const said = await ask();
    expect(said).toMatchObject({ status: 'completed', output_text: TEXT, usage: { input_tokens: 11, output_tokens: 7 } });
    const { output } = await ask();
    for (const [i, item] of output.entries()) {
      if (item.type !== 'function_call') throw new Error(item.type);
      expect(JSON.parse(item.arguments)).toEqual(ASKED[i]?.arguments);
      const { name, call_id, arguments: args } = item;
      input.push({ type: 'function_call', name, call_id, arguments: args }, { type: 'function_call_output', call_id, output: RESULTS[i] as string });
    }
    expect((await ask()).output_text).toBe('Both.');
    server.check();
  });

  test('@anthropic-ai/sdk', async () => {
    await using server = await serve();
    const client = new Anthropic({ ...key, baseURL: server.url });
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'How is the weather?' }];
    const tools: Anthropic.Tool[] = [{ name: WEATHER.name, description: WEATHER.description, input_schema: { ...PARAMETERS, required: ['city'] } }];
    const ask = async () => {
      const request = { model: 'claude-x', max_tokens: 100, system: 'be brief', messages, tools };
      return stream ? client.messages.stream(request).finalMessage() : client.messages.create(request);
    };
    const said = await ask();
    expect(said).toMatchObject({ model: 'claude-x', stop_reason: 'end_turn', content: [{ type: 'text', text: TEXT }], usage: { input_tokens: 11, output_tokens: 7 } });
    const { content, stop_reason } = await ask();
    expect(stop_reason).toBe('tool_use');
    const uses = content.filter((part) => part.type === 'tool_use');
    expect(uses.map(({ input }) => input)).toEqual(ASKED.map(({ arguments: args }) => args));
    messages.push({ role: 'assistant', content }, { role: 'user', content: uses.map(({ id }, i) => ({ type: 'tool_result', tool_use_id: id, content: RESULTS[i] as string })) });
    expect((await ask()).content).toMatchObject([{ text: 'Both.' }]);
    server.check();
  });

  test('@mistralai/mistralai', async () => {
    await using server = await serve();
    const client = new Mistral({ ...key, serverURL: server.url });
    type Message = Parameters<typeof client.chat.complete>[0]['messages'][number];
    const messages: Message[] = [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'How is the weather?' },
    ];
    const tools = [{ type: 'function' as const, function: { ...WEATHER, parameters: { ...PARAMETERS } } }];
    const ask = async () => {
      const request = { model: 'mistral-x', messages, tools };
      if (!stream) {
        const { choices, usage } = await client.chat.complete(request);
        const message = choices[0]?.message;
        return { content: message?.content ?? '', toolCalls: message?.toolCalls ?? [], finish: choices[0]?.finishReason, usage };
      }
      const told = {
        content: '',
        toolCalls: [] as { id?: string | undefined; function: { name: string; arguments: string } }[],
        finish: undefined as string | null | undefined,
        usage: undefined as unknown,
      };
      for await (const { data } of await client.chat.stream(request)) {
        const [choice] = data.choices;
        told.content += choice?.delta.content ?? '';
        for (const call of choice?.delta.toolCalls ?? []) {
          const known = told.toolCalls[call.index ?? 0];
          if (known) known.function.arguments += call.function.arguments;
          else told.toolCalls.push({ id: call.id, function: { name: call.function.name, arguments: String(call.function.arguments) } });
        }
        told.finish = choice?.finishReason ?? told.finish;
        told.usage = data.usage ?? told.usage;
      }
      return told;
    };
    expect(await ask()).toMatchObject({ content: TEXT, finish: 'stop', usage: { promptTokens: 11, completionTokens: 7 } });
    const { toolCalls } = await ask();
    expect(toolCalls.map((call) => JSON.parse(String(call.function.arguments)))).toEqual(ASKED.map(({ arguments: args }) => args));
    messages.push({ role: 'assistant', toolCalls }, ...toolCalls.map(({ id }, i) => ({ role: 'tool' as const, toolCallId: id, content: RESULTS[i] as string })));
    expect((await ask()).content).toBe('Both.');
    server.check();
  });

  const providers: Record<string, (url: string) => LanguageModel> = {
    openai: (url) => createOpenAI({ ...key, baseURL: `${url}/v1` })('gpt-x'),
    'openai chat': (url) => createOpenAI({ ...key, baseURL: `${url}/v1` }).chat('gpt-x'),
    anthropic: (url) => createAnthropic({ ...key, baseURL: `${url}/v1` })('claude-x'),
    mistral: (url) => createMistral({ ...key, baseURL: `${url}/v1` })('mistral-x'),
    google: (url) => createGoogle({ ...key, baseURL: `${url}/v1beta` })('gemini-x'),
    'openai-compatible': (url) => createOpenAICompatible({ ...key, name: 'own', baseURL: `${url}/v1`, includeUsage: true })('own-x'),
  };
  test.each(Object.keys(providers))('the AI SDK with its provider %s', async (name) => {
    await using server = await serve();
    const results = [...RESULTS];
    const request = {
      model: (providers[name] as (url: string) => LanguageModel)(server.url),
      instructions: 'be brief',
      tools: {
        weather: tool({ description: WEATHER.description, inputSchema: jsonSchema<{ city: string }>({ ...PARAMETERS, required: ['city'] }), execute: async () => results.shift() }),
      },
    };
    const ask = async (prompt: string) => {
      if (!stream) return generateText({ ...request, prompt, stopWhen: ({ steps }) => steps.length >= 2 });
      const { text, usage, steps } = streamText({ ...request, prompt, stopWhen: ({ steps }) => steps.length >= 2 });
      return { text: await text, usage: await usage, steps: await steps };
    };
    expect(await ask('How is the weather?')).toMatchObject({ text: TEXT, usage: { inputTokens: 11, outputTokens: 7 } });
    const { text, steps } = await ask('How is the weather?');
    expect(steps[0]?.toolCalls.map(({ input }) => input)).toEqual(ASKED.map(({ arguments: args }) => args));
    expect(text).toBe('Both.');
    server.check();
  });
});
