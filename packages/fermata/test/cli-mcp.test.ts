/** `fermata mcp` as its clients use it: a process on whose standard input and output the protocol is spoken, and that may be killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { ProgressCallback } from '@modelcontextprotocol/sdk/shared/protocol.js';
import { type CallToolResult, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listening } from '../../server/test/listening.ts';
import { type Called, called, INITIALIZE } from '../../server/test/mcp-client.ts';
import { Cli } from './cli.ts';

const BIN = fileURLToPath(new URL('../bin/fermata.mjs', import.meta.url));
const LONG = 'n = 0\nfor i in range(3_000_000):\n    n += i\nn';
const SUM = (3_000_000 * 2_999_999) / 2;
const cli = new Cli();
const env = { ...(process.env as Record<string, string>), FERMATA_DATA_DIR: `${cli.folder}/data`, FERMATA_URL: '', NO_COLOR: '1' };

beforeAll(() => {
  cli.file(
    'tools.mjs',
    `export default [
  { name: 'add', description: 'Adds', execute: ({ a, b }) => { process.stdout.write('stray\\n'); console.log('stray'); return a + b; } },
  { name: 'pay', requiresApproval: true, execute: ({ cents }) => 'paid ' + cents },
];\n`,
  );
});
afterAll(() => cli[Symbol.dispose]());

interface Session extends AsyncDisposable {
  client: Client;
  call(name: string, args?: object, onprogress?: ProgressCallback): Promise<Called>;
  /** As a crash of the machine would. */
  kill(): Promise<void>;
}

async function session(args: string[] = [], onAsked?: (message: string) => 'approve' | 'reject'): Promise<Session> {
  const client = new Client({ name: 'test', version: '1' }, { capabilities: onAsked ? { elicitation: {} } : {} });
  if (onAsked) client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({ action: 'accept', content: { decision: onAsked(params.message) } }));
  const transport = new StdioClientTransport({ command: process.execPath, args: [BIN, 'mcp', ...args], cwd: cli.folder, env, stderr: 'ignore' });
  await client.connect(transport);
  await client.listTools();
  return {
    client,
    call: async (name, given = {}, onprogress) =>
      called((await client.callTool({ name, arguments: { ...given } }, undefined, { timeout: 100_000, ...(onprogress ? { onprogress } : {}) })) as CallToolResult),
    kill: async () => {
      const closed = new Promise<void>((resolve) => {
        client.onclose = resolve;
      });
      process.kill(transport.pid as number, 'SIGKILL');
      await closed;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

test('a task that was paused outlives a killed process: the next one on the folder follows and resumes it', async () => {
  const first = await session();
  const { value } = await first.call('run_code', { language: 'python', code: LONG, wait_seconds: 0 });
  await expect.poll(async () => (await first.call('get_task', { task_id: value.task_id })).value.line, { timeout: 60_000 }).toEqual(expect.any(Number));
  expect((await first.call('pause_task', { task_id: value.task_id, wait_seconds: 60 })).value.status).toBe('paused');
  const { value: running } = await first.call('run_code', { language: 'python', code: LONG, wait_seconds: 0, limits: { timeout_seconds: 600 } });
  await first.kill();

  await using second = await session();
  expect((await second.call('get_task', { task_id: value.task_id })).value.status).toBe('paused');
  expect((await second.call('inspect_task', { task_id: value.task_id })).text).toContain('n = ');
  expect((await second.call('resume_task', { task_id: value.task_id, wait_seconds: 90 })).value).toMatchObject({ status: 'succeeded', result: SUM });
  // What ran when the process was killed goes on by itself.
  expect((await second.call('get_task', { task_id: running.task_id, wait_seconds: 90 })).value).toMatchObject({ status: 'succeeded', result: SUM });
});

describe('with a file of tools', () => {
  test('programs call them, the user decides on what needs approval, and what tools print does not disturb', async () => {
    const asked: string[] = [];
    await using mcp = await session(['-t', 'tools.mjs'], (message) => {
      asked.push(message);
      return message.includes('13') ? 'reject' : 'approve';
    });
    const told: (string | undefined)[] = [];
    const code = 'from fermata import step\nstep("adding")\ns = tools.add(a=1, b=2)\nstep("paying")\ntools.pay(cents=s)';
    const { value } = await mcp.call('run_code', { language: 'python', code, wait_seconds: 60 }, ({ message }) => told.push(message));
    expect(value).toMatchObject({ status: 'succeeded', result: 'paid 3' });
    expect(asked).toEqual(['A program wants to call pay with {"cents":3}. Allow it?']);
    expect(told.length).toBeGreaterThan(0);
    const refused = await mcp.call('run_code', { language: 'javascript', code: 'return await tools.pay({ cents: 13 })', wait_seconds: 60 });
    expect(refused).toMatchObject({ isError: true, value: { status: 'failed', error: { code: 'approval_rejected' } } });
    expect((await mcp.call('describe_tools', { names: ['add'] })).value.declarations).toContain('add');
    // A task knows the file of its tools, so that `fermata resume` finds them.
    expect((await cli.json(['task', 'get', value.task_id])).metadata).toEqual({ tools_file: expect.stringContaining('tools.mjs') });
    expect((await cli.json(['run', '-l', 'python', '-e', '1', '--tools', 'other.mjs'])).error.code).toMatch(/invalid_request|conflict/);
  });

  test('with --no-approve nothing that decides is offered, and the call waits for a person', async () => {
    await using mcp = await session(['-t', 'tools.mjs', '--no-approve'], () => 'approve');
    const names = (await mcp.client.listTools()).tools.map(({ name }) => name);
    expect(names).not.toContain('approve_call');
    expect(names).toContain('run_code');
    const { value } = await mcp.call('run_code', { language: 'javascript', code: 'return await tools.pay({ cents: 1 })', wait_seconds: 60 });
    expect(value).toMatchObject({ status: 'waiting', waiting_for: [{ kind: 'approval' }] });
    const [{ call_id: callId }] = value.waiting_for;
    expect((await mcp.call('approve_call', { task_id: value.task_id, call_id: callId })).error).toMatchObject({ code: 'forbidden' });
    expect((await mcp.call('answer_call', { task_id: value.task_id, call_id: callId, output: 1 })).error).toMatchObject({ code: 'forbidden' });
    // The person, elsewhere.
    await cli.json(['task', 'approve', value.task_id, callId]);
    expect((await mcp.call('get_task', { task_id: value.task_id, wait_seconds: 60 })).value).toMatchObject({ status: 'succeeded', result: 'paid 1' });
  });
});

test('with --url it is the MCP server of another server, with what its key may do', async () => {
  const at = await listening();
  try {
    await using mcp = await session(['--url', at.url, '--key', at.key]);
    expect((await mcp.call('run_code', { language: 'javascript', code: '{"output": 3}', task_id: 'there' })).value.result).toBe(3);
    expect((await at.ask('GET', '/api/v1/tasks/there')).body.status).toBe('succeeded');
    await using other = await session(['--url', at.url, '--key', at.foreignKey]);
    expect((await other.call('get_task', { task_id: 'there' })).error).toMatchObject({ code: 'not_found' });
    await using none = await session(['--url', at.url, '--key', 'fm_wrong']);
    expect((await none.call('list_tasks')).error).toMatchObject({ code: 'unauthorized' });
  } finally {
    await at.close();
  }
});

test('lines that are no messages are passed over, and it ends well when its input is closed', async () => {
  const child = spawn(process.execPath, [BIN, 'mcp'], { cwd: cli.folder, env, stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  child.stdin.write(`no json\n{"jsonrpc":"1.0"}\n[]\n\u0000\n{"a":${'['.repeat(5000)}\n${JSON.stringify(INITIALIZE)}\n`);
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    break;
  }
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ id: 0, result: { serverInfo: { name: 'fermata' } } });
  child.stdin.end();
  expect(await ended).toEqual([0, null]);
});
