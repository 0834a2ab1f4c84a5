/** `fermata ask`, and instructions to `fermata serve`: with scripted models, in this process and behind a configured provider. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@fermata/client';
import { createScriptedServer, type ScriptedReply, type ScriptedStep } from '@fermata/models/scripted';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { loadModelsConfig } from '../src/cli/serve-config.ts';
import { Cli } from './cli.ts';

const BIN = fileURLToPath(new URL('../bin/fermata.mjs', import.meta.url));
const EXAMPLE = fileURLToPath(new URL('../../../examples/ask', import.meta.url));
const cli = new Cli();
afterAll(() => cli[Symbol.dispose]());

/** Whatever is set where the tests run. */
const NO_MODELS = { FERMATA_MODEL: '', FERMATA_CONFIG: '', OPENAI_API_KEY: '' };
const ask = (args: string[], env: Record<string, string> = {}) => cli.run(['ask', ...args], { env: { ...NO_MODELS, ...env } });

const program = (code: string, text = ''): ScriptedReply => ({ text, program: { language: 'javascript', code } });
const scriptFile = (name: string, steps: ScriptedStep[]) => `scripted:${cli.file(name, JSON.stringify(steps))}`;

test('a program that is wrong first is mended, and the answer alone is on stdout', { timeout: 300_000 }, async () => {
  const [script, tools] = ['script.json', 'tools.mjs'].map((name) => join(EXAMPLE, name)) as [string, string];
  const { code, stdout, stderr } = await ask(['Where is it warmest today: Oslo, Rome or Lima?', '--model', `scripted:${script}`, '--tools', tools]);
  expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'It is warmest in Lima, with 19 °C.\n' });
  const told = stderr.split('\n').filter((line) => /^(step|program|fault|model)/.test(line));
  expect(told).toEqual([
    ...['step generating code', 'program 1 (python)', "fault guest_error: TypeError: 'int' object is not subscriptable (line 6)"],
    ...['step repairing', 'program 2 (python)', 'step answering', expect.stringMatching(/^model: \d+ tokens$/)],
  ]);
  expect(stderr.match(/^call weather\.forecast/gm)).toHaveLength(6);
});

test('a program waits for a person, and its task goes on in a new process, whose model knows where it stands', { timeout: 300_000 }, async () => {
  const model = scriptFile('plan.json', [
    { expect: ['double it', '{"n":21}'], reply: program('console.log("at work"); return input.n * 2', 'So.') },
    { expect: [{ pattern: '"?at work' }, '42'], reply: 'It is 42.' },
  ]);
  const waiting = await cli.json(['ask', 'double it', '--model', model, '--input', '{"n": 21}', '--approve-plan'], { env: NO_MODELS });
  expect(waiting).toMatchObject({ code: 4, status: 'waiting', waiting_for: [{ tool: 'plan', kind: 'review', arguments: { value: { language: 'javascript' } } }] });
  expect((await cli.run(['task', 'approve', waiting.task_id, waiting.waiting_for[0].call_id])).code).toBe(0);
  const { code, stdout, stderr } = await cli.run(['resume', waiting.task_id], { env: NO_MODELS });
  expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'It is 42.\n' });
  expect(stderr).toContain('at work');
});

test('what a script expects and does not get is told, and so is what to set for a model', { timeout: 300_000 }, async () => {
  const unmet = await ask(['hello', '--model', scriptFile('unmet.json', [{ expect: ['never said'], reply: 'x' }])]);
  expect(unmet).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('the scripted model: step 1: it lacks "never said"') });
  expect(await ask(['hello', '--model', 'openai/gpt-x'])).toMatchObject({ code: 3, stderr: expect.stringContaining('hint: Set OPENAI_API_KEY in the environment') });
  expect(await ask(['hello'])).toMatchObject({ code: 3, stderr: expect.stringContaining('no model is configured') });
  expect(await ask([' '])).toMatchObject({ code: 2, stderr: expect.stringContaining('the instruction is empty') });
});

test('a server asks the model of its configuration, counts what it costs, and loads no script for who asks', { timeout: 300_000 }, async () => {
  const usage = { inputTokens: 1000, outputTokens: 100 };
  await using scripted = await createScriptedServer([
    { fault: { status: 429, headers: { 'retry-after': '0' } } },
    { expect: { has: ['add them'], headers: { authorization: 'Bearer own-key' } }, reply: { program: { language: 'javascript', code: 'return input[0] + input[1]' }, usage } },
    { expect: ['3'], reply: { text: 'Together 3.', usage } },
    { expect: ['once more'], reply: program('return 4') },
    { reply: 'It is 4.' },
  ]);
  const providers = { own: { base_url: `${scripted.url}/v1`, key_variable: 'OWN_KEY', models: { small: { price: { input: 2, output: 10 } } } } };
  cli.file('serve.json', JSON.stringify({ models: { default: 'own/small', providers } }));
  const { url, key } = await serve(['--config', 'serve.json'], { OWN_KEY: 'own-key' });
  const client = createClient({ url, key });
  const task = await client.tasks.create({ instruction: 'add them', input: [1, 2], wait_seconds: 120 });
  expect(task).toMatchObject({
    status: 'succeeded',
    result: { output: 3, answer: 'Together 3.' },
    resources_used: { model_tokens: 2200, model_cost_usd: expect.closeTo(0.006, 6) },
  });
  const other = await client.tasks.create({ instruction: 'x', model: { name: scriptFile('other.json', [{ reply: 'x' }]) } }).catch((error) => error);
  expect(other).toMatchObject({ code: 'model_error', message: expect.stringContaining('is not loaded here') });
  const asked = await ask(['once more', '--url', url, '--key', key, '--model', 'own/other']);
  expect(asked).toMatchObject({ code: 0, stdout: 'It is 4.\n' });
  expect(scripted.requests.map(({ asked: { model } }) => model)).toEqual(['small', 'small', 'small', 'other', 'other']);
  scripted.check();
});

test('a configuration of models has the same words as createModels, in snake case', async () => {
  const config = (models: unknown) => loadModelsConfig(join(cli.folder, cli.file('models.json', JSON.stringify({ models }))));
  const own = { kind: 'openai-compatible', base_url: 'http://127.0.0.1:1/v1', headers: { a: 'b' }, timeout_seconds: 5, max_retries: 1, max_retry_wait_seconds: 2 };
  expect(await config({ default: 'own/a', providers: { own: { ...own, models: { a: { max_tokens: 9 } } } } })).toEqual({
    default: 'own/a',
    providers: {
      own: {
        kind: 'openai-compatible',
        baseUrl: 'http://127.0.0.1:1/v1',
        headers: { a: 'b' },
        timeoutMs: 5000,
        maxRetries: 1,
        maxRetryWaitMs: 2000,
        models: { a: { maxTokens: 9 } },
      },
    },
  });
  await expect(config({ providers: { own: { baseurl: 'x' } } })).rejects.toThrow('did you mean "base_url"?');
});

async function serve(args: string[], env: Record<string, string>): Promise<{ url: string; key: string }> {
  const all = [BIN, 'serve', '--port', '0', '--dev', '--json', '--machines', 'threads', '--data', join(cli.folder, 'served'), ...args];
  const child: ChildProcess = spawn(process.execPath, all, { cwd: cli.folder, env: { ...process.env, ...NO_MODELS, NO_COLOR: '1', ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return JSON.parse(line.toString());
}
