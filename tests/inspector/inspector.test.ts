/**
 * The Inspector's command line lists and calls every tool of the MCP server, over both transports.
 *
 * It starts a process for each call and is large, so this is for `FERMATA_FULL=1 npm test -- inspector`, which installs it here at first use,
 * without its install scripts.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const INSPECTOR = join(FOLDER, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const FERMATA = fileURLToPath(new URL('../../packages/fermata/bin/fermata.mjs', import.meta.url));
const TIMEOUT_MS = 900_000;

// biome-ignore lint/suspicious/noExplicitAny: a test looks at JSON as it comes
type Json = Record<string, any>;
/** How the Inspector reaches the server. */
interface Target {
  before: string[];
  after: string[];
}

const folder = mkdtempSync(join(tmpdir(), 'fermata-inspector-'));
const env = { ...process.env, FERMATA_DATA_DIR: join(folder, 'data'), FERMATA_URL: '', HOME: folder, NO_COLOR: '1' };
const given = ['FERMATA_DATA_DIR', 'FERMATA_CACHE_DIR'].flatMap((name) => {
  const value = (env as Record<string, string | undefined>)[name];
  return value === undefined ? [] : ['-e', `${name}=${value}`];
});
let served: ChildProcess | undefined;

async function inspect({ before, after }: Target, method: string, more: string[] = []): Promise<Json> {
  const child = spawn(process.execPath, [INSPECTOR, '--cli', ...before, '--method', method, ...more, ...after], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  try {
    return JSON.parse(out) as Json;
  } catch {
    throw new Error(`the Inspector said ${JSON.stringify(out)} and ${err}`);
  }
}

/** Calls every tool; each answer is checked, and none is left out. */
async function callEverything(target: Target): Promise<string[]> {
  const used = new Set<string>();
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    used.add(name);
    const pairs = Object.entries(args).map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
    const answer = await inspect(target, 'tools/call', ['--tool-name', name, ...(pairs.length > 0 ? ['--tool-arg', ...pairs] : [])]);
    expect(answer.isError, `${name}: ${JSON.stringify(answer.content)}`).not.toBe(true);
    return answer.structuredContent as Json;
  };
  const pays = async () => {
    const { task_id, waiting_for } = await call('run_code', { language: 'javascript', code: 'return await tools.pay({ cents: 1 })' });
    return { task_id, call_id: waiting_for[0].call_id };
  };
  const { file_id } = await call('upload_file', { name: 'a.txt', text: 'some text' });
  expect((await call('download_file', { file_id })).text).toBe('some text');
  const run = await call('run_code', {
    language: 'python',
    code: 'print("hi")\n[task_input["a"], tools.add(a=1, b=2), open("/work/a.txt").read()]',
    input: { a: 0 },
    files: [{ file_id, path: '/work/a.txt' }],
  });
  expect(run).toMatchObject({ status: 'succeeded', result: [0, 3, 'some text'], stdout: 'hi\n' });
  expect((await call('check_code', { language: 'python', code: 'tools.ad()' })).ok).toBe(false);
  expect((await call('get_task', { task_id: run.task_id })).status).toBe('succeeded');
  expect((await call('list_tasks')).tasks.length).toBeGreaterThan(0);
  expect((await call('read_log', { task_id: run.task_id })).entries.length).toBeGreaterThan(0);
  expect((await call('read_output', { task_id: run.task_id, part: 'stdout' })).text).toBe('hi\n');
  const approved = await pays();
  expect((await call('list_waiting_calls')).calls).toContainEqual(expect.objectContaining(approved));
  await call('approve_call', approved);
  expect((await call('get_task', { task_id: approved.task_id, wait_seconds: 60 })).result).toBe('paid 1');
  const rejected = await pays();
  await call('reject_call', { ...rejected, reason: 'no' });
  const asks = await call('run_code', { language: 'javascript', code: 'return await tools.ask({})' });
  await call('answer_call', { task_id: asks.task_id, call_id: asks.waiting_for[0].call_id, output: { yes: true } });
  expect((await call('get_task', { task_id: asks.task_id, wait_seconds: 60 })).result).toEqual({ yes: true });
  const held = await pays();
  expect((await call('pause_task', { task_id: held.task_id })).status).toBe('paused');
  expect((await call('inspect_task', { task_id: held.task_id })).pending).toHaveLength(1);
  await call('resume_task', { task_id: held.task_id });
  expect((await call('cancel_task', { task_id: held.task_id })).status).toBe('cancelled');
  expect((await call('search_tools', { query: 'add' })).total).toBe(1);
  expect((await call('describe_tools', { names: ['add'] })).declarations).toContain('add');
  expect((await call('list_libraries')).images).toHaveLength(2);
  return [...used].sort();
}

describe.runIf(process.env.FERMATA_FULL)('the Inspector', () => {
  beforeAll(async () => {
    if (!existsSync(INSPECTOR)) {
      const { status, stderr } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: FOLDER, encoding: 'utf8' });
      expect(status, stderr).toBe(0);
    }
    writeFileSync(
      join(folder, 'tools.mjs'),
      `export default [
  { name: 'add', description: 'Adds two numbers', execute: ({ a, b }) => a + b },
  { name: 'pay', requiresApproval: true, execute: ({ cents }) => 'paid ' + cents },
];\n`,
    );
    const added = spawnSync(process.execPath, [FERMATA, 'tool', 'add', '{"kind": "client", "name": "ask"}'], { cwd: folder, env, encoding: 'utf8' });
    expect(added.status, added.stderr).toBe(0);
  }, TIMEOUT_MS);
  afterAll(() => {
    served?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  const everything = async (target: Target) => {
    const { tools } = await inspect(target, 'tools/list');
    expect(await callEverything(target)).toEqual(tools.map(({ name }: Json) => name).sort());
    const { resources } = await inspect(target, 'resources/list');
    expect((await inspect(target, 'resources/read', ['--uri', resources[0].uri])).contents).toHaveLength(1);
    expect((await inspect(target, 'resources/templates/list')).resourceTemplates.length).toBeGreaterThan(3);
  };

  test(
    'lists and calls everything over stdio, each time in a new process on the folder',
    () => everything({ before: [...given, process.execPath, FERMATA, 'mcp', '-t', 'tools.mjs'], after: [] }),
    TIMEOUT_MS,
  );

  test(
    'lists and calls everything over HTTP',
    async () => {
      served = spawn(process.execPath, [FERMATA, 'serve', '--port', '0', '--dev', '--json', '-t', 'tools.mjs'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] });
      const [line] = (await once(served.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
      const { url, key } = JSON.parse(line.toString()) as { url: string; key: string };
      await everything({ before: [`${url}/mcp`, '--transport', 'http'], after: ['--header', `Authorization: Bearer ${key}`] });
    },
    TIMEOUT_MS,
  );
});
