/** `fermata serve`, and every command that talks to it: over its address, and through the socket of its data folder. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createClient } from '@fermata/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Cli, type Json, type Served } from './cli.ts';

const cli = new Cli();
let server: Served;

const serve = () => cli.serve(['--tools', 'tools.mjs', '--allow-private-webhooks']);

async function stop({ child }: Served): Promise<number | null> {
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

beforeAll(async () => {
  cli.file(
    'tools.mjs',
    `export default [
  { name: 'add', description: 'Adds', execute: ({ a, b }) => a + b },
  { name: 'pay', requiresApproval: true, execute: ({ cents }) => 'paid ' + cents },
];\n`,
  );
  server = await serve();
});
afterAll(() => cli[Symbol.dispose]());

test('it checks programs with its tools, and says which libraries they can import', async () => {
  const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ language: 'python', code: 'import os\ntools.ad(a=1, b=2)', tool_constraints: { allowed_libraries: ['math'] } });
  const checked = (await (await fetch(`${server.url}/api/v1/check`, { method: 'POST', headers, body })).json()) as Json;
  expect(checked.findings.map(({ rule, line, column }: Json) => `${rule} ${line}:${column}`)).toEqual(['library_not_allowed 1:8', 'unknown_tool 2:1']);
  const { items } = (await (await fetch(`${server.url}/api/v1/images`, { headers })).json()) as Json;
  const libraries = Object.fromEntries(items.map(({ name, libraries }: Json) => [name, libraries.map((library: Json) => library.name)]));
  expect(libraries).toMatchObject({ cpython: expect.arrayContaining(['json', 'math', 'sqlite3']), quickjs: [] });
});

describe.each(['over its address', 'through the local socket'])('%s', (way) => {
  const env = (): NodeJS.ProcessEnv => (way === 'over its address' ? { FERMATA_URL: server.url, FERMATA_KEY: server.key } : {});
  const json = (args: string[]) => cli.json(args, { env: env() });

  test('run, tool call and batch use its tools', async () => {
    expect(await json(['run', '-l', 'javascript', '-e', 'await tools.add({ a: 1, b: 2 })'])).toMatchObject({ code: 0, result: { output: 3 } });
    expect(await json(['tool', 'call', 'add', '--input', '{"a": 3, "b": 4}'])).toMatchObject({ code: 0, result: { output: 7 } });
    cli.file('batch.jsonl', '{"code": "1 + 1", "language": "python"}\n\n{"code": "throw new Error(1)", "language": "javascript"}\n');
    const batch = await json(['batch', 'submit', 'batch.jsonl', '--wait']);
    expect(batch).toMatchObject({ code: 1, total: 2, counts: { succeeded: 1, failed: 1 } });
    expect(await json(['batch', 'get', batch.batch_id])).toMatchObject({ code: 0, batch_id: batch.batch_id });
    expect(await json(['batch', 'cancel', batch.batch_id])).toMatchObject({ code: 0 });
  });

  test('a task is submitted, paused, looked into, resumed and cancelled', async () => {
    const { task_id: id } = await json(['run', '--detach', '-l', 'python', '-e', 'n = 7\nwhile True: pass']);
    let now: Json = { status: 'pending' };
    while (now.status !== 'running' || now.line !== 2) now = await json(['task', 'get', id]);
    expect(await json(['task', 'checkpoint', id])).toMatchObject({ code: 0, checkpoint_id: expect.any(String) });
    expect(await json(['task', 'pause', id])).toMatchObject({ code: 0, status: 'paused' });
    expect(await json(['task', 'state', id])).toMatchObject({ code: 0, stack: [expect.objectContaining({ line: 2 })] });
    expect((await json(['task', 'checkpoints', id])).items.length).toBeGreaterThan(0);
    expect(await json(['task', 'resume', id])).toMatchObject({ code: 0, desired: 'run' });
    expect(await json(['task', 'cancel', id])).toMatchObject({ code: 0, status: 'cancelled' });
    expect(await json(['task', 'pause', id])).toMatchObject({ code: 2, error: { code: 'invalid_state' } });
  });

  test('an ended task has log, code, calls, journal and events; it can be verified, forked and deleted', async () => {
    const { task_id: id } = await json(['run', '-l', 'javascript', '-e', 'console.log("hi"); return await tools.add({ a: 1, b: 2 })']);
    expect(await json(['task', 'logs', id])).toMatchObject({ stdout: 'hi\n' });
    expect(await json(['task', 'code', id])).toMatchObject({ language: 'javascript' });
    const { items } = await json(['task', 'calls', id]);
    expect(items).toMatchObject([{ tool: 'add', output: 3 }]);
    expect((await json(['task', 'journal', id])).items.at(-1)).toMatchObject({ kind: 'succeeded' });
    const events = (await cli.run(['task', 'events', id, '--json'], { env: env() })).stdout.trim().split('\n');
    expect(events.map((line) => JSON.parse(line).kind)).toEqual(expect.arrayContaining(['submitted', 'call', 'output', 'succeeded']));
    expect((await cli.run(['task', 'events', id, '--after', '3'], { env: env() })).stdout).toMatch(/^ +4 .*\n[\s\S]*succeeded/);
    expect(await json(['task', 'verify', id])).toMatchObject({ code: 0, verified: true, differences: [] });
    const fork = await json(['task', 'fork', id, '--answer', `${items[0].call_id}=40`]);
    expect(fork).toMatchObject({ code: 0, fork_of: { task_id: id } });
    expect(await json(['resume', fork.task_id])).toMatchObject({ result: { output: 40 } });
    expect(await json(['task', 'delete', id])).toMatchObject({ code: 0, deleted: true });
    expect(await json(['task', 'get', id])).toMatchObject({ code: 2, error: { code: 'not_found' } });
  });

  test('calls are approved, rejected and answered', async () => {
    const waiting = () => json(['run', '-l', 'javascript', '-e', 'try { return await tools.pay({ cents: 1 }) } catch (error) { return error.name }']);
    const first = await waiting();
    expect(first).toMatchObject({ code: 4, status: 'waiting', waiting_for: [{ kind: 'approval' }] });
    expect(await json(['task', 'approve', first.task_id])).toMatchObject({ code: 0 });
    expect(await json(['resume', first.task_id])).toMatchObject({ code: 0, result: { output: 'paid 1' } });
    const second = await waiting();
    expect(await json(['task', 'reject', second.task_id, second.waiting_for[0].call_id])).toMatchObject({ code: 0 });
    expect(await json(['task', 'reject', second.task_id])).toMatchObject({ code: 2 });
    expect(await json(['tool', 'add', JSON.stringify({ kind: 'client', name: 'ask_me' })])).toMatchObject({ code: 0, name: 'ask_me' });
    const third = await json(['run', '-l', 'javascript', '-e', 'await tools.ask_me()']);
    expect(third).toMatchObject({ code: 4, waiting_for: [{ kind: 'client_tool' }] });
    expect(await json(['task', 'answer', third.task_id, '--output', '"mine"'])).toMatchObject({ code: 0, output: 'mine' });
    expect(await json(['task', 'retry', third.task_id])).toMatchObject({ code: 2 });
    expect(await json(['tool', 'remove', 'ask_me'])).toMatchObject({ code: 0, removed: true });
  });

  test('standing webhooks are told', async () => {
    const told: Json[] = [];
    const world = createServer((request, response) => {
      text(request).then((body) => told.push(JSON.parse(body)));
      response.end();
    });
    await once(world.listen(0, '127.0.0.1'), 'listening');
    const made = await fetch(`${server.url}/api/v1/webhooks`, {
      ...{ method: 'POST', headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' } },
      body: JSON.stringify({ url: `http://127.0.0.1:${(world.address() as AddressInfo).port}/hook`, types: ['task.succeeded'] }),
    });
    expect(made.status).toBe(201);
    const { task_id: id } = await json(['run', '-l', 'javascript', '-e', '1']);
    // What ended before may be told, too.
    await expect.poll(() => told.map(({ type, data }) => `${type} ${data.task_id}`), { timeout: 60_000 }).toContain(`task.succeeded ${id}`);
    world.close();
  });

  test('lists and stubs', async () => {
    expect((await json(['task', 'list', '--status', 'succeeded', '--limit', '1'])).items).toHaveLength(1);
    expect((await json(['tool', 'list'])).items.map(({ name }: Json) => name)).toEqual(['add', 'pay']);
    expect((await json(['tool', 'stubs', 'python'])).stubs).toContain('add');
    expect(await json(['session', 'list'])).toMatchObject({ code: 0, items: [] });
    expect(await json(['session', 'end', 'none'])).toMatchObject({ code: 2, error: { code: 'not_found' } });
    expect(await json(['task', 'approvals'])).toMatchObject({ code: 0, items: expect.any(Array) });
    expect((await cli.run(['task', 'list'], { env: env() })).stdout).toMatch(/^task_\w+ +succeeded +\w+ /m);
  });
});

test('keys are made, listed and revoked; each may do what its scopes say', async () => {
  const { key, key_id } = await cli.json(['key', 'create', '--scopes', 'read', '--name', 'looker', '--tenant', 'default']);
  const env = { FERMATA_URL: server.url, FERMATA_KEY: key };
  expect(await cli.json(['task', 'list'], { env })).toMatchObject({ code: 0 });
  expect(await cli.json(['run', '-l', 'python', '-e', '1'], { env })).toMatchObject({ code: 2, error: { code: 'forbidden' } });
  expect((await cli.json(['key', 'list'])).items).toMatchObject([{ key_id, scopes: ['read'], name: 'looker' }]);
  expect(await cli.json(['key', 'revoke', key_id])).toMatchObject({ code: 0, revoked: true });
  expect(await cli.json(['task', 'list'], { env })).toMatchObject({ code: 2, error: { code: 'unauthorized' } });
  expect(await cli.json(['key', 'create', '--scopes', 'all'])).toMatchObject({ code: 2 });
});

test('the key of the local socket does not open the address', async () => {
  const { readFileSync } = await import('node:fs');
  const note = JSON.parse(readFileSync(join(cli.folder, 'data', 'owner.json'), 'utf8'));
  const answer = await fetch(`${server.url}/api/v1/keys`, { headers: { authorization: `Bearer ${note.key}` } });
  expect([401, 404]).toContain(answer.status);
});

test('a server that is not there, and one without a key', async () => {
  expect(await cli.json(['task', 'list', '--url', 'http://127.0.0.1:1', '--key', 'x'])).toMatchObject({ code: 3, error: { code: 'unreachable' } });
  expect(await cli.json(['task', 'list', '--url', server.url], { env: { FERMATA_KEY: '' } })).toMatchObject({ code: 2 });
  expect(await cli.json(['task', 'list', '--url', 'localhost'])).toMatchObject({ code: 2, error: { code: 'invalid_request' } });
});

test('doctor and store look at the folder while it is in use; a backup can be restored', async () => {
  const { findings } = await cli.json(['doctor']);
  expect(findings.find(({ what }: Json) => what === 'data folder').detail).toContain(`owned by process ${server.child.pid}`);
  expect(await cli.json(['store', 'size'])).toMatchObject({ code: 0, bytes: expect.any(Number) });
  expect(await cli.json(['store', 'backup', 'copy'])).toMatchObject({ code: 0 });
  expect(await cli.json(['store', 'backup', 'copy'])).toMatchObject({ code: 3 });
  expect(await cli.json(['store', 'restore', 'copy', '--data', 'again'])).toMatchObject({ code: 0 });
  const seen = await cli.json(['task', 'list', '--limit', '1', '--data', 'again']);
  expect(seen.items).toHaveLength(1);
});

test('policy test says what rules decide, and which', async () => {
  cli.file('rules.json', '[{"tool": "payments.*", "when": {"amount": {"gt": 100}}, "action": "require_approval", "reason": "much"}]');
  expect(await cli.json(['policy', 'test', 'rules.json', 'payments.send', '{"amount": 200}'])).toMatchObject({ code: 0, action: 'require_approval', rule: 1, reason: 'much' });
  expect(await cli.json(['policy', 'test', 'rules.json', 'payments.send', '{"amount": 2}'])).toMatchObject({ code: 0, action: 'allow', rule: null });
  expect(await cli.json(['policy', 'test', cli.file('bad.json', '[{"tool": 1}]'), 'x'])).toMatchObject({ code: 2 });
});

test('SIGTERM drains it: what ran is put down, and the next start goes on with it', async () => {
  const { task_id: id } = await cli.json(['run', '--detach', '-l', 'javascript', '-e', 'for (let i = 0; i < 120_000_000; i++); return "done"', '--cpu', '10m']);
  // Not by a command, which takes longer to start than this program has to run.
  const { tasks } = createClient(server);
  while ((await tasks.get(id)).status !== 'running');
  expect(await stop(server)).toBe(0);
  expect(await cli.json(['task', 'get', id])).toMatchObject({ status: 'paused', pause_reason: 'shutdown' });
  server = await serve();
  expect(await cli.json(['resume', id])).toMatchObject({ code: 0, result: { output: 'done' } });
});

test('policy set and show are of the tenant, and policy test --ask takes them into account', async () => {
  cli.file('night.json', '{"policy": [{"tool": "twice", "time": {"from": "22:00", "to": "06:00"}, "action": "deny", "reason": "at night"}]}');
  cli.file('own.json', '[{"tool": "twice", "action": "allow"}]');
  const shown = (await cli.run(['policy', 'test', 'night.json', 'twice', '--at', '2026-03-02T23:00:00Z'])).stdout;
  expect(shown).toContain('deny: rule 1 of the task: it is for twice, it is mon 23:00 (UTC) (at night)');
  expect(await cli.run(['policy', 'test', 'night.json', 'twice', '--at', 'today'])).toMatchObject({ code: 2 });
  await cli.json(['tool', 'add', '{"kind": "client", "name": "twice"}']);
  expect(await cli.json(['policy', 'set', 'night.json'])).toMatchObject({ code: 0, tenant: [{ tool: 'twice', reason: 'at night' }], server: [] });
  expect((await cli.run(['policy', 'show'])).stdout).toMatch(/tenant 1 +deny +twice .*at night/);
  const ask = (at: string) => cli.json(['policy', 'test', 'own.json', 'twice', '--ask', '--at', at]);
  expect(await ask('2026-03-02T23:00:00Z')).toMatchObject({ code: 0, action: 'deny', decided_by: 'tenant', rule: 1 });
  expect(await ask('2026-03-02T12:00:00Z')).toMatchObject({ code: 0, action: 'allow', decided_by: 'task', rule: 1 });
  expect(await cli.json(['policy', 'set', cli.file('none.json', '[]')])).toMatchObject({ code: 0, tenant: [] });
});
