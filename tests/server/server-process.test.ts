/** A server as a process: SIGTERM puts its tasks down and ends it with 0; after a kill nothing that was answered is lost. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createClient, type FermataClient } from '@fermata/client';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'fermata-process-'));
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

interface Running {
  child: ChildProcess;
  client: FermataClient;
  next: () => Promise<unknown>;
}

async function start(): Promise<Running> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('server-process.ts', import.meta.url)), folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value as string) as unknown;
  const { url, key } = (await next()) as { url: string; key: string };
  return { child, next, client: createClient({ url, key }) };
}

test('SIGTERM: running tasks come to rest, streams end, and the process ends with 0; the next one goes on with them', async () => {
  const first = await start();
  await first.client.tasks.create({ task_id: 'long', language: 'python', code: 'i = 0\nwhile i < 3_000_000: i += 1\ni', tool_constraints: { max_cpu_seconds: 120 } });
  await expect.poll(async () => (await first.client.tasks.get('long')).status, { timeout: 30_000 }).toBe('running');
  first.child.kill('SIGTERM');
  expect(await first.next()).toEqual({ signal: 'SIGTERM' });
  expect(await once(first.child, 'exit')).toEqual([0, null]);
  const second = await start();
  expect(await second.client.tasks.wait('long', { timeoutSeconds: 60 })).toMatchObject({ status: 'succeeded', result: { output: 3_000_000 } });
  second.child.kill('SIGKILL');
  await once(second.child, 'exit');
});

test('a kill: what was answered is there, and a repeat under the same key makes nothing new', async () => {
  const first = await start();
  const task = { language: 'python' as const, code: 'tools.ask(n=1)', tools: ['ask'] };
  await first.client.tools.add({ kind: 'client', name: 'ask' });
  const { task_id: id } = await first.client.tasks.create(task);
  const batch = await first.client.batches.create({ batch_id: 'kept', tasks: [{ language: 'javascript', code: 'return 1' }] });
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');
  const second = await start();
  expect(await second.client.batches.create({ batch_id: 'kept', tasks: [{ language: 'javascript', code: 'return 1' }] })).toMatchObject({ task_ids: batch.task_ids });
  expect(await second.client.answerTools(id, { ask: ({ n }) => Number(n) + 1 }, { pollMs: 50 })).toMatchObject({ status: 'succeeded', result: { output: 2 } });
  await second.client.tasks.create({ language: 'python', code: 'x = 20', session_id: 's', shared_interpreter: true, wait_seconds: 60 });
  const shared = { language: 'python' as const, code: 'x + 1', session_id: 's', shared_interpreter: true, wait_seconds: 60 };
  expect(await second.client.tasks.create(shared)).toMatchObject({ status: 'succeeded', result: { output: 21 } });
  expect((await second.client.sessions.list()).items).toMatchObject([{ session_id: 's', head: 2 }]);
  await second.client.sessions.end('s');
  expect((await second.client.sessions.list()).items).toEqual([]);
  second.child.kill('SIGTERM');
  expect(await once(second.child, 'exit')).toEqual([0, null]);
});
