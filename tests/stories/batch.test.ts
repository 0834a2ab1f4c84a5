/** A batch of ten of which one fails: the rest is right, attempts are counted, and its end is told once, also when the server dies before. */
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HttpReceiver, type Received, type Reply } from './http-receiver.ts';
import { StoryServer } from './story-server.ts';

const NEVER_MS = 3_600_000;
const FAILING = 6;
let server: StoryServer;
let receiver: HttpReceiver;
let reply: Reply;

beforeEach(async () => {
  reply = { status: 200 };
  receiver = await HttpReceiver.start(() => reply);
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

async function runBatch(): Promise<string> {
  const client = server.client();
  const tasks = Array.from({ length: 10 }, (_, n) => ({
    ...{ language: 'javascript' as const, input: n, retry: { max_attempts: 3, backoff_seconds: 0.05 } },
    code: n === FAILING ? 'throw new Error("always")' : 'return input * input',
  }));
  const { batch_id: id } = await client.batches.create({ tasks, callback_url: `${receiver.url}/hook` });
  let batch = await client.batches.get(id);
  while (batch.completed_at === null) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    batch = await client.batches.get(id);
  }
  expect(batch.counts).toEqual({ succeeded: 9, failed: 1 });
  for (const [n, taskId] of batch.task_ids.entries()) {
    const task = await client.tasks.get(taskId);
    if (n === FAILING) expect(task).toMatchObject({ status: 'failed', attempt: 3, error: { code: 'guest_error', message: 'Error: always' } });
    else expect(task).toMatchObject({ status: 'succeeded', attempt: 1, result: { output: n * n } });
  }
  return id;
}

const headersOf = ({ headers }: Received) => ({
  'webhook-id': String(headers['webhook-id']),
  'webhook-timestamp': String(headers['webhook-timestamp']),
  'webhook-signature': String(headers['webhook-signature']),
});
/** Verified as any receiver would do it, and refused when anything of it is changed. */
async function verified(one: Received): Promise<unknown> {
  const { secret } = await server.client().webhooks.callbackSecret();
  const webhook = new Webhook(secret);
  const headers = headersOf(one);
  expect(() => webhook.verify(`${one.body} `, headers)).toThrow();
  expect(() => webhook.verify(one.body, { ...headers, 'webhook-id': 'another' })).toThrow();
  expect(() => webhook.verify(one.body, { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) })).toThrow();
  return webhook.verify(one.body, headers);
}
async function delivered(): Promise<void> {
  const { webhooks } = server.client();
  while (!(await webhooks.deliveries()).items.some(({ status }) => status === 'delivered')) await new Promise((resolve) => setTimeout(resolve, 20));
}

test('the end of a batch is told once, signed', async () => {
  server = await StoryServer.start();
  const id = await runBatch();
  await receiver.count(1);
  await delivered();
  expect(receiver.received).toHaveLength(1);
  expect(await verified(receiver.received[0] as Received)).toMatchObject({ type: 'batch.ended', data: { batch_id: id, total: 10, counts: { succeeded: 9, failed: 1 } } });
});

test('the end of a batch is told once when the server is killed between the end and the delivery', async () => {
  server = await StoryServer.start({ webhooks: { pollMs: NEVER_MS } });
  const id = await runBatch();
  await server.kill();
  expect(receiver.received).toEqual([]);
  await server.start();
  await receiver.count(1);
  await delivered();
  await server.kill();
  await server.start();
  expect((await server.client().webhooks.deliveries()).items).toMatchObject([{ status: 'delivered', tries: 1 }]);
  expect(receiver.received).toHaveLength(1);
  expect(await verified(receiver.received[0] as Received)).toMatchObject({ type: 'batch.ended', data: { batch_id: id, counts: { succeeded: 9, failed: 1 } } });
});

test('what a receiver did not answer when the server was killed comes again under the same id, so that it is taken once', async () => {
  reply = 'never';
  server = await StoryServer.start();
  await runBatch();
  await receiver.count(1);
  await server.kill();
  reply = { status: 204 };
  await server.start();
  await receiver.count(2);
  await delivered();
  expect(receiver.received).toHaveLength(2);
  const [first, second] = receiver.received as [Received, Received];
  expect(headersOf(second)['webhook-id']).toBe(headersOf(first)['webhook-id']);
  await verified(second);
});
