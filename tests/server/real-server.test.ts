/** The server over the real engine, on a data folder: the guide line by line, waits, files, tools, webhooks, and a restart. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type FermataClient } from '@fermata/client';
import { createKeyStore, createServer, createWebhookListeners, type FermataServer } from '@fermata/server';
import { openEngine } from 'fermata';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'fermata-server-'));
let server: FermataServer;
let url: string;
let key: string;
let guideKey: string;
let client: FermataClient;

async function start(): Promise<void> {
  const listeners = createWebhookListeners();
  const opened = await openEngine({ folder, listeners, network: { allowPrivate: ['127.0.0.1'] } });
  const { engine, store, registry, check, close } = opened;
  server = createServer({ engine, store, tools: registry, check, close, listeners, webhooks: { network: { allowPrivate: ['127.0.0.1'] }, pollMs: 30 } });
  url = await server.listen({ port: 0 });
  const keys = createKeyStore(store);
  key ??= (await keys.create({ tenant: 'ours', scopes: ['admin'] })).key;
  guideKey ??= (await keys.create({ tenant: 'guide', scopes: ['admin'] })).key;
  client = createClient({ url, key });
}
beforeAll(start);
afterAll(async () => {
  await server.close({ drainMs: 1000 });
  rmSync(folder, { recursive: true });
});

test('a program with a file in and a file out', async () => {
  const file = await client.files.put('in.txt', new TextEncoder().encode('abc'));
  const code = "text = open('/work/in.txt').read()\nopen('/work/out.txt', 'w').write(text.upper())\nprint('done')\nlen(text)";
  const task = await client.tasks.create({ language: 'python', code, files: [{ file_id: file.file_id, path: '/work/in.txt' }], wait_seconds: 60 });
  expect(task).toMatchObject({ status: 'succeeded', result: { output: 3, stdout: 'done\n', exit_code: 0 } });
  const left = task.status === 'succeeded' ? task.result.files.find(({ path }) => path === '/work/out.txt') : undefined;
  expect(new TextDecoder().decode(await client.files.get(left?.file_id ?? ''))).toBe('ABC');
  const next = await client.tasks.create({ language: 'python', code: "open('/work/a').read()", files: [{ file_id: left?.file_id ?? '', path: '/work/a' }], wait_seconds: 60 });
  expect(next).toMatchObject({ result: { output: 'ABC' } });
});

test('a task whose checkpoint would be larger than it may be cannot be paused, and goes on', async () => {
  await client.tools.add({ kind: 'client', name: 'person' });
  const code = 'import os\nkept = os.urandom(3 << 20)\ntools.person()\nlen(kept)';
  const { task_id: id } = await client.tasks.create({ language: 'python', code, tool_constraints: { max_checkpoint_mb: 1 } });
  await expect.poll(() => client.calls.list(id), { timeout: 60_000 }).toHaveLength(1);
  await expect(client.tasks.pause(id, { wait_seconds: 30 })).rejects.toMatchObject({
    code: 'checkpoint_too_large',
    status: 409,
    hint: expect.stringContaining('max_checkpoint_mb'),
  });
  const [call] = await client.calls.list(id);
  await client.calls.result(id, call?.call_id as string, { output: null });
  expect(await client.tasks.wait(id)).toMatchObject({ status: 'succeeded', result: { output: 3 << 20 } });
});

test('a program is checked: what is found is in the journal, and an error ends the task before anything ran', async () => {
  await client.tools.add({
    kind: 'client',
    name: 'crm.find',
    parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false },
  });
  const bodies = [
    ['library_not_allowed', { language: 'python', code: 'print(1)\nimport os', tool_constraints: { allowed_libraries: ['math'] } }],
    ['library_missing', { language: 'python', code: 'print(1)', tool_constraints: { required_libraries: ['pandas', 'json'] } }],
    ['policy_violation', { language: 'javascript', code: 'console.log(1);\neval("1")', tool_constraints: { strict: true } }],
    ['policy_violation', { language: 'python', code: 'import subprocess\nsubprocess.run(["rm"])', tool_constraints: { blocked_commands: ['rm'] } }],
    ['unknown_tool', { language: 'python', code: 'print(1)\ntools.crm.fnd(name="x")' }],
    ['invalid_arguments', { language: 'typescript', code: 'console.log(1);\nconst n: number = 1;\nawait tools.crm.find({ name: n })' }],
    ['unknown_tool', { language: 'javascript', code: 'await tools.crm.find({ name: "x" })', tools: ['web.*'] }],
  ] as const;
  for (const [code, body] of bodies) {
    const task = await client.tasks.create({ ...(body as Parameters<FermataClient['check']>[0]), wait_seconds: 60 });
    expect(task).toMatchObject({ status: 'failed', error: { code, line: expect.any(Number), column: expect.any(Number) } });
    const { error } = task as Extract<typeof task, { status: 'failed' }>;
    const { ok, findings } = await client.check(body as Parameters<FermataClient['check']>[0]);
    expect(ok).toBe(false);
    const told = findings.find(({ severity }) => severity === 'error');
    expect(told).toMatchObject({ rule: code, line: error.line, column: error.column, message: error.message });
    const { items } = await client.tasks.journal(task.task_id);
    expect(items.map(({ kind }) => kind)).toEqual(['submitted', ...findings.map(() => 'finding'), 'failed']);
    expect(JSON.parse((items.find(({ kind, body: said }) => kind === 'finding' && said.includes('error')) as { body: string }).body)).toEqual(told);
  }
  const warned = await client.tasks.create({ language: 'python', code: 'try:\n    tools.crm.fnd(name="x")\nexcept Exception:\n    pass\n7', wait_seconds: 60 });
  expect(warned).toMatchObject({ status: 'succeeded', result: { output: 7 } });
  const { items } = await client.tasks.journal(warned.task_id);
  expect(items.filter(({ kind }) => kind === 'finding').map(({ body }) => JSON.parse(body))).toEqual([
    expect.objectContaining({ rule: 'unknown_tool', severity: 'warning', line: 2 }),
  ]);
  expect(await client.check({ tool_call: { name: 'crm.fnd', arguments: {} } })).toMatchObject({ ok: false, findings: [{ rule: 'unknown_tool' }] });
  expect(await client.check({ language: 'python', code: 'tools.crm.find(name="x")' })).toEqual({ ok: true, findings: [] });
  await client.tools.remove('crm.find');
});

test('strict tasks that share an interpreter begin on it one after the other', async () => {
  const strict = { language: 'javascript', session_id: 'strict', shared_interpreter: true, tool_constraints: { strict: true }, wait_seconds: 60 } as const;
  expect(await client.tasks.create({ ...strict, code: 'globalThis.kept = 1; kept' })).toMatchObject({ status: 'succeeded', result: { output: 1 } });
  expect(await client.tasks.create({ ...strict, code: 'const key = ["ev", "al"].concat().join("");\nglobalThis[key]("1")' })).toMatchObject({
    status: 'failed',
    error: { code: 'policy_violation', line: 2 },
  });
  expect(await client.tasks.create({ ...strict, code: '++kept' })).toMatchObject({ status: 'succeeded', result: { output: 2 } });
});

test('errors, limits and places in the code', async () => {
  expect(await client.tasks.create({ language: 'python', code: 'x = 1\n1 / 0', wait_seconds: 60 })).toMatchObject({ status: 'failed', error: { code: 'guest_error', line: 2 } });
  const loop = { language: 'javascript' as const, code: 'for (;;);', tool_constraints: { max_cpu_seconds: 0.1 }, wait_seconds: 60 };
  expect(await client.tasks.create(loop)).toMatchObject({ status: 'failed', error: { code: 'cpu_limit' } });
});

test('client tools, approvals by policy, and events of it all', async () => {
  await client.tools.add({ kind: 'client', name: 'shop.price', parameters: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] } });
  await client.tools.add({ kind: 'code', name: 'twice', language: 'javascript', code: 'return input.n * 2' });
  const created = await client.tasks.create({
    ...{ language: 'python', code: 'p = tools.shop.price(item="a")\ntools.twice(n=p)' },
    policy: [{ tool: 'twice', when: { n: { gt: 10 } }, action: 'require_approval', reason: 'much' }],
  });
  const asked = { 'shop.price': ({ item }: Record<string, unknown>) => (item === 'a' ? 21 : 0) };
  const done = client.answerTools(created, asked, { pollMs: 50 });
  await expect.poll(async () => (await client.approvals()).items, { timeout: 30_000 }).toMatchObject([{ task_id: created.task_id, tool: 'twice', arguments: { n: 21 } }]);
  const [approval] = (await client.approvals()).items;
  await client.calls.approve(created.task_id, approval?.call_id ?? '', { arguments: { n: 4 } });
  expect(await done).toMatchObject({ status: 'succeeded', result: { output: 8 } });
  const kinds: string[] = [];
  for await (const { kind } of client.tasks.events(created.task_id, { live: false })) kinds.push(kind);
  expect(kinds).toEqual(expect.arrayContaining(['submitted', 'call', 'decided', 'call_settled', 'succeeded']));
  expect(await client.tasks.verify(created.task_id)).toMatchObject({ verified: true, differences: [] });
});

test('a callback and the end of a batch are told, signed', async () => {
  type Told = { headers: Record<string, string>; body: string }[];
  const [told, all]: [Told, Told] = [[], []];
  const receiver = createHttp((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk;
    });
    request.on('end', () => {
      (request.url === '/all' ? all : told).push({ headers: request.headers as Record<string, string>, body });
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const callback_url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const hook = await client.webhooks.create({ url: `${callback_url}all`, types: ['task.failed', 'batch.*'] });
  await client.tasks.create({ language: 'python', code: '6 * 7', callback_url });
  await client.tasks.create({ language: 'python', code: '1 / 0' });
  await client.batches.create({ tasks: [{ language: 'python', code: '1' }], callback_url });
  await expect.poll(() => told.length, { timeout: 30_000 }).toBe(2);
  const { secret } = await client.webhooks.callbackSecret();
  const payloads = told.map(({ headers, body }) => new Webhook(secret).verify(body, headers) as { type: string; data: unknown });
  expect(payloads.find(({ type }) => type === 'task.succeeded')?.data).toMatchObject({ status: 'succeeded', result: { output: 42 } });
  expect(payloads.find(({ type }) => type === 'batch.ended')?.data).toMatchObject({ counts: { succeeded: 1 }, results: [{ output: 1 }] });
  await expect
    .poll(() => all.map(({ headers, body }) => (new Webhook(hook.secret).verify(body, headers) as { type: string }).type).sort(), { timeout: 30_000 })
    .toEqual(['batch.ended', 'task.failed']);
  await client.webhooks.remove(hook.webhook_id);
  receiver.close();
});

test('a task goes on after a restart of the server, and so do its key and its tools', async () => {
  await client.tasks.create({ task_id: 'lasting', language: 'python', code: 'n = 41\nn + tools.shop.price(item="b")' });
  expect(await client.tasks.wait('lasting')).toMatchObject({ status: 'waiting' });
  await client.tasks.create({ task_id: 'long', language: 'python', code: 'i = 0\nwhile i < 10**9: i += 1' });
  await expect.poll(async () => (await client.tasks.get('long')).status).toBe('running');
  await server.close({ drainMs: 5000 });
  await start();
  expect(await client.answerTools('lasting', { 'shop.price': () => 1 })).toMatchObject({ status: 'succeeded', result: { output: 42 } });
  await expect.poll(async () => (await client.tasks.get('long')).status, { timeout: 30_000 }).toBe('running');
  expect(await client.tasks.pause('long')).toMatchObject({ status: 'paused', pause_reason: 'user_request' });
  expect((await client.tasks.state('long')).stack.at(-1)).toMatchObject({ line: 2 });
  expect(await client.tasks.cancel('long')).toMatchObject({ status: 'cancelled' });
});

test('the lines of the guide run from top to bottom', async () => {
  const page = readFileSync(new URL('../../docs/server.md', import.meta.url), 'utf8');
  const script = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code]) => code).join('');
  const { status, said } = await bash(`set -euo pipefail\n${script.replace('http://127.0.0.1:7070', url)}`, { FERMATA_KEY: guideKey });
  expect(status, said.slice(-1500)).toBe(0);
});

function bash(code: string, env: Record<string, string>): Promise<{ status: number | null; said: string }> {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', `exec 2>&1\n${code}`], { env: { ...process.env, ...env } });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk;
    });
    child.on('close', (status) => resolve({ status, said }));
  });
}
