/** The tools of the MCP server, as the SDK's own client sees them; it checks every structured answer against the output schema. */
import { readFileSync } from 'node:fs';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MCP_TOOLS } from '../src/mcp/tools/index.ts';
import { type Listening, listening } from './listening.ts';
import { type McpClient, mcpClient } from './mcp-client.ts';

let at: Listening;
let mcp: McpClient;
beforeAll(async () => {
  at = await listening({ mcp: { askMs: 60_000 } });
  mcp = await mcpClient(at.url, at.key);
});
afterAll(async () => {
  await mcp.client.close();
  await at.close();
});

const program = (what: object) => ({ language: 'javascript', code: JSON.stringify(what) });
const needsApproval = program({ call: { tool: 'pay', args: { cents: 5 }, kind: 'approval' } });
const statusOf = async (taskId: string) => (await mcp.call('get_task', { task_id: taskId })).value.status;

describe('what a model is told', () => {
  test('every tool says what it does, whether it changes anything, and the form of its arguments and answers', async () => {
    const { tools } = await mcp.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(MCP_TOOLS.map(({ name }) => name));
    for (const { name, title, description = '', annotations, inputSchema, outputSchema } of tools) {
      expect(title, name).toBeTruthy();
      expect(description.length, name).toBeGreaterThan(40);
      expect(annotations, name).toEqual(
        expect.objectContaining({
          readOnlyHint: expect.any(Boolean),
          destructiveHint: expect.any(Boolean),
          idempotentHint: expect.any(Boolean),
          openWorldHint: expect.any(Boolean),
        }),
      );
      expect(annotations?.readOnlyHint && annotations.destructiveHint, name).toBe(false);
      expect(inputSchema, name).toMatchObject({ type: 'object', additionalProperties: false });
      expect(outputSchema?.type, name).toBe('object');
      // Some clients cannot read what may be of several types, or is referred to.
      expect(JSON.stringify([inputSchema, outputSchema]), name).not.toMatch(/\$ref|"type":\["|anyOf|"null"/);
    }
    const changing = tools.filter(({ annotations }) => !annotations?.readOnlyHint).map(({ name }) => name);
    expect(changing.sort()).toEqual(['answer_call', 'approve_call', 'cancel_task', 'pause_task', 'reject_call', 'resume_task', 'run_code', 'upload_file']);
  });

  test('docs/mcp-server.md lists exactly these tools, with their scopes', () => {
    const page = readFileSync(new URL('../../../docs/mcp-server.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].map(([, name, scope]) => `${name} ${scope}`);
    expect(rows).toEqual(MCP_TOOLS.map(({ name, scope }) => `${name} ${scope}`));
  });

  test('the server says what it is for', () => {
    expect(mcp.client.getServerVersion()).toMatchObject({ name: 'fermata', version: expect.stringMatching(/^\d/) });
    expect(mcp.client.getInstructions()).toContain('run_code');
  });
});

describe('running', () => {
  test('a program that ends tells its result, as a value and as a text', async () => {
    const { isError, value, text } = await mcp.call('run_code', program({ output: { sum: 6 }, print: 'hello\n' }));
    expect(isError).toBe(false);
    expect(value).toMatchObject({ status: 'succeeded', result: { sum: 6 }, stdout: 'hello\n' });
    expect(value).not.toHaveProperty('next');
    expect(text).toMatch(/^task_\w+ succeeded\nresult:\n\{"sum":6\}\nstdout:\nhello$/);
  });

  test('a program that fails is an error of the tool, with its place', async () => {
    const { isError, value, text } = await mcp.call('run_code', program({ fail: 'no such row' }));
    expect(isError).toBe(true);
    expect(value).toMatchObject({ status: 'failed', error: { code: 'guest_error', message: 'no such row', line: 3 } });
    expect(text).toContain('error guest_error: no such row (line 3)');
    // To look at it later is no error.
    expect((await mcp.call('get_task', { task_id: value.task_id })).isError).toBe(false);
  });

  test('what takes longer is handed back with its id, and followed', async () => {
    const { value, text } = await mcp.call('run_code', { ...program({ hold: true }), wait_seconds: 0.05, task_id: 'long' });
    expect(value).toMatchObject({ task_id: 'long', status: 'running', next: expect.stringContaining('get_task') });
    expect(text).toContain('long running');
    expect((await mcp.call('pause_task', { task_id: 'long' })).value).toMatchObject({
      status: 'paused',
      pause_reason: 'user_request',
      next: expect.stringContaining('resume_task'),
    });
    expect((await mcp.call('inspect_task', { task_id: 'long' })).text).toContain('x = 1');
    expect((await mcp.call('resume_task', { task_id: 'long' })).value.status).toMatch(/pending|running/);
    const waiting = mcp.call('get_task', { task_id: 'long', wait_seconds: 60 });
    expect((await mcp.call('cancel_task', { task_id: 'long' })).value.status).toBe('cancelled');
    expect((await waiting).value.status).toBe('cancelled');
    expect((await mcp.call('pause_task', { task_id: 'long' })).error).toMatchObject({ code: 'invalid_state' });
    expect((await mcp.call('list_tasks', { status: ['cancelled'] })).value.tasks).toEqual([expect.objectContaining({ task_id: 'long' })]);
    expect((await mcp.call('read_log', { task_id: 'long' })).value.entries.map(({ kind }: { kind: string }) => kind)).toContain('state');
  });

  test('the same id and program is the same task, another program under it is a conflict', async () => {
    const first = await mcp.call('run_code', { ...program({ output: 1 }), task_id: 'once' });
    expect((await mcp.call('run_code', { ...program({ output: 1 }), task_id: 'once' })).value).toEqual(first.value);
    expect((await mcp.call('run_code', { ...program({ output: 2 }), task_id: 'once' })).error).toMatchObject({ code: 'conflict' });
  });

  test('a client that asks for it is told how far it is, in rising numbers', async () => {
    const told: Progress[] = [];
    await mcp.call('run_code', { ...program({ hold: true }), wait_seconds: 1, task_id: 'told' }, { onprogress: (progress) => told.push(progress) });
    await mcp.call('cancel_task', { task_id: 'told' });
    expect(told.length).toBeGreaterThan(0);
    expect(told.map(({ progress }) => progress)).toEqual(told.map((_, index) => index + 1));
    expect(told[0]?.message).toMatch(/pending|running/);
  });

  test('who takes run_code back cancels its task; who takes get_task back only stops waiting', async () => {
    for (const [name, args, left] of [
      ['run_code', { ...program({ hold: true }), wait_seconds: 60, task_id: 'taken_back' }, 'cancelled'],
      ['get_task', { task_id: 'kept', wait_seconds: 60 }, 'running'],
    ] as const) {
      if (name === 'get_task') await mcp.call('run_code', { ...program({ hold: true }), wait_seconds: 0, task_id: 'kept' });
      const stop = new AbortController();
      const waiting = mcp.call(name, args, { signal: stop.signal }).catch(() => 'taken back');
      const { task_id: taskId } = args;
      await expect.poll(() => statusOf(taskId), { timeout: 20_000 }).toBe('running');
      stop.abort();
      expect(await waiting).toBe('taken back');
      await expect.poll(() => statusOf(taskId), { timeout: 20_000 }).toBe(left);
    }
    await mcp.call('cancel_task', { task_id: 'kept' });
  });

  test('a connection that goes leaves its task alone', async () => {
    const other = await mcpClient(at.url, at.key);
    const waiting = other.call('run_code', { ...program({ hold: true }), wait_seconds: 60, task_id: 'left' }).catch(() => 'gone');
    await expect.poll(() => statusOf('left'), { timeout: 20_000 }).toBe('running');
    await other.transport.terminateSession();
    await other.client.close();
    expect(await waiting).toBe('gone');
    expect(await statusOf('left')).toBe('running');
    await mcp.call('cancel_task', { task_id: 'left' });
  });

  test('no request that has ended stays open in the server', async () => {
    await mcp.call('run_code', { ...needsApproval, wait_seconds: 60, task_id: 'open' }, { onprogress: () => {} });
    const small = await listening({ maxOpenRequests: 2 });
    try {
      await using some = await mcpClient(small.url, small.key);
      for (let n = 0; n < 5; n++) {
        const { value, error } = await some.call('run_code', { ...needsApproval, wait_seconds: 60, task_id: `open_${n}` }, { onprogress: () => {} });
        expect(error).toBeUndefined();
        expect(value.status).toBe('waiting');
      }
    } finally {
      await small.close();
    }
  });
});

describe('what goes wrong is told to the model, with what to do', () => {
  test.each([
    ['an unknown tool', 'run_cod', {}, 'not_found', 'Did you mean run_code?'],
    ['a misspelt argument', 'run_code', { language: 'python', kode: '1' }, 'invalid_request', 'did you mean "code"'],
    ['a language that there is not', 'run_code', { language: 'ruby', code: '1' }, 'invalid_request', 'language'],
    ['a limit that is too small', 'run_code', { language: 'python', code: '1', limits: { timeout_seconds: 0 } }, 'invalid_request', 'limits.timeout_seconds'],
    ['a file that there is not', 'run_code', { language: 'python', code: '1', files: [{ file_id: 'file_x', path: '/work/a' }] }, 'invalid_request', 'upload_file'],
    ['a task that there is not', 'get_task', { task_id: 'nope' }, 'not_found', 'nope'],
    ['a call that there is not', 'approve_call', { task_id: 'once', call_id: 'call_9' }, 'not_found', 'get_task'],
    ['two answers to one call', 'answer_call', { task_id: 'once', call_id: 'call_1', output: 1, retry: true }, 'invalid_request', 'exactly one'],
    ['a file in two forms', 'upload_file', { name: 'a', text: 'a', base64: 'YQ==' }, 'invalid_request', 'exactly one'],
    ['base64 that is none', 'upload_file', { name: 'a', base64: '???' }, 'invalid_request', 'base64'],
  ])('%s', async (_what, name, args, code, words) => {
    const { isError, error, text, value } = await mcp.call(name, args);
    expect(isError).toBe(true);
    expect(error).toMatchObject({ code, message: expect.any(String) });
    expect(text).toContain(`${code}: `);
    expect(text).toContain(words);
    expect(value).toEqual({});
    expect(at.errors).toEqual([]);
  });
});

describe('calls that wait for somebody', () => {
  test('a client that cannot ask is told what the task waits for, and decides by a tool', async () => {
    const { value, text } = await mcp.call('run_code', { ...needsApproval, task_id: 'pay_1' });
    expect(value).toMatchObject({ status: 'waiting', waiting_for: [{ kind: 'approval', tool: 'pay', call_id: 'call_1', arguments: { cents: 5 } }] });
    expect(text).toContain('ask the user, then approve_call or reject_call with call_id call_1');
    expect((await mcp.call('list_waiting_calls', { kinds: ['approval'] })).text).toContain('task_id pay_1, call_id call_1');
    expect((await mcp.call('approve_call', { task_id: 'pay_1', call_id: 'call_1', arguments: { cents: 4 } })).isError).toBe(false);
    expect((await mcp.call('get_task', { task_id: 'pay_1', wait_seconds: 20 })).value).toMatchObject({ status: 'succeeded', result: { cents: 4 } });
  });

  test('a call of a client tool is answered by a tool', async () => {
    const wants = program({ call: { tool: 'ask', args: {}, kind: 'client_tool' } });
    expect((await mcp.call('run_code', { ...wants, task_id: 'asks' })).value.next).toContain('answer_call');
    expect((await mcp.call('answer_call', { task_id: 'asks', call_id: 'call_1', output: null })).isError).toBe(false);
    expect((await mcp.call('get_task', { task_id: 'asks', wait_seconds: 20 })).value).toMatchObject({ status: 'succeeded', result: null });
  });

  test('a rejected call is told to the program', async () => {
    await mcp.call('run_code', { ...needsApproval, task_id: 'pay_2' });
    await mcp.call('reject_call', { task_id: 'pay_2', call_id: 'call_1', reason: 'too dear' });
    expect((await mcp.call('get_task', { task_id: 'pay_2', wait_seconds: 20 })).value).toMatchObject({ status: 'failed', error: { message: 'too dear' } });
  });

  test.each([
    ['approves', { action: 'accept' as const, content: { decision: 'approve' } }, { status: 'succeeded' }],
    ['rejects', { action: 'accept' as const, content: { decision: 'reject', reason: 'no money' } }, { status: 'failed', error: { message: 'no money' } }],
    ['declines', { action: 'decline' as const }, { status: 'failed', error: { message: 'the user rejected it' } }],
    ['says nothing', { action: 'cancel' as const }, { status: 'waiting' }],
    ['says something else', { action: 'accept' as const, content: { decision: 'perhaps' } }, { status: 'waiting' }],
  ])('where the client can ask, its user %s, and run_code goes on by that', async (what, answer, outcome) => {
    const asked: string[] = [];
    await using other = await mcpClient(at.url, at.key, {
      onAsked: ({ message }) => {
        asked.push(message);
        return answer;
      },
    });
    const { value } = await other.call('run_code', { ...needsApproval, task_id: `asked_${what.replaceAll(' ', '_')}` });
    expect(value).toMatchObject(outcome);
    expect(asked).toEqual(['A program wants to call pay with {"cents":5}. Allow it?']);
  });

  test('approve_call asks the user too, where the client can: a model does not decide alone', async () => {
    let decision = 'reject';
    await using other = await mcpClient(at.url, at.key, { onAsked: () => ({ action: 'accept', content: { decision } }) });
    for (const [taskId, said, status] of [
      ['own_1', 'reject', 'failed'],
      ['own_2', 'approve', 'succeeded'],
    ] as const) {
      await mcp.call('run_code', { ...needsApproval, task_id: taskId });
      decision = said;
      await other.call('approve_call', { task_id: taskId, call_id: 'call_1' });
      expect((await mcp.call('get_task', { task_id: taskId, wait_seconds: 20 })).value.status).toBe(status);
    }
  });

  test('a run_code that is taken back while the user is asked leaves the task waiting', async () => {
    const stop = new AbortController();
    await using other = await mcpClient(at.url, at.key, {
      onAsked: () => {
        stop.abort();
        return { action: 'cancel' };
      },
    });
    await other.call('run_code', { ...needsApproval, task_id: 'thinks', wait_seconds: 60 }, { signal: stop.signal }).catch(() => {});
    await other.client.ping();
    expect(await statusOf('thinks')).toBe('waiting');
    await mcp.call('cancel_task', { task_id: 'thinks' });
  });
});

describe('long texts and files', () => {
  test('a long result is cut with a note, and read in pieces', async () => {
    const long = 'ab'.repeat(30_000);
    const { value, text } = await mcp.call('run_code', { ...program({ output: long, print: 'x'.repeat(10_000) }), task_id: 'big' });
    expect(value.cut).toEqual([
      { part: 'result', total_chars: 60_002 },
      { part: 'stdout', total_chars: 10_000 },
    ]);
    expect(text.length).toBeLessThan(20_000);
    expect(text).toContain('read_output');
    let read = '';
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const piece = await mcp.call('read_output', { task_id: 'big', part: 'result', offset, max_chars: 25_000 });
      read += piece.text;
      offset = piece.value.next_offset;
    }
    expect(JSON.parse(read)).toBe(long);
    expect((await mcp.call('read_output', { task_id: 'big', part: 'code' })).text).toContain('"output"');
  });

  test('files go in and come out, as text without a cut character and as base64', async () => {
    const text = 'h\u00e9llo \u{1f600}'.repeat(9);
    const { value: stored } = await mcp.call('upload_file', { name: 'a.txt', text });
    let read = '';
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const piece = await mcp.call('download_file', { file_id: stored.file_id, offset, max_bytes: 17 });
      read += piece.value.text;
      offset = piece.value.next_offset;
    }
    expect(read).toBe(text);
    const bytes = Buffer.from([0, 255, 1, 254]);
    const { value: binary } = await mcp.call('upload_file', { name: 'b.bin', base64: bytes.toString('base64') });
    expect((await mcp.call('download_file', { file_id: binary.file_id })).value).toMatchObject({ base64: bytes.toString('base64'), total_bytes: 4 });
    expect((await mcp.call('download_file', { file_id: binary.file_id, as: 'text' })).error).toMatchObject({ code: 'invalid_request' });
    expect((await mcp.call('download_file', { file_id: binary.file_id, offset: 100 })).value).toMatchObject({ base64: '', total_bytes: 4 });
  });

  test('tasks and files are resources', async () => {
    const { value: stored } = await mcp.call('upload_file', { name: 'r', text: 'as a resource' });
    await mcp.call('run_code', { ...program({ output: 7, print: 'out' }), task_id: 'res' });
    expect((await mcp.client.listResources()).resources.map(({ uri }) => uri)).toContain('fermata://tasks/res');
    expect((await mcp.client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain('fermata://tasks/{task_id}/stdout');
    const read = async (uri: string) => (await mcp.client.readResource({ uri })).contents[0];
    expect(await read('fermata://tasks/res/result')).toMatchObject({ text: '7', mimeType: 'application/json' });
    expect(await read('fermata://tasks/res/stdout')).toMatchObject({ text: 'out' });
    expect(JSON.parse(String(((await read('fermata://tasks/res')) as { text: string }).text))).toMatchObject({ status: 'succeeded' });
    expect(await read(`fermata://files/${stored.file_id}`)).toMatchObject({ text: 'as a resource' });
    for (const uri of ['fermata://tasks/nope', 'fermata://tasks/res/other', 'fermata://files/%ff', 'file:///etc/passwd', 'fermata://tasks/..%2f..%2fkeys'])
      await expect(mcp.client.readResource({ uri }), uri).rejects.toMatchObject({ code: -32002 });
  });
});

describe('what programs have at hand', () => {
  test('tools are found by words, and described as declarations', async () => {
    for (const args of [{ query: 'customer find' }, { query: 'finding customers' }, {}]) {
      expect((await mcp.call('search_tools', args)).value).toEqual({ total: 1, tools: [{ name: 'crm.find', description: 'Finds "a" customer', needs_approval: false }] });
    }
    expect((await mcp.call('search_tools', { query: 'nothing like it' })).value.tools).toEqual([]);
    const { value } = await mcp.call('describe_tools', { names: ['crm.find', 'crm.lost'], language: 'python' });
    expect(value).toMatchObject({ unknown: ['crm.lost'], tools: [{ name: 'crm.find', parameters: { required: ['id'] } }] });
    expect(value.declarations).toContain('id: int');
    expect((await mcp.call('describe_tools', { names: ['crm.find'] })).value.declarations).toContain('id: number');
  });

  test('a program is checked without being run', async () => {
    const { value, text } = await mcp.call('check_code', { language: 'python', code: 'word' });
    expect(value).toMatchObject({ ok: false, findings: [{ rule: 'syntax_error', line: 1 }] });
    expect(text).toContain('line 1');
    expect((await mcp.call('check_code', { language: 'python', code: 'two words' })).value).toEqual({ ok: true, findings: [] });
    expect((await mcp.call('list_libraries')).value).toEqual({ images: [] });
  });
});
