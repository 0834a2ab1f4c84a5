/** Requests of programs over REST: judged, approved, journaled, and answered from the journal after a restart. */

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttp, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type FermataClient } from '@fermata/client';
import { createServer, type FermataServer } from '@fermata/server';
import { openEngine } from 'fermata';
import { afterAll, beforeAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'fermata-network-'));
let world: Server;
let host: string;
let asked: string[] = [];
let server: FermataServer;
let client: FermataClient;

async function start(): Promise<void> {
  const networkHeaders = [{ hosts: [`http://${host}`], name: 'Authorization', value: () => 'Bearer of the host' }];
  const { engine, store, registry, close } = await openEngine({ folder, network: { allowPrivate: ['127.0.0.1'] }, networkHeaders });
  server = createServer({ engine, store, tools: registry, close, development: true });
  client = createClient({ url: await server.listen({ port: 0 }), key: server.developmentKey as string });
}
beforeAll(async () => {
  world = createHttp((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.end(`answer ${asked.length}`);
  });
  await new Promise<void>((resolve) => world.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${(world.address() as AddressInfo).port}`;
  await start();
}, 60_000);
afterAll(async () => {
  await server.close({ drainMs: 1000 });
  world.close();
  rmSync(folder, { recursive: true });
});

test('a request that needs approval waits, over a restart, and what was answered before is not asked for again', { timeout: 300_000 }, async () => {
  asked = [];
  const code = `import requests
first = requests.get(task_input + '/read').text
try:
    requests.post(task_input + '/send', data='x')
    sent = 'sent'
except requests.ConnectionError as error:
    sent = str(error)
second = requests.post(task_input + '/send', data='y').text
[first, sent, second]`;
  const created = await client.tasks.create({
    ...{ task_id: 'ask', language: 'python', code, input: `http://${host}`, tool_constraints: { network_access: [host] }, wait_seconds: 120 },
    policy: [{ tool: 'network.send', action: 'require_approval' }],
  });
  expect(created).toMatchObject({ status: 'waiting', waiting_for: [{ tool: 'network.send', kind: 'approval', arguments: { method: 'POST', url: `http://${host}/send` } }] });
  expect(asked).toEqual(['GET /read Bearer of the host']);
  await server.close({ drainMs: 5000 });
  await start();
  const waits = async () => {
    for (;;) {
      const task = await client.tasks.get('ask');
      const [call] = 'waiting_for' in task ? (task.waiting_for ?? []) : [];
      if (call?.call_id) return call.call_id;
    }
  };
  const first = await waits();
  await client.calls.reject('ask', first, { reason: 'not this one' });
  let second = first;
  while (second === first) second = await waits();
  await client.calls.approve('ask', second);
  expect(await client.tasks.wait('ask')).toMatchObject({ status: 'succeeded', result: { output: ['answer 1', expect.stringContaining('not this one'), 'answer 2'] } });
  expect(asked).toEqual(['GET /read Bearer of the host', 'POST /send Bearer of the host']);
  expect((await client.tasks.get('ask')).resources_used.network_bytes).toBe('answer 1'.length + 'y'.length + 'answer 2'.length);
  const calls = await client.calls.list('ask');
  expect(calls.map(({ tool }) => tool)).toEqual(['network.get', 'network.send', 'network.send']);
  expect(JSON.stringify([calls, await client.tasks.journal('ask')])).not.toContain('Bearer of the host');
});

test('a rule sees the address that is asked for, however the program spells it', { timeout: 120_000 }, async () => {
  asked = [];
  const code = `from fermata import _calls
def ask(url):
    return _calls.block_on(_calls.start('network.get', {'url': url, 'method': 'GET'}))
[ask(task_input.replace('http', 'HTTP') + path).get('error', {}).get('name') for path in ['/admin', '/x/../admin', '/ad\\tmin', '/open']]`;
  const policy = [{ tool: 'network.*', when: { url: { matches: `^http://${host}/admin` } }, action: 'deny' as const }];
  const task = { language: 'python' as const, code, input: `http://${host}`, tool_constraints: { network_access: [host] }, policy, wait_seconds: 60 };
  expect(await client.tasks.create(task)).toMatchObject({ status: 'succeeded', result: { output: ['PolicyViolation', 'NetworkError', 'NetworkError', null] } });
  expect(asked).toEqual(['GET /open Bearer of the host']);
});

test('hosts that are not named are not reached, nor named when none may be', { timeout: 120_000 }, async () => {
  asked = [];
  const ask = (network_access: boolean | string[] | undefined) =>
    client.tasks.create({
      ...{ language: 'javascript', code: 'try { return (await fetch(input)).status } catch (error) { return error.message }', input: `http://${host}/` },
      ...{ tool_constraints: network_access === undefined ? {} : { network_access }, wait_seconds: 60 },
    });
  expect(await ask(['example.com'])).toMatchObject({ result: { output: expect.stringContaining('may not reach') } });
  for (const none of [false, [], undefined]) expect(await ask(none)).toMatchObject({ result: { output: expect.stringContaining('this task has no network') } });
  await expect(ask(true)).rejects.toMatchObject({ code: 'invalid_request', message: expect.stringContaining('not allowed here') });
  await expect(ask(['http://example.com/'])).rejects.toMatchObject({ code: 'invalid_request', message: expect.stringContaining('names no host') });
  expect(asked).toEqual([]);
});
