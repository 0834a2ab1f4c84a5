/** Story 2: download, clean, train, evaluate; stopped after the cleaning, the server killed and started again, and nothing done twice. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataSet, PROGRAM } from './data-set.ts';
import { HttpReceiver } from './http-receiver.ts';
import { StoryServer } from './story-server.ts';

const ROUNDS = 40;
const { csv, clean } = dataSet();
let server: StoryServer;
let world: HttpReceiver;

beforeAll(async () => {
  server = await StoryServer.start({ host: 'processes' });
  world = await HttpReceiver.start(({ path }) => (path === '/data.csv' ? { status: 200, headers: { 'content-type': 'text/csv' }, body: csv } : { status: 204 }));
  const { tools } = server.client();
  await tools.add({
    kind: 'http',
    name: 'note',
    method: 'POST',
    url: `${world.url}/notes`,
    parameters: { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] },
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const notes = () => world.received.filter(({ path }) => path === '/notes').map(({ body }) => JSON.parse(body).what);
const limits = () => ({ timeout_seconds: 3600, max_cpu_seconds: 3600, network_access: [new URL(world.url).host] });
const input = () => ({ rounds: ROUNDS, url: `${world.url}/data.csv` });

test('a long task is paused after its cleaning step, outlives the server, and goes on to the right result without cleaning again', async () => {
  const client = server.client();
  const { task_id: id } = await client.tasks.create({ task_id: 'long-task', language: 'python', code: PROGRAM, input: input(), tool_constraints: limits() });
  const steps: string[] = [];
  for await (const event of client.tasks.events(id)) {
    if (event.kind === 'step') steps.push((event.data as { name: string }).name);
    if (steps.at(-1) === 'train') break;
  }
  expect(steps).toEqual(['download', 'clean', 'train']);
  let seen = await client.tasks.get(id);
  while (seen.status === 'running' && (seen.progress ?? 0) === 0) seen = await client.tasks.get(id);
  expect(seen).toMatchObject({ status: 'running', current_step: 'train', line: expect.any(Number), progress: expect.any(Number), in_flight: [], waiting_for: [] });
  expect(seen.resources_used.cpu_time_s).toBeGreaterThan(0);
  expect(seen.resources_used.memory_mb).toBeGreaterThan(0);
  expect(seen.resources_used.tool_calls).toBe(2);

  const paused = await client.tasks.pause(id);
  expect(paused).toMatchObject({ status: 'paused', pause_reason: 'user_request', current_step: 'train', resumable: true, checkpoint_id: expect.any(String) });
  const { pid } = server;
  await server.kill();
  await server.start({ host: 'processes' });
  expect(server.pid).not.toBe(pid);

  const again = server.client();
  const found = await again.tasks.get(id);
  expect(found).toMatchObject({ status: 'paused', current_step: 'train', checkpoint_id: paused.checkpoint_id, resumable: true });
  const state = await again.tasks.state(id);
  expect(JSON.stringify(state)).toContain('rounds');
  await again.tasks.resume(id);
  const done = await again.tasks.wait(id);

  expect(done).toMatchObject({ status: 'succeeded', attempt: 1, result: { stdout: `cleaned ${clean}\ntrained\n` } });
  expect(notes()).toEqual(['cleaned', 'evaluated']);
  expect(world.received.filter(({ path }) => path === '/data.csv')).toHaveLength(1);
  const { items } = await again.tasks.journal(id, { limit: 1000 });
  expect(items.filter(({ kind, body }) => kind === 'step' && (JSON.parse(body) as { name: string }).name === 'clean')).toHaveLength(1);
  const calls = await again.calls.list(id);
  expect(calls.map(({ tool, tries, status }) => `${tool} ${tries} ${status}`)).toEqual(['network.get 1 settled', 'note 1 settled', 'note 1 settled']);

  const { output } = (done as { result: { output: { rows: number; model: [number, number, number]; off: number } } }).result;
  expect(output.rows).toBe(clean);
  expect(output.model[0]).toBeCloseTo(3, 1);
  expect(output.model[1]).toBeCloseTo(-2, 1);
  expect(output.off).toBeLessThan(1);
  const whole = await again.tasks.create({ language: 'python', code: PROGRAM, input: input(), tool_constraints: limits() });
  expect(await again.tasks.wait(whole.task_id)).toMatchObject({ status: 'succeeded', result: { output } });
});
