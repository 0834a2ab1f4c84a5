/** Models of every provider against the scripted server: what is tried again and what is not, what is told, billed and refused. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FermataError, type ModelReply, type ModelRequest } from '@fermata/protocol';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createModels, type ProviderOptions } from '../src/index.ts';
import { createScriptedServer, type ScriptedServer, type ScriptedStep } from '../src/scripted-index.ts';

const LONG = 'One sentence after the other, so that there is something to cut. '.repeat(3).trim();
const REQUEST: ModelRequest = {
  messages: [
    { role: 'system', content: 'You write programs.' },
    { role: 'user', content: 'Say it.' },
    { role: 'assistant', content: 'It.' },
    { role: 'user', content: 'Again.' },
  ],
};
const SUBMIT = { name: 'submit', description: 'Takes a program', parameters: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] } };
const environment = { OPENAI_API_KEY: 'sk-openai', ANTHROPIC_API_KEY: 'sk-anthropic', MISTRAL_API_KEY: 'sk-mistral', GEMINI_API_KEY: 'sk-google' };
const KEYS: Record<string, [string, string]> = {
  openai: ['authorization', 'Bearer sk-openai'],
  anthropic: ['x-api-key', 'sk-anthropic'],
  mistral: ['authorization', 'Bearer sk-mistral'],
  google: ['x-goog-api-key', 'sk-google'],
  own: ['authorization', ''],
};
const PROVIDERS = Object.keys(KEYS);
const PRICE = { input: 3, output: 15 };

function modelOf(server: { url: string }, provider = 'own', options: ProviderOptions = {}) {
  const baseUrl = `${server.url}${provider === 'google' ? '/v1beta' : '/v1'}`;
  return createModels({ environment, providers: { [provider]: { baseUrl, models: { 'a-model': { price: PRICE } }, ...options } } }).find(`${provider}/a-model`);
}

/** The reply, with what was told of it on the way. */
async function ask(
  server: { url: string },
  provider?: string,
  options: ProviderOptions & { request?: ModelRequest; key?: string; signal?: AbortSignal; onText?: () => void } = {},
) {
  const { request = REQUEST, key = 'key-1', signal = new AbortController().signal, onText, ...rest } = options;
  const seen = { told: '', restarts: 0 };
  const reply = await modelOf(server, provider, rest).generate(request, {
    ...{ signal, idempotencyKey: key },
    onText: (text) => {
      seen.told += text;
      onText?.();
    },
    onRestart: () => {
      seen.told = '';
      seen.restarts += 1;
    },
  });
  return { reply, ...seen };
}

async function refusal(asked: Promise<unknown>): Promise<FermataError> {
  const error = await asked.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(FermataError);
  expect((error as FermataError).code).toBe('model_error');
  return error as FermataError;
}

const at0 = { 'retry-after': '0' };

describe.each(PROVIDERS)('%s', (provider) => {
  test('429, 500 and half a stream are tried again with the same key, and the text of the half is taken back', async () => {
    await using server = await createScriptedServer([
      { fault: { status: 429, headers: at0 } },
      { fault: { status: 500, headers: at0 } },
      { reply: LONG, fault: { cut: 0.6 } },
      {
        expect: { has: ['system: You write programs.', 'user: Say it.', 'assistant: It.', 'user: Again.'] },
        reply: { text: LONG, usage: { inputTokens: 1000, outputTokens: 200 } },
      },
    ]);
    const { reply, told, restarts } = await ask(server, provider, { maxRetryWaitMs: 50 });
    expect(reply).toMatchObject({ text: LONG, calls: [], finish: 'stop', model: 'a-model', usage: { inputTokens: 1000, outputTokens: 200 } });
    expect(reply.usage.cost).toBeCloseTo(0.006, 10);
    expect({ told, restarts }).toEqual({ told: LONG, restarts: 1 });
    const [header, value] = KEYS[provider] as [string, string];
    expect(server.requests.map(({ key, headers }) => [key, headers[header] ?? ''])).toEqual(Array(4).fill(['key-1', value]));
    expect(server.billed).toEqual({ requests: 1, inputTokens: 1000, outputTokens: 200 });
    server.check();
  });

  test('a call of a function comes with its arguments, and a reply that is too long says so', async () => {
    const code = 'print("ä")\n'.repeat(5);
    await using server = await createScriptedServer([
      { expect: { has: ['Takes a program', '"code":{"type":"string"}'], functions: ['submit'] }, reply: { text: 'Here.', calls: [{ name: 'submit', arguments: { code } }] } },
      { reply: { text: LONG, finish: 'length' } },
    ]);
    const { reply } = await ask(server, provider, { request: { ...REQUEST, functions: [SUBMIT] } });
    expect(reply).toMatchObject({ text: 'Here.', calls: [{ name: 'submit', arguments: { code } }], finish: 'stop' });
    const cut = await ask(server, provider, { key: 'key-2', request: { ...REQUEST, maxTokens: 77 } });
    expect(cut.reply).toMatchObject({ text: LONG, finish: 'length' });
    expect(server.requests[1]?.asked.maxTokens).toBe(77);
  });

  test('a refusal is told with what the provider said, without the key, and is not tried again', async () => {
    const key = (KEYS[provider]?.[1] ?? '').replace('Bearer ', '');
    await using server = await createScriptedServer([{ fault: { status: 401, message: `the key ${key} is not known ${'x'.repeat(2000)}` } }]);
    const error = await refusal(ask(server, provider));
    expect(error.message).toMatch(new RegExp(`the model ${provider}/a-model has not answered: status 401: .*the key ${key && '\\*\\*\\*'} is not known`));
    expect(error.message.length).toBeLessThan(700);
    if (key) expect(error.message).not.toContain(key);
    expect(error.hint).toContain(provider === 'own' ? 'models.providers.own.key_variable' : `${provider === 'google' ? 'GEMINI' : provider.toUpperCase()}_API_KEY`);
    expect(server.requests).toHaveLength(1);
  });

  test('a reply that ends too soon, in an error, without form or empty is tried again', async () => {
    await using server = await createScriptedServer([
      { reply: LONG, fault: { cut: 0.6, error: 'Overloaded' } },
      { reply: LONG, fault: { cut: 0.6, clean: true } },
      { fault: { garbage: true } },
      { fault: { empty: true } },
      { reply: LONG },
    ]);
    const { reply, told } = await ask(server, provider, { maxRetryWaitMs: 20 });
    expect([reply.text, told]).toEqual([LONG, LONG]);
    server.check();
  });
});

describe('retries', () => {
  test('end after as many as are configured, and the error says how many there were', async () => {
    await using server = await createScriptedServer([{ times: 3, fault: { status: 503, message: 'overloaded', headers: at0 } }]);
    const error = await refusal(ask(server, 'openai', { maxRetries: 2 }));
    expect(error.message).toBe('the model openai/a-model has not answered, after 3 tries: status 503: overloaded');
    expect(error.hint).toBe('Try again later.');
    server.check();
  });

  test('wait as long as the provider wants, and are given up where that is too long', async () => {
    await using server = await createScriptedServer([
      { fault: { status: 429, headers: { 'retry-after': '0.3' } } },
      { reply: 'a' },
      { fault: { status: 429, message: 'not today', headers: { 'retry-after': '3600' } } },
    ]);
    const began = performance.now();
    expect((await ask(server)).reply.text).toBe('a');
    expect(performance.now() - began).toBeGreaterThanOrEqual(295);
    const error = await refusal(ask(server, 'own', { key: 'key-2' }));
    expect(error.message).toBe('the model own/a-model has not answered: status 429: not today; it wants nothing to be asked for 3600 s');
    expect(server.requests).toHaveLength(3);
  });

  test('are of no use where a quota is used up', async () => {
    const body = JSON.stringify({ error: { message: 'You exceeded your current quota', type: 'insufficient_quota', code: 'insufficient_quota' } });
    let asked = 0;
    const server = createServer((_, response) => {
      asked += 1;
      response.writeHead(429, { 'content-type': 'application/json' }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect((await refusal(ask({ url: `http://127.0.0.1:${port}` }, 'openai'))).hint).toContain('account with openai');
    expect(asked).toBe(1);
  });

  test('a server that is not there is an error that says where it should be', async () => {
    const server = await createScriptedServer([{ reply: '' }]);
    await server.close();
    const error = await refusal(ask(server, 'own', { maxRetries: 1, maxRetryWaitMs: 10 }));
    expect(error.message).toContain('after 2 tries: Cannot connect to API: connect ECONNREFUSED');
    expect(error.hint).toBe(`Look whether a server answers at ${server.url}/v1.`);
  });

  test('a reply that does not come in time is tried again', async () => {
    await using server = await createScriptedServer([{ fault: { hang: true } }, { reply: 'late' }]);
    expect((await ask(server, 'own', { timeoutMs: 1000, maxRetryWaitMs: 10 })).reply.text).toBe('late');
  });
});

test('an abort ends a reply in the middle, a wait, and what has not begun', async () => {
  await using server = await createScriptedServer([{ reply: LONG, pieceDelayMs: 50 }, { fault: { status: 429, headers: { 'retry-after': '30' } } }]);
  const inReply = new AbortController();
  await expect(ask(server, 'own', { signal: inReply.signal, onText: () => inReply.abort(new Error('not wanted any more')) })).rejects.toThrow('not wanted any more');
  const inWait = new AbortController();
  const asked = ask(server, 'own', { signal: inWait.signal });
  while (server.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  inWait.abort(new Error('not wanted either'));
  await expect(asked).rejects.toThrow('not wanted either');
  await expect(ask(server, 'own', { signal: inWait.signal })).rejects.toThrow('not wanted either');
  expect(server.requests).toHaveLength(2);
});

test('an expectation that is not met fails the request at once, and the test', async () => {
  const server = await createScriptedServer([{ expect: 'def weather(city: str)', reply: '' }]);
  expect((await refusal(ask(server, 'anthropic'))).message).toContain('status 400: the scripted model: step 1: it lacks "def weather(city: str)"');
  expect(server.requests).toHaveLength(1);
  await expect(server.close()).rejects.toThrow('def weather');
});

test('a reply that was lost on its way is had again with its key, and billed once', async () => {
  await using server = await createScriptedServer([{ reply: LONG, fault: { cut: 0.5, recorded: true } }]);
  expect((await ask(server, 'mistral')).reply.text).toBe(LONG);
  expect(server.requests.map(({ answer }) => answer)).toEqual(['fault', 'again']);
  expect(server.billed.requests).toBe(1);
});

test('where a server counts no tokens, they are guessed, so that a budget holds', async () => {
  const events = ['{"choices":[{"index":0,"delta":{"role":"assistant","content":"four words of text"}}]}', '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}', '[DONE]'];
  const server = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events.map((event) => `data: ${event}\n\n`).join('')));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { usage } = (await ask({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })).reply;
  expect(usage.outputTokens).toBe(5);
  expect(usage.inputTokens).toBeGreaterThan(20);
});

describe('names', () => {
  const find =
    (name: string, providers: Record<string, ProviderOptions> = {}) =>
    () =>
      createModels({ environment: {}, providers }).find(name);
  const fails = (run: () => unknown) => {
    try {
      run();
    } catch (error) {
      return `${(error as FermataError).code}: ${(error as FermataError).message} ${(error as FermataError).hint}`;
    }
    return '';
  };

  test('a missing key says which variable to set', () => {
    expect(fails(find('openai/gpt-x'))).toBe(
      'model_error: the model openai/gpt-x needs an API key, and there is none in OPENAI_API_KEY Set OPENAI_API_KEY in the environment of the process that runs the tasks.',
    );
    expect(fails(find('google/gemini-x'))).toContain('none in GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY');
    expect(fails(find('own/x', { own: { baseUrl: 'http://127.0.0.1:1/v1', keyVariable: 'OWN_KEY' } }))).toContain('Set OWN_KEY');
    expect(find('own/x', { own: { baseUrl: 'http://127.0.0.1:1/v1' } })().name).toBe('own/x');
  });

  test('an unknown provider, or none, says which there are', () => {
    expect(fails(find('opnai/gpt-x'))).toContain('Did you mean openai/gpt-x? There are openai, anthropic, mistral, google; another needs models.providers.opnai.base_url');
    expect(fails(find('gpt-x', { own: { baseUrl: 'http://127.0.0.1:1/v1' } }))).toContain(
      'Write it as <provider>/<model>, with one of openai, anthropic, mistral, google, own; or as scripted:<file>.',
    );
  });

  test('the name of a model leads to no other address of its provider', () => {
    const models = createModels({ environment });
    for (const model of ['../../v1/files?x=', 'a/../../b', 'a/%2e%2e/b', 'a#b', 'a?b', 'a\\..\\b', 'a\r\nb', './b', 'a b']) {
      for (const provider of ['google', 'openai']) expect(() => models.find(`${provider}/${model}`), model).toThrow('is not the name of a model');
    }
    for (const name of ['google/tunedModels/mine-1', 'openai/ft:gpt-4o:org::id', 'openai/@cf/meta/llama-3.1-8b:free']) expect(models.find(name).name).toBe(name);
  });

  test('a model that a provider does not have says which are configured', async () => {
    await using server = await createScriptedServer([{ fault: { status: 404, message: 'no such model' } }]);
    expect((await refusal(ask(server, 'openai'))).hint).toBe('Models of openai that are configured: a-model.');
  });

  test('the default is that of the options, else FERMATA_MODEL', () => {
    expect(createModels({ environment: {} }).defaultName).toBeUndefined();
    expect(createModels({ environment: { FERMATA_MODEL: 'openai/a' } }).defaultName).toBe('openai/a');
    expect(createModels({ default: 'openai/b', environment: { FERMATA_MODEL: 'openai/a' } }).defaultName).toBe('openai/b');
  });

  test('options that are wrong are refused with the place', () => {
    expect(fails(find('a/b', { a: {} }))).toContain("createModels.providers.a: a server of one's own needs a base URL");
    expect(fails(find('a/b', { a: { baseUrl: 'ftp://x' } }))).toContain('createModels.providers.a.baseUrl: an address');
    expect(fails(find('a/b', { openai: { keyVar: 'x' } as ProviderOptions }))).toContain('did you mean "keyVariable"?');
  });
});

describe('scripted:<file>', () => {
  const script = (steps: ScriptedStep[]) => {
    const folder = mkdtempSync(join(tmpdir(), 'fermata-script-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'script.json');
    writeFileSync(file, JSON.stringify({ steps }));
    return `scripted:${file}`;
  };
  const generate = (models: ReturnType<typeof createModels>, name: string, content: string): Promise<ModelReply> =>
    models.find(name).generate({ messages: [{ role: 'user', content }] }, { signal: new AbortController().signal, idempotencyKey: content });

  test('is served by this process, and goes the way of any other', async () => {
    const name = script([
      { expect: ['one'], reply: 'first' },
      { expect: ['two'], reply: 'second' },
    ]);
    await using models = createModels({ default: name, environment: {} });
    expect((await generate(models, name, 'one')).text).toBe('first');
    expect((await generate(models, name, 'two')).text).toBe('second');
    expect((await refusal(generate(models, name, 'three'))).message).toContain('no step is left');
  });

  test('is not for whoever asks: only the default is, unless any is allowed', async () => {
    const name = script([{ reply: 'x' }]);
    expect(() => createModels({ environment: {} }).find(name)).toThrow('is not loaded here');
    await using models = createModels({ environment: {}, anyScript: true });
    expect((await generate(models, name, 'one')).text).toBe('x');
    expect((await refusal(generate(models, 'scripted:/not/there.json', 'one'))).message).toContain('cannot be loaded');
  });
});

// Kept last: it looks at what the ones before it have left.
test('nothing of the SDK is printed', async () => {
  const warned: unknown[] = [];
  const listen = (warning: unknown) => warned.push(warning);
  process.on('warning', listen);
  onTestFinished(() => void process.off('warning', listen));
  await using server: ScriptedServer = await createScriptedServer([{ reply: 'x' }]);
  await ask(server, 'anthropic');
  await new Promise((resolve) => setImmediate(resolve));
  expect(warned).toEqual([]);
});
