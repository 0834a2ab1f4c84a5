/** Tasks over HTTP: created, shown in each state, listed, controlled, looked into, purged. */
import { createdTaskSchema, shortTaskSchema, taskSchema } from '@fermata/protocol/wire';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Listening, listening } from './listening.ts';

let at: Listening;
beforeAll(async () => {
  at = await listening();
});
afterAll(() => at.close());
const tasks = '/api/v1/tasks';

test('a task is created, and shown when it has ended', async () => {
  const created = await at.ask('POST', tasks, { json: { code: '{"output": [1, 2]}', language: 'javascript' } });
  expect(created.status).toBe(201);
  expect(Object.keys(createdTaskSchema.parse(created.body))).toEqual(['task_id', 'status', 'created_at']);
  const shown = await at.ask('GET', `${tasks}/${created.body.task_id}?wait_seconds=5`);
  expect(taskSchema.parse(shown.body)).toMatchObject({ status: 'succeeded', attempt: 1, sandbox: 'wasm', image: 'quickjs' });
  expect(shown.body.result).toMatchObject({ output: [1, 2], exit_code: 0, truncated: false, files: [], resources_used: { cpu_time_s: 0.003, memory_mb: 1 } });
  expect(shown.body.result.execution_log.map(({ kind }: { kind: string }) => kind)).toContain('state');
});

test('with wait_seconds the answer is the whole task', async () => {
  const { status, body } = await at.run({ print: 'hello\n', output: { $fermata: ['undefined'] } });
  expect(status).toBe(201);
  expect(taskSchema.parse(body)).toMatchObject({ status: 'succeeded', result: { output: null, stdout: 'hello\n' } });
});

test('a failed task has its error, with the place', async () => {
  const { body } = await at.run({ fail: 'boom' });
  expect(taskSchema.parse(body)).toMatchObject({
    status: 'failed',
    error: { code: 'guest_error', name: 'ValueError', message: 'boom', line: 3, hint: null },
    result: { exit_code: 1 },
  });
});

test('a waiting task says what it waits for, and waiting for it ends at once', async () => {
  const { body } = await at.run({ call: { tool: 'pay', args: { amount: 5 }, kind: 'approval' } }, { wait_seconds: 60 });
  expect(taskSchema.parse(body)).toMatchObject({
    status: 'waiting',
    waiting_for: [{ call_id: 'call_1', tool: 'pay', arguments: { amount: 5 }, kind: 'approval', expires_at: null }],
  });
});

test('the whole request reaches the engine, in its units', async () => {
  const file = await at.ask('POST', '/api/v1/files?name=a.csv', { body: 'a,b', headers: { 'content-type': 'text/csv' } });
  const { body } = await at.run(
    { output: 1 },
    {
      ...{
        task_id: 'all-of-it',
        session_id: 's',
        shared_interpreter: true,
        sandbox: 'auto',
        image: null,
        tools: ['crm.*'],
        input: { a: [1] },
        stdin: 'x',
        priority: 3,
        metadata: { m: 1 },
      },
      files: [{ file_id: file.body.file_id, path: '/work/a.csv' }],
      tool_constraints: {
        ...{
          allowed_libraries: ['math'],
          required_libraries: ['math'],
          blocked_commands: ['rm'],
          strict: true,
          timeout_seconds: 1.5,
          max_cpu_seconds: 2,
          max_memory_mb: 64,
          max_disk_mb: 1,
        },
        ...{ max_processes: 4, max_output_bytes: 10, max_tool_calls: 3, network_access: false, network_timeout_seconds: 3 },
      },
      policy: [{ tool: 'pay.*', when: { amount: { gt: 100 } }, action: 'require_approval', reason: 'much', expires_after_seconds: 60 }],
      retry: { max_attempts: 2 },
      callback_url: 'https://example.com/hook',
    },
  );
  expect(file).toMatchObject({ status: 201 });
  expect(body.status).toBe('succeeded');
  const { request } = await at.engine.task({ tenant: 'ours', taskId: 'all-of-it' });
  expect(request).toEqual({
    ...{
      language: 'javascript',
      code: '{"output":1}',
      input: { a: [1] },
      stdin: 'x',
      files: [{ path: '/work/a.csv', blob: `file_ours_${file.body.file_id}` }],
      tools: ['crm.*'],
      allowedLibraries: ['math'],
      requiredLibraries: ['math'],
      blockedCommands: ['rm'],
      strict: true,
    },
    limits: { timeoutMs: 1500, maxCpuMs: 2000, maxMemoryBytes: 64 * 1024 * 1024, maxDiskBytes: 1024 * 1024, maxOutputBytes: 10, maxToolCalls: 3 },
    policy: [{ tool: 'pay.*', when: { amount: { gt: 100 } }, action: 'require_approval', reason: 'much', expiresAfterMs: 60_000 }],
    ...{ retry: { maxAttempts: 2, backoffMs: 1000 }, priority: 3, sessionId: 's', sharedInterpreter: true, metadata: { m: 1 }, callbackUrl: 'https://example.com/hook' },
  });
});

describe('what cannot be had is refused, and the refusal says what to do', () => {
  const code = { code: '1', language: 'python' };
  test.each([
    [{}, 'invalid_request', /exactly one of code, instruction and tool_call/],
    [{ ...code, tool_call: { name: 'a' } }, 'invalid_request', /not code and tool_call/],
    [{ code: '1' }, 'invalid_request', /needs a language/],
    [{ instruction: 'add' }, 'model_error', /no model is configured/],
    [{ ...code, langauge: 'python' }, 'invalid_request', /did you mean "language"/],
    [{ ...code, tool_constraints: { timeout: 1 } }, 'invalid_request', /tool_constraints: there is no "timeout"; did you mean "timeout_seconds"/],
    [{ ...code, tool_constraints: { timeout_seconds: 0 } }, 'invalid_request', /tool_constraints\.timeout_seconds/],
    [{ ...code, tool_constraints: { max_memory_mb: 0.5 } }, 'invalid_request', /max_memory_mb/],
    [{ ...code, tool_constraints: { max_tool_calls: -1 } }, 'invalid_request', /max_tool_calls/],
    [{ ...code, tool_constraints: { strict: 'yes' } }, 'invalid_request', /strict/],
    [{ ...code, tool_constraints: { max_checkpoint_mb: 0.5 } }, 'invalid_request', /max_checkpoint_mb/],
    [{ ...code, sandbox: 'docker' }, 'sandbox_unavailable', /docker/],
    [{ ...code, image: 'python:3.12' }, 'sandbox_unavailable', /image/],
    [{ ...code, shared_interpreter: true }, 'invalid_request', /session_id/],
    [{ ...code, model: { name: 'm' } }, 'invalid_request', /model/],
    [{ tool_call: { name: 'a' }, stdin: '' }, 'invalid_request', /stdin/],
    [{ ...code, input: { $fermata: ['what'] } }, 'invalid_request', /not a value form/],
    [{ ...code, files: [{ file_id: 'file_none', path: '/work/a' }] }, 'invalid_request', /there is no file/],
    [{ ...code, files: [{ file_id: 'f', path: '/etc/passwd' }] }, 'invalid_request', /\/work or \/tmp/],
    [{ ...code, task_id: '../x' }, 'invalid_request', /task_id/],
    [{ ...code, callback_url: 'ftp://a' }, 'invalid_request', /callback_url/],
    [{ ...code, callback_url: 'http://127.0.0.1/x' }, 'invalid_request', /not a public address/],
    [{ ...code, callback_url: 'http://[::ffff:10.0.0.1]/x' }, 'invalid_request', /not a public address/],
    [{ ...code, callback_url: 'https://u:p@example.com/x' }, 'invalid_request', /user name/],
    [{ ...code, policy: [{ tool: 'a', action: 'forbid' }] }, 'invalid_request', /policy\.0\.action/],
    [{ ...code, policy: [{ tool: 'a', action: 'deny', when: { x: { matches: '(' } } }] }, 'invalid_request', /policy\.0\.when/],
  ])('%j', async (json, code, message) => {
    const { status, headers, body } = await at.ask('POST', tasks, { json });
    expect([status, body.code]).toEqual([422, code]);
    expect(body.detail).toMatch(message);
    expect(headers.get('content-type')).toBe('application/problem+json');
    expect(body).toMatchObject({ type: `/docs#${code}`, status: 422, instance: tasks });
  });
});

test('bodies of another type, broken, or too large are refused by their own status', async () => {
  expect(await at.ask('POST', tasks, { body: 'code=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } })).toMatchObject({
    status: 415,
    body: { code: 'unsupported_media_type' },
  });
  expect(await at.ask('POST', tasks, { body: '{"code": "1",\n "language": python}', headers: { 'content-type': 'application/json' } })).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', status: 400, line: 2, column: 14, detail: expect.stringMatching(/line 2, column 14: unexpected "python"/), instance: tasks },
  });
  const small = await listening({ maxBodyBytes: 100 });
  expect(await small.ask('POST', tasks, { json: { code: 'x'.repeat(200), language: 'python' } })).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
  await small.close();
});

test('the same id with the same body is a repeat, with another body a conflict', async () => {
  const json = { task_id: 'mine', language: 'javascript', code: '{"output":1}' };
  expect((await at.ask('POST', tasks, { json })).status).toBe(201);
  expect(await at.ask('POST', tasks, { json })).toMatchObject({ status: 201, body: { task_id: 'mine' } });
  expect(await at.ask('POST', tasks, { json: { ...json, code: '{}' } })).toMatchObject({ status: 409, body: { code: 'conflict' } });
});

test('lists come in pages, newest first, and by state, session and tool', async () => {
  for (const n of [1, 2, 3]) await at.run({ output: n }, { session_id: 'pages', task_id: `page-${n}` });
  const first = await at.ask('GET', `${tasks}?session_id=pages&limit=2`);
  expect(first.body.items.map((task: { task_id: string }) => task.task_id)).toEqual(['page-3', 'page-2']);
  const second = await at.ask('GET', `${tasks}?session_id=pages&limit=2&cursor=${first.body.cursor}`);
  expect(second.body.items.map((task: { task_id: string }) => task.task_id)).toEqual(['page-1']);
  expect(second.body).not.toHaveProperty('cursor');
  expect((await at.ask('GET', `${tasks}?session_id=pages&status=failed,cancelled`)).body.items).toEqual([]);
  expect((await at.ask('GET', `${tasks}?tool=pay`)).body.items).toHaveLength(1);
  expect((await at.ask('GET', `${tasks}?created_after=2999-01-01T00:00:00Z`)).body.items).toEqual([]);
  expect(await at.ask('GET', `${tasks}?status=done`)).toMatchObject({ status: 422, body: { code: 'invalid_request' } });
  expect(await at.ask('GET', `${tasks}?limit=0`)).toMatchObject({ status: 422 });
  expect((await at.ask('GET', `${tasks}?sesion_id=x`)).body.detail).toMatch(/did you mean "session_id"/);
});

test('pause, resume and cancel; asking for what holds is no error, and an ended task is a conflict', async () => {
  await at.ask('POST', tasks, { json: { task_id: 'held', language: 'javascript', code: '{"hold":true}' } });
  const control = (action: string, more = {}) => at.ask('POST', `${tasks}/held/control`, { json: { action, ...more } });
  expect(await control('pause')).toMatchObject({ status: 200, body: { status: 'paused', pause_reason: 'user_request', resumable: true } });
  expect(await control('pause')).toMatchObject({ status: 200 });
  expect(await control('resume')).toMatchObject({ status: 200 });
  at.engine.refusePauses = true;
  expect(await control('pause')).toMatchObject({ status: 503, body: { code: 'checkpoint_failed' } });
  at.engine.refusePauses = false;
  expect(await control('stop')).toMatchObject({ status: 422 });
  expect(await control('cancel')).toMatchObject({ status: 200, body: { status: 'cancelled', result: { exit_code: null } } });
  expect(await control('cancel')).toMatchObject({ status: 200 });
  expect(await control('pause')).toMatchObject({ status: 409, body: { code: 'invalid_state' } });
  expect(await control('resume')).toMatchObject({ status: 409, body: { code: 'invalid_state' } });
});

test('a state that is not true in time is a 202, and a task that ended meanwhile a conflict', async () => {
  await at.run({ hold: true }, { task_id: 'slow', wait_seconds: 0 });
  const { pause } = at.engine;
  let asked: unknown;
  at.engine.pause = async (ref, options?: unknown) => {
    asked = options;
    return { ...(await at.engine.task(ref)), desired: 'pause' };
  };
  const answer = await at.ask('POST', `${tasks}/slow/control`, { json: { action: 'pause', wait_seconds: 0.5 } });
  expect(answer).toMatchObject({ status: 202, body: { status: 'running', desired: 'pause' } });
  expect(asked).toMatchObject({ waitMs: 500, by: expect.stringContaining('key ') });
  at.engine.pause = async (ref) => ({ ...(await at.engine.task(ref)), status: 'succeeded' });
  expect(await at.ask('POST', `${tasks}/slow/control`, { json: { action: 'pause' } })).toMatchObject({ status: 409, body: { code: 'invalid_state' } });
  at.engine.pause = pause;
});

test('a body that is nested without end is refused', async () => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  for (const key of ['input', 'metadata', 'policy', 'tools', 'tool_call']) {
    const body = `{"code":"{}","language":"python","${key}":${key === 'metadata' ? `{"a":${deep}}` : deep}}`;
    const answer = await at.ask('POST', tasks, { body, headers: { 'content-type': 'application/json', 'idempotency-key': `deep ${key}` } });
    expect(answer, key).toMatchObject({ status: 422, body: { code: 'invalid_request' } });
  }
});

test('code, log, journal, state, checkpoints, fork, verify and purge', async () => {
  await at.run({ call: { tool: 't', args: {}, kind: 'client_tool' }, print: 'so far' }, { task_id: 'parts' });
  const part = (name: string) => at.ask('GET', `${tasks}/parts/${name}`);
  expect((await part('code')).body).toEqual({ task_id: 'parts', language: 'javascript', code: expect.stringContaining('"call"'), versions: [] });
  expect((await part('log')).body).toMatchObject({
    stdout: 'so far',
    stderr: '',
    truncated: false,
    execution_log: expect.arrayContaining([expect.objectContaining({ kind: 'submitted' })]),
  });
  expect((await part('journal?after=1&limit=1')).body.items).toEqual([
    expect.objectContaining({ seq: 2, kind: 'state', body: '{"status":"running"}', hash: expect.stringMatching(/^[0-9a-f]{64}$/) }),
  ]);
  expect((await part('state')).body).toEqual({
    ...{
      stack: [{ file: 'main.py', line: 1, function: '<module>', locals: { x: '1' } }],
      pending: [{ id: 1, tool: 't', arguments: { a: 1 } }],
      files: [{ path: '/work/a', bytes: 3 }],
    },
  });
  const taken = await at.ask('POST', `${tasks}/parts/checkpoints`);
  expect(taken).toMatchObject({ status: 201, body: { reason: 'request' } });
  expect((await part('checkpoints')).body.items).toEqual([taken.body]);
  const fork = await at.ask('POST', `${tasks}/parts/fork`, { json: { checkpoint_id: taken.body.checkpoint_id, answers: { call_1: { output: 5 } }, task_id: 'forked' } });
  expect(fork).toMatchObject({ status: 201, body: { task_id: 'forked', fork_of: { task_id: 'parts', checkpoint_id: taken.body.checkpoint_id } } });
  expect((await at.ask('POST', `${tasks}/parts/fork`)).status).toBe(201);
  expect(await at.ask('POST', `${tasks}/parts/fork`, { json: { checkpoint_id: 'ckpt_none' } })).toMatchObject({ status: 404 });
  expect(await at.ask('POST', `${tasks}/parts/fork`, { json: { tool_constraints: { allowed_libraries: [] } } })).toMatchObject({ status: 422 });
  expect(await at.ask('POST', `${tasks}/parts/fork`, { json: { tool_constraints: { strict: true } } })).toMatchObject({ status: 422 });
  expect(await at.ask('POST', `${tasks}/parts/verify`)).toMatchObject({ status: 409 });
  expect(await at.ask('DELETE', `${tasks}/parts`)).toMatchObject({ status: 409 });
  await at.ask('POST', `${tasks}/parts/control`, { json: { action: 'cancel' } });
  expect((await at.ask('POST', `${tasks}/parts/verify`)).body).toEqual({ verified: true, checkpoints: 0, differences: [] });
  expect(await part('state')).toMatchObject({ status: 409 });
  expect((await at.ask('DELETE', `${tasks}/parts`)).status).toBe(204);
  expect((await at.ask('GET', `${tasks}/parts`)).status).toBe(404);
});

test('the short forms', async () => {
  const done = await at.ask('POST', '/api/v1/execute', { json: { code: '{"output":7}', call_id: 'short' } });
  expect(shortTaskSchema.parse(done.body)).toEqual({
    ...{ call_id: 'short', status: 'success', output: 7, error_message: null },
    execution_metadata: { execution_time_seconds: 0.012, cpu_time_s: 0.003, memory_mb: 1, return_code: 0 },
  });
  expect((await at.ask('GET', '/api/v1/status/short')).body).toEqual(done.body);
  expect((await at.engine.task({ tenant: 'ours', taskId: 'short' })).request.language).toBe('python');
  expect((await at.ask('POST', '/api/v1/execute', { json: { code: '{"fail":"no"}' } })).body).toMatchObject({
    status: 'failed',
    error_message: 'no',
    execution_metadata: { return_code: 1 },
  });
  expect((await at.ask('POST', '/api/v1/execute', { json: { tool_call: { name: 't', arguments: { a: 1 } }, call_id: 'asks' } })).body).toMatchObject({
    status: 'paused',
    output: null,
  });
  expect(await at.ask('POST', '/api/v1/execute', { json: { query: 'add' } })).toMatchObject({ status: 422, body: { code: 'model_error' } });
  const running = at.ask('POST', '/api/v1/execute', { json: { code: '{"hold":true}', call_id: 'runs' } });
  await expect.poll(() => at.ask('GET', '/api/v1/status/runs')).toMatchObject({ body: { status: 'running' } });
  expect((await at.ask('POST', '/api/v1/pause/runs')).body.status).toBe('paused');
  expect((await running).body).toMatchObject({ call_id: 'runs', status: 'paused' });
  expect((await at.ask('POST', '/api/v1/resume/runs')).status).toBe(200);
  expect((await at.ask('POST', '/api/v1/pause/short')).status).toBe(409);
  expect((await at.ask('GET', '/api/v1/status/none')).status).toBe(404);
});
