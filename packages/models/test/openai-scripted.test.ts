/** What a script says is what comes, faults included; what reaches the scripted server otherwise than expected fails the test. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { describe, expect, onTestFinished, test } from 'vitest';
import { checkScript, createScriptedServer, loadScript, type Script, type ScriptedServer, type ScriptedStep } from '../src/scripted-index.ts';

const clientOf = (server: ScriptedServer) => new OpenAI({ apiKey: 'none', baseURL: `${server.url}/v1`, maxRetries: 0 });

async function ask(server: ScriptedServer, content: string, more: { key?: string; history?: OpenAI.ChatCompletionMessageParam[] } = {}): Promise<string | null | undefined> {
  const { history = [], key } = more;
  const request = { model: 'any', messages: [...history, { role: 'user' as const, content }] };
  const { choices } = await clientOf(server).chat.completions.create(request, key === undefined ? {} : { headers: { 'idempotency-key': key } });
  return choices[0]?.message.content;
}

/** What is told of a stream, and the error in which it ended. */
async function stream(server: ScriptedServer): Promise<{ told: string; error: unknown }> {
  let told = '';
  try {
    for await (const { choices } of await clientOf(server).chat.completions.create({ model: 'any', stream: true, messages: [{ role: 'user', content: 'go' }] })) {
      told += choices[0]?.delta.content ?? '';
    }
    return { told, error: undefined };
  } catch (error) {
    return { told, error };
  }
}

const LONG = 'word '.repeat(40).trim();

describe('steps', () => {
  test('are taken in order, and one that is for certain requests only by these', async () => {
    await using server = await createScriptedServer([
      { when: 'Lima', reply: 'rain' },
      { reply: 'first' },
      { times: 2, reply: ({ messages }) => `again: ${messages.at(-1)?.text}` },
    ]);
    expect(await ask(server, 'one')).toBe('first');
    expect(await ask(server, 'two')).toBe('again: two');
    expect(await ask(server, 'of Lima')).toBe('rain');
    expect(() => server.check()).not.toThrow();
    expect(await ask(server, 'four')).toBe('again: four');
  });

  test('that are left over are told by check', async () => {
    await using server = await createScriptedServer([{ reply: 'a' }, { reply: 'b' }, { times: 'any', reply: 'c' }]);
    await ask(server, 'one');
    expect(() => server.check()).toThrow('step 2 was not taken');
  });

  test('that failed or went wrong before the one that a conversation holds are passed over too', async () => {
    const script: Script = {
      steps: [
        { fault: { status: 500 } },
        { reply: { program: { language: 'python', code: 'wrong' } } },
        { reply: { text: 'Now', program: { language: 'python', code: 'right' } } },
        { reply: 'the answer' },
      ],
    };
    await using server = await createScriptedServer(script);
    expect(await ask(server, 'what came of it?', { history: [{ role: 'assistant', content: '```python\nright\n```' }] })).toBe('the answer');
    await using other = await createScriptedServer({ steps: [{ reply: 'same' }, { reply: 'same' }, { reply: 'last' }] });
    expect(await ask(other, 'go on', { history: [{ role: 'assistant', content: 'same' }] })).toBe('same');
  });

  test('whose replies a conversation holds are passed over by a new server', async () => {
    const script: Script = {
      steps: [{ reply: { text: 'Here.', program: { language: 'python', code: ['a = 1', 'a'] } } }, { reply: { program: { language: 'python', code: '1\n' } } }, { reply: 'done' }],
    };
    const said: string[] = [];
    const history: OpenAI.ChatCompletionMessageParam[] = [];
    for (const content of ['one', 'two', 'three']) {
      await using server = await createScriptedServer(script);
      const reply = String(await ask(server, content, { history }));
      said.push(reply);
      history.push({ role: 'user', content }, { role: 'assistant', content: reply });
    }
    expect(said).toEqual(['Here.\n\n```python\na = 1\na\n```', '```python\n1\n```', 'done']);
  });
});

describe('an unmet expectation', () => {
  const wrong: [string, ScriptedStep, string][] = [
    ['a text that is missing', { expect: ['def f(', 'limit: 3'], reply: '' }, 'step 1: it lacks "def f("; it lacks "limit: 3"'],
    ['a pattern that does not occur', { expect: { has: [/line \d+/, { pattern: 'LINE', flags: 'i' }] }, reply: '' }, 'step 1: it lacks /line \\d+/; it lacks /LINE/i'],
    ['a text that should not be there', { expect: { lacks: ['secret'] }, reply: '' }, 'step 1: it has "secret", which it should not'],
    ['a function that is not offered', { expect: { functions: ['submit'] }, reply: '' }, 'step 1: the function submit is not offered'],
    ['a header', { expect: { headers: { 'X-Key': /./ } }, reply: '' }, 'step 1: its header X-Key is null, not /./'],
    ['a request that no step is for', { when: 'other', reply: '' }, 'no step is left for this request, which ends with "a secret"'],
  ];
  test.each(wrong)('is answered with what is wrong, and kept: %s', async (_, step, message) => {
    const server = await createScriptedServer([step]);
    await expect(ask(server, 'a secret')).rejects.toThrow(message);
    expect(server.unmet).toEqual([message]);
    expect(server.requests[0]).toMatchObject({ answer: 'refused', step: undefined });
    expect(() => server.check()).toThrow(message);
    await expect(server.close()).rejects.toThrow(message);
    await server.close();
  });
});

describe('a key', () => {
  test('gets the recorded reply again, and is billed once', async () => {
    await using server = await createScriptedServer([
      { reply: { text: 'first', usage: { inputTokens: 5, outputTokens: 2 } } },
      { reply: { text: 'second', usage: { inputTokens: 1, outputTokens: 1 } } },
    ]);
    expect(await ask(server, 'a', { key: 'k1' })).toBe('first');
    expect(await ask(server, 'a', { key: 'k1' })).toBe('first');
    expect(server.billed).toEqual({ requests: 1, inputTokens: 5, outputTokens: 2 });
    expect(await ask(server, 'a', { key: 'k2' })).toBe('second');
    expect(server.billed).toEqual({ requests: 2, inputTokens: 6, outputTokens: 3 });
    expect(server.requests.map(({ answer, key, step }) => [answer, key, step])).toEqual([
      ['reply', 'k1', 1],
      ['again', 'k1', 1],
      ['reply', 'k2', 2],
    ]);
    expect(server.requests.every(({ bytes, body }) => bytes === JSON.stringify(body).length)).toBe(true);
  });

  test('with another request than before is refused, and kept', async () => {
    const server = await createScriptedServer([{ reply: 'first' }]);
    await ask(server, 'a', { key: 'k1' });
    await expect(ask(server, 'b', { key: 'k1' })).rejects.toThrow('the key k1 came before, with another request');
    await expect(server.close()).rejects.toThrow('k1');
  });
});

describe('a fault', () => {
  test('of a status comes in the form of the provider, with its headers, and is not billed', async () => {
    await using server = await createScriptedServer([{ fault: { status: 429, message: 'slow down', headers: { 'retry-after': '7' } } }, { reply: 'fine' }]);
    const error = await ask(server, 'a', { key: 'k' }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect((error as InstanceType<typeof OpenAI.RateLimitError>).headers?.get('retry-after')).toBe('7');
    expect(String(error)).toContain('slow down');
    expect(server.billed.requests).toBe(0);
    expect(await ask(server, 'a', { key: 'k' })).toBe('fine');
  });

  test('that cuts a stream sends part of it, then breaks the connection or ends it', async () => {
    await using server = await createScriptedServer([{ reply: LONG, fault: { cut: 0.5 } }, { reply: LONG, fault: { cut: 0.5, clean: true } }, { reply: LONG }]);
    const [broken, ended, whole] = [await stream(server), await stream(server), await stream(server)];
    expect(whole).toEqual({ told: LONG, error: undefined });
    expect(broken.error).toBeInstanceOf(Error);
    for (const { told } of [broken, ended]) {
      expect(told.length).toBeGreaterThan(0);
      expect(told.length).toBeLessThan(LONG.length);
      expect(LONG.startsWith(told)).toBe(true);
    }
  });

  test('that cuts a whole reply, empties it or spoils it, is no reply', async () => {
    await using server = await createScriptedServer([{ reply: LONG, fault: { cut: 0.5 } }, { fault: { empty: true } }, { fault: { garbage: true } }]);
    await expect(ask(server, 'a')).rejects.toThrow();
    await expect(ask(server, 'a').then((text) => text ?? Promise.reject(new Error('no text')))).rejects.toThrow();
    await expect(ask(server, 'a')).rejects.toThrow();
    expect(server.billed.requests).toBe(0);
  });

  test('that is recorded is billed, and whoever asks again with its key gets all of it', async () => {
    await using server = await createScriptedServer([{ reply: LONG, fault: { cut: 0.5, recorded: true } }]);
    await expect(ask(server, 'a', { key: 'k' })).rejects.toThrow();
    expect(await ask(server, 'a', { key: 'k' })).toBe(LONG);
    expect(server.billed.requests).toBe(1);
    server.check();
  });

  test('that hangs ends with who asked', async () => {
    await using server = await createScriptedServer([{ fault: { hang: true } }]);
    const gone = new AbortController();
    const asked = clientOf(server).chat.completions.create({ model: 'any', messages: [{ role: 'user', content: 'a' }] }, { signal: gone.signal });
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    gone.abort();
    await expect(asked).rejects.toThrow(OpenAI.APIUserAbortError);
  });
});

describe('a script', () => {
  test('is a JSON file, or a module with the steps', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fermata-script-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const json = join(folder, 'a.json');
    writeFileSync(json, JSON.stringify({ models: ['m'], steps: [{ expect: [{ pattern: '^x', flags: 'm' }], reply: 'y' }] }));
    expect((await loadScript(json)).models).toEqual(['m']);
    const module = join(folder, 'b.mjs');
    writeFileSync(module, 'export default [{ expect: /x/, reply: () => "y" }];');
    expect((await loadScript(module)).steps).toHaveLength(1);
    await expect(loadScript(join(folder, 'c.json'))).rejects.toThrow(/the script .*c\.json cannot be loaded: ENOENT/);
  });

  test('that is wrong is refused with the place', () => {
    const wrong: [unknown, string][] = [
      [[{ replay: 'x' }], 'steps.0: there is no "replay"; did you mean "reply"?'],
      [[{ expect: 'x' }], 'steps.0: give it a reply or a fault'],
      [[{ fault: { cut: 0.5 } }], 'steps.0: a fault has a reply if, and only if, that is what is cut'],
      [[{ reply: 'x', fault: { status: 500 } }], 'steps.0: a fault has a reply'],
      [[{ fault: { status: 200 } }], 'steps.0.fault.status: Too small'],
      [[], 'steps: '],
      [undefined, 'the script: '],
    ];
    for (const [given, message] of wrong) expect(() => checkScript(given)).toThrow(message);
  });
});
