/** The OpenAI-compatible endpoint by the official client, without tools: chats go to the model as they are; what cannot be had is refused as OpenAI refuses it. */
import { FermataError, type Model, type ModelCallOptions, type ModelReply, type ModelRequest } from '@fermata/protocol';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Listening, listening } from './listening.ts';

/** Replies with the last message, in two pieces; does what that asks for. */
class Echo implements Model {
  readonly name = 'echo/large';
  readonly asked: ModelRequest[] = [];
  readonly keys: string[] = [];
  readonly gone: unknown[] = [];
  async generate(request: ModelRequest, { onText, onRestart, signal, idempotencyKey }: ModelCallOptions): Promise<ModelReply> {
    this.asked.push(request);
    this.keys.push(idempotencyKey);
    const text = request.messages.at(-1)?.content ?? '';
    if (text === 'break') throw new FermataError('model_error', 'the provider is gone', { hint: 'Wait.' });
    onText?.(text.slice(0, 3));
    if (text === 'again') {
      onRestart?.();
      onText?.('aga');
    }
    if (text === 'otherwise') return reply('something else');
    if (text === 'hang') {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      this.gone.push(text);
      throw signal.reason;
    }
    onText?.(text.slice(3));
    return reply(text, text === 'long' ? 'length' : 'stop');
  }
}
const reply = (text: string, finish: ModelReply['finish'] = 'stop'): ModelReply => ({ text, calls: [], finish, model: 'echo', usage: { inputTokens: 5, outputTokens: 2 } });

const model = new Echo();
let at: Listening;
let client: OpenAI;
const find = (name: string) => {
  if (name === model.name) return model;
  throw new FermataError('model_error', `there is no model ${name}`, { hint: 'Configure it.' });
};
beforeAll(async () => {
  at = await listening({ models: { defaultName: model.name, known: [model.name, 'echo/small'], find }, heartbeatMs: 20 });
  client = new OpenAI({ baseURL: `${at.url}/v1`, apiKey: at.key });
});
afterAll(() => at.close());

const ask = (content: string, more: object = {}) => client.chat.completions.create({ model: 'echo/large', messages: [{ role: 'user', content }], ...more });
const stream = async (content: string, more: object = {}) => {
  const chunks = [];
  for await (const chunk of await client.chat.completions.create({ model: 'echo/large', messages: [{ role: 'user', content }], stream: true, ...more })) chunks.push(chunk);
  return chunks;
};
const textOf = (chunks: Awaited<ReturnType<typeof stream>>) => chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');

describe('a chat without tools', () => {
  test('has the same key at its provider when it is sent again with its own, and never that of another tenant', async () => {
    const json = { model: 'default', messages: [{ role: 'user', content: 'x' }] };
    const headers = { 'idempotency-key': 'mine' };
    const from = model.keys.length;
    for (const key of [at.key, at.key, at.foreignKey]) await at.ask('POST', '/v1/chat/completions', { json, headers, key });
    const [first, again, foreign] = model.keys.slice(from);
    expect(again).toBe(first);
    expect(foreign).not.toBe(first);
  });

  test('is answered by the model, whole', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'developer', content: 'be brief' },
      { role: 'user', content: [{ type: 'text', text: 'hello' }] },
    ];
    const { data, response } = await client.chat.completions.create({ model: 'large', messages, max_completion_tokens: 7, temperature: 0 }).withResponse();
    expect(data).toEqual({
      ...{ id: expect.stringMatching(/^chatcmpl-/), object: 'chat.completion', created: expect.any(Number), model: 'echo/large' },
      choices: [{ index: 0, message: { role: 'assistant', content: 'hello', refusal: null }, logprobs: null, finish_reason: 'stop' }],
      usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
    });
    expect(response.headers.get('fermata-task-id')).toBeNull();
    expect(model.asked.at(-1)).toEqual({
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'hello' },
      ],
      maxTokens: 7,
    });
  });

  test('is answered in pieces, of which the first says the role and the last what was spent', async () => {
    const chunks = await stream('hello there', { stream_options: { include_usage: true } });
    expect(chunks[0]?.choices[0]?.delta).toMatchObject({ role: 'assistant', content: '' });
    expect(chunks.slice(1, 3).map(({ choices }) => choices[0]?.delta.content)).toEqual(['hel', 'lo there']);
    expect(chunks.at(-2)?.choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' });
    expect(chunks.at(-1)).toMatchObject({ object: 'chat.completion.chunk', choices: [], usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect((await stream('hello')).every(({ usage }) => usage === undefined)).toBe(true);
    const final = await client.chat.completions.stream({ model: 'default', messages: [{ role: 'user', content: 'hello there' }] }).finalChatCompletion();
    expect(final.choices[0]?.message.content).toBe('hello there');
  });

  test('says why it has ended', async () => {
    expect((await ask('long')).choices[0]?.finish_reason).toBe('length');
    expect((await ask('one END two', { stop: 'END' })).choices[0]).toMatchObject({ message: { content: 'one ' }, finish_reason: 'stop' });
    expect(textOf(await stream('one END two', { stop: ['END'] }))).toBe('one ');
  });

  test('tells a piece once where the model begins anew, and fails where it then says something else', async () => {
    expect(textOf(await stream('again'))).toBe('again');
    await expect(stream('otherwise')).rejects.toThrow('began its answer anew');
  });

  test('goes with tools that may not be called, too', async () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: {} } }];
    expect((await ask('hello', { tools, tool_choice: 'none' })).choices[0]?.message.content).toBe('hello');
  });

  test('ends where its client goes', async () => {
    const controller = new AbortController();
    const asked = model.asked.length;
    const hanging = client.chat.completions.create({ model: 'echo/large', messages: [{ role: 'user', content: 'hang' }], stream: true }, { signal: controller.signal });
    await expect.poll(() => model.asked.length).toBe(asked + 1);
    await hanging;
    controller.abort();
    await expect.poll(() => model.gone).toEqual(['hang']);
  });
});

test('models are listed', async () => {
  const models = ['echo/large', 'echo/small'].map((id) => ({ id, object: 'model', created: 0, owned_by: 'echo' }));
  expect((await client.models.list()).data).toEqual(models);
});

describe('an error is told as OpenAI tells it', () => {
  const raw = (path: string, asked: Parameters<Listening['ask']>[2]) => at.ask('POST', path, asked);
  const chat = '/v1/chat/completions';
  const nested = JSON.parse(`${'['.repeat(3000)}${']'.repeat(3000)}`);

  test.each([
    ['a key that is not known', { json: {}, key: 'fm_x' }, 401, 'authentication_error', 'invalid_api_key', null],
    ['no key', { json: {}, key: null }, 401, 'authentication_error', 'invalid_api_key', null],
    ['a body without messages', { json: { model: 'default' } }, 400, 'invalid_request_error', 'invalid_request', 'messages'],
    ['a message of no role', { json: { model: 'default', messages: [{ role: 'ghost', content: 'x' }] } }, 400, 'invalid_request_error', 'invalid_request', 'messages[0].role'],
    ['no JSON', { body: '{', headers: { 'content-type': 'application/json' } }, 400, 'invalid_request_error', 'invalid_request', null],
    ['another type', { body: 'x', headers: { 'content-type': 'text/plain' } }, 415, 'invalid_request_error', 'unsupported_media_type', null],
    ['two answers', { json: { model: 'default', messages: [{ role: 'user', content: 'x' }], n: 2 } }, 400, 'invalid_request_error', 'unsupported_value', 'n'],
    [
      'metadata nested without an end',
      { json: { model: 'default', messages: [{ role: 'user', content: 'x' }], metadata: { a: nested } } },
      400,
      'invalid_request_error',
      'invalid_request',
      'metadata',
    ],
    [
      'a schema nested without an end',
      { json: { model: 'default', messages: [{ role: 'user', content: 'x' }], tools: [{ type: 'function', function: { name: 'f', parameters: { a: nested } } }] } },
      400,
      'invalid_request_error',
      'invalid_request',
      'tools[0].function.parameters',
    ],
    [
      'a stop sequence that is a book',
      { json: { model: 'default', messages: [{ role: 'user', content: 'x' }], stop: 'x'.repeat(1001) } },
      400,
      'invalid_request_error',
      'invalid_request',
      'stop',
    ],
    ['a model that is not there', { json: { model: 'gpt-x', messages: [{ role: 'user', content: 'x' }] } }, 404, 'invalid_request_error', 'model_not_found', 'model'],
  ] as const)('%s', async (_what, asked, status, type, code, param) => {
    const answer = await raw(chat, asked as never);
    expect(answer).toMatchObject({ status, body: { error: { type, code, param, message: expect.stringMatching(/\w/) } } });
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  });

  test('a path that is not there, and a scope that is missing', async () => {
    expect(await raw('/v1/embeddings', { json: {} })).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    const reader = await at.newKey(['read']);
    expect(await raw(chat, { json: { model: 'default', messages: [{ role: 'user', content: 'x' }] }, key: reader })).toMatchObject({
      status: 403,
      body: { error: { code: 'insufficient_permissions' } },
    });
  });

  test('the fault of a model, whole and in pieces; the client does not send it again by itself', async () => {
    const asked = model.asked.length;
    await expect(ask('break')).rejects.toMatchObject({ status: 502, code: 'model_error', message: expect.stringContaining('the provider is gone. Wait.') });
    expect(model.asked.length).toBe(asked + 1);
    await expect(stream('break')).rejects.toThrow('the provider is gone');
  });

  test('more open requests than a tenant may have', async () => {
    const busy = await listening({ models: { defaultName: model.name, find }, maxOpenRequests: 1 });
    const controller = new AbortController();
    const one = new OpenAI({ baseURL: `${busy.url}/v1`, apiKey: busy.key, maxRetries: 0 });
    await one.chat.completions.create({ model: 'default', messages: [{ role: 'user', content: 'hang' }], stream: true }, { signal: controller.signal });
    const other = await busy.ask('POST', chat, { json: { model: 'default', messages: [{ role: 'user', content: 'x' }] } });
    expect(other).toMatchObject({ status: 429, body: { error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } } });
    expect(Number(other.headers.get('retry-after'))).toBeGreaterThan(0);
    controller.abort();
    await busy.close();
  });

  test('a stream that is refused is not open any more', async () => {
    const one = await listening({ models: { defaultName: model.name, find }, maxOpenRequests: 1 });
    const messages = [{ role: 'user', content: 'x' }];
    const tools = [{ type: 'function', function: { name: 'f' } }];
    for (const more of [{}, { tools }]) {
      const refused = await one.ask('POST', chat, { json: { model: 'gpt-x', messages, stream: true, ...more } });
      expect(refused).toMatchObject({ status: 404, body: { error: { code: 'model_not_found' } } });
    }
    expect((await one.ask('POST', chat, { json: { model: 'default', messages } })).status).toBe(200);
    await one.close();
  });

  test('a server without models', async () => {
    const none = await listening();
    expect(await none.ask('POST', chat, { json: { model: 'default', messages: [{ role: 'user', content: 'x' }] } })).toMatchObject({
      status: 404,
      body: { error: { code: 'model_not_found' } },
    });
    expect((await none.ask('GET', '/v1/models')).body).toEqual({ object: 'list', data: [] });
    await none.close();
  });
});
