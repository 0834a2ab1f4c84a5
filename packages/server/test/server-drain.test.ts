/** A server that closes: no new tasks, what waits is answered, the engine puts its tasks down, and the process ends in good order. */
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { closeOnSignals } from '../src/close-on-signals.ts';
import { listening } from './listening.ts';

test('while it closes it is not ready and takes nothing new, but still answers', async () => {
  const at = await listening();
  let drained = () => {};
  const put = at.engine.close.bind(at.engine);
  at.engine.close = async (options) => {
    await new Promise<void>((resolve) => {
      drained = resolve;
    });
    await put(options);
  };
  await at.run({ hold: true }, { task_id: 'held', wait_seconds: 0 });
  const waiting = at.ask('GET', '/api/v1/tasks/held?wait_seconds=60');
  const closing = at.server.close({ drainMs: 1234 });
  await expect.poll(async () => (await at.ask('GET', '/readyz', { key: null })).body.status).toBe('draining');
  const json = { code: '{}', language: 'python' };
  for (const [path, body] of [
    ['tasks', json],
    ['execute', { code: '{}' }],
    ['batches', { tasks: [json] }],
    ['tasks/held/fork', {}],
  ] as const) {
    const answer = await at.ask('POST', `/api/v1/${path}`, { json: body });
    expect(answer, path).toMatchObject({ status: 503, body: { code: 'resources_exhausted' } });
    expect(answer.headers.get('retry-after')).toBe('5');
  }
  expect((await at.ask('GET', '/api/v1/tasks/held')).body.status).toBe('running');
  drained();
  await closing;
  expect((await waiting).body).toMatchObject({ status: 'paused', pause_reason: 'shutdown' });
  expect(at.engine.closed).toEqual({ drainMs: 1234 });
  await expect(at.ask('GET', '/healthz')).rejects.toThrow();
  await at.server.close();
});

test('the first signal closes the server, and the process may go on to its end', async () => {
  const close = vi.fn(async () => {});
  const closed = closeOnSignals({ close }, { drainMs: 7 });
  process.kill(process.pid, 'SIGTERM');
  expect(await closed).toBe('SIGTERM');
  expect(close).toHaveBeenCalledExactlyOnceWith({ drainMs: 7 });
});

test.skipIf(process.platform === 'win32')('it listens on a local socket too', async () => {
  const at = await listening();
  const folder = mkdtempSync(join(tmpdir(), 'fermata-socket-'));
  const path = join(folder, 's');
  expect(await at.server.listen({ path })).toBe(path);
  const status = await new Promise((resolve) => request({ socketPath: path, path: '/healthz' }, (response) => resolve(response.resume().statusCode)).end());
  expect(status).toBe(200);
  await at.close();
  rmSync(folder, { recursive: true });
});

test('an address that is taken is told as such', async () => {
  const at = await listening();
  await expect(at.server.listen({ port: Number(new URL(at.url).port) })).rejects.toMatchObject({ code: 'conflict', hint: 'Choose another port.' });
  await at.close();
});

test('faults of ours are told without their insides, and logged', async () => {
  const at = await listening();
  at.engine.task = () => Promise.reject(new Error('a path: /secret'));
  expect(await at.ask('GET', '/api/v1/tasks/a')).toMatchObject({ status: 500, body: { code: 'internal', detail: expect.not.stringContaining('secret') } });
  expect(at.errors).toMatchObject([{ message: 'a path: /secret' }]);
  await at.close();
});
