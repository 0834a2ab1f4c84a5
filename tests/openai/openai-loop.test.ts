/**
 * An app's own tool-calling loop, by the official client: with a model that calls tools, and with the server as its base URL, where
 * it pays for a third of the requests at most. So also where the server is killed between two of them.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createScriptedServer, type ScriptedServer, type ScriptedStep } from '@fermata/models/scripted';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROGRAM_WRITING, TOOL_CALLING } from './scripts.ts';
import { ANSWER, answerWithTools, implementations } from './shops.ts';

const PROCESS = fileURLToPath(new URL('openai-process.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fermata-openai-'));
let child: ChildProcess | undefined;

/** Starts it over the folder; the key works after a restart, too. */
async function serve(modelUrl: string, port = 0): Promise<{ url: string; key: string }> {
  child = spawn(process.execPath, [PROCESS, folder, String(port), modelUrl], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) return JSON.parse(line);
  throw new Error('the server has not begun');
}
async function kill(): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

const costOf = ({ billed, requests }: ScriptedServer) => ({
  requests: billed.requests,
  bytes: requests.reduce((sum, { bytes }) => sum + bytes, 0),
  tokens: billed.inputTokens + billed.outputTokens,
});
let byTools: { requests: number; bytes: number; tokens: number };
let doneByTools: string[];

beforeAll(async () => {
  await using model = await createScriptedServer(TOOL_CALLING);
  const done: string[] = [];
  const answer = await answerWithTools(new OpenAI({ baseURL: `${model.url}/v1`, apiKey: 'none' }), 'caller', implementations(done));
  expect(answer).toBe(ANSWER);
  expect(done).toHaveLength(12);
  model.check();
  byTools = costOf(model);
  doneByTools = done;
});
afterAll(async () => {
  await kill();
  rmSync(folder, { recursive: true, force: true });
});

function compare(what: string, ours: typeof byTools): void {
  const part = (name: keyof typeof ours) => `${ours[name]} of ${byTools[name]} ${name}`;
  console.log(`${what}: ${part('requests')}, ${part('bytes')}, ${part('tokens')}`);
  expect(ours.requests * 3).toBeLessThanOrEqual(byTools.requests);
  expect(ours.bytes * 3).toBeLessThanOrEqual(byTools.bytes);
}

test('the same loop with another base URL does the same for a third of the model calls and of their bytes', { timeout: 240_000 }, async () => {
  await using model = await createScriptedServer(PROGRAM_WRITING);
  const { url, key } = await serve(model.url);
  const done: string[] = [];
  expect(await answerWithTools(new OpenAI({ baseURL: `${url}/v1`, apiKey: key }), 'writer', implementations(done))).toBe(ANSWER);
  model.check();
  expect(done.slice(0, 8).sort()).toEqual(doneByTools.slice(0, 8).sort());
  expect(done.slice(8)).toEqual(doneByTools.slice(8));
  compare('code mode', costOf(model));
  await kill();
});

test('so it does where the server is killed between two requests and within one, and started again', { timeout: 240_000 }, async () => {
  let lastStart: Promise<unknown> | undefined;
  const [writing, telling] = PROGRAM_WRITING as [ScriptedStep, ScriptedStep];
  // The answer is billed, and never reaches the server that has asked for it.
  const dying = () => {
    lastStart ??= restarted();
    return ANSWER;
  };
  const steps: ScriptedStep[] = [writing, { ...telling, reply: dying }];
  await using model = await createScriptedServer(steps);
  const { url, key } = await serve(model.url);
  const port = Number(new URL(url).port);
  const done: string[] = [];
  const tools = implementations(done);
  const { get_price: price } = tools;
  let restarts = 0;
  async function restarted() {
    await kill();
    restarts++;
    await serve(model.url, port);
  }
  // The app is busy with a tool then, and no request is open.
  tools.get_price = async (args) => {
    await restarted();
    return price?.(args);
  };
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 20 });
  expect(await answerWithTools(client, 'writer', tools)).toBe(ANSWER);
  await lastStart;
  model.check();
  expect(restarts).toBe(2);
  expect([...done].sort()).toEqual([...doneByTools].sort());
  compare('code mode, killed twice', costOf(model));
});
