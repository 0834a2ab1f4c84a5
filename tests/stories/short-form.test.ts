/**
 * The short-form session: one connection executes and waits, another one pauses, looks and resumes by the id that the first one
 * has chosen. FERMATA_STORY_SECONDS (default 3) says how long the simulated task is.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StoryServer } from './story-server.ts';

const SECONDS = Number(process.env.FERMATA_STORY_SECONDS ?? 3);
/** A second of work at a time: what it has done so far, it never does again. */
const SIMULATE = `
from fermata import input, step, progress, sleep
done = []
for n in range(input['seconds']):
    step('second ' + str(n + 1))
    sleep(1)
    done.append(n + 1)
    progress((n + 1) / input['seconds'])
    print(n + 1)
{'seconds': len(done)}`;

let server: StoryServer;
beforeAll(async () => {
  server = await StoryServer.start({ host: 'processes' });
  await server.client().tools.add({
    ...{ kind: 'code', name: 'simulate_long_task', language: 'python', code: SIMULATE },
    parameters: { type: 'object', properties: { seconds: { type: 'integer' } }, required: ['seconds'] },
  });
});
afterAll(() => server[Symbol.asyncDispose]());

const status = async (id: string) => (await server.fetch('GET', `/status/${id}`)).body;
async function until(id: string, wanted: string): Promise<void> {
  while ((await status(id)).status !== wanted) await new Promise((resolve) => setTimeout(resolve, 20));
}
const known = async (id: string) => {
  while ((await server.fetch('GET', `/status/${id}`)).status === 404) await new Promise((resolve) => setTimeout(resolve, 10));
};
const call = { tool_call: { name: 'simulate_long_task', arguments: { seconds: SECONDS } } };

test('what one connection executes under an id of its own, another one pauses, sees paused, and resumes to success', async () => {
  const body = { call_id: 'my-call-1', ...call };
  const first = server.fetch('POST', '/execute', body);
  await known('my-call-1');
  await until('my-call-1', 'running');
  expect(await server.fetch('POST', '/pause/my-call-1')).toMatchObject({ status: 200, body: { call_id: 'my-call-1', status: 'paused', output: null, error_message: null } });
  expect(await first).toMatchObject({ status: 200, body: { call_id: 'my-call-1', status: 'paused' } });
  expect(await status('my-call-1')).toMatchObject({ status: 'paused', execution_metadata: { return_code: null } });
  expect((await server.fetch('POST', '/pause/my-call-1')).status).toBe(200);

  expect((await server.fetch('POST', '/resume/my-call-1')).status).toBe(200);
  // The same request again is no second task: it waits for the first one.
  expect(await server.fetch('POST', '/execute', body)).toMatchObject({
    status: 200,
    body: { call_id: 'my-call-1', status: 'success', output: { seconds: SECONDS }, error_message: null, execution_metadata: { return_code: 0 } },
  });
  expect(await status('my-call-1')).toMatchObject({ status: 'success', output: { seconds: SECONDS } });
  expect(await server.fetch('POST', '/pause/my-call-1')).toMatchObject({ status: 409, body: { code: 'invalid_state' } });
  expect(await server.fetch('POST', '/execute', { ...body, tool_call: { ...call.tool_call, arguments: { seconds: 1 } } })).toMatchObject({
    status: 409,
    body: { code: 'conflict' },
  });
});

test('a program is paused in its midst, the server killed, and every second of it happens once', async () => {
  const body = { call_id: 'my-call-2', code: SIMULATE.replaceAll("input['seconds']", String(SECONDS)), language: 'python' };
  const first = server.fetch('POST', '/execute', body).catch(() => 'the connection broke');
  await known('my-call-2');
  while (((await server.client().tasks.get('my-call-2')) as { progress: number | null }).progress === null) await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await server.fetch('POST', '/pause/my-call-2')).body.status).toBe('paused');
  expect(await first).toMatchObject({ body: { status: 'paused' } });
  await server.kill();
  await server.start({ host: 'processes' });

  expect(await status('my-call-2')).toMatchObject({ call_id: 'my-call-2', status: 'paused' });
  expect((await server.fetch('POST', '/resume/my-call-2')).status).toBe(200);
  expect((await server.fetch('POST', '/execute', body)).body).toMatchObject({ status: 'success', output: { seconds: SECONDS } });
  const { result } = (await server.client().tasks.get('my-call-2')) as { result: { stdout: string } };
  expect(result.stdout).toBe(Array.from({ length: SECONDS }, (_, n) => `${n + 1}\n`).join(''));
});

test('a program that fails is told as failed, with its message and return code', async () => {
  expect(await server.fetch('POST', '/execute', { call_id: 'my-call-3', code: '1 / 0' })).toMatchObject({
    status: 200,
    body: { call_id: 'my-call-3', status: 'failed', output: null, error_message: expect.stringContaining('division by zero'), execution_metadata: { return_code: 1 } },
  });
  expect(await server.fetch('GET', '/status/nobody')).toMatchObject({ status: 404, body: { code: 'not_found' } });
});
