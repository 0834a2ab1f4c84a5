/** An instruction over REST, from the request to the webhook, field by field, with a model of the test's own. */
import { createClient } from '@fermata/client';
import type { Model } from '@fermata/protocol';
import { createServer, createWebhookListeners } from '@fermata/server';
import { openEngine } from 'fermata';
import { expect, test } from 'vitest';
import { HttpReceiver } from '../stories/http-receiver.ts';

const CODE = 'a, b, numbers = 0, 1, []\nfor _ in range(20):\n    numbers.append(a)\n    a, b = b, a + b\nnumbers\n';
const FIRST_20 = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4181];

function scripted(...replies: string[]): Model {
  return {
    name: 'test/scripted',
    generate: async (_request, { onText }) => {
      const text = replies.shift() as string;
      onText?.(text);
      return { text, calls: [], finish: 'stop', model: 'scripted-1', usage: { inputTokens: 1000, outputTokens: 50 } };
    },
  };
}

test('the first 20 Fibonacci numbers, by instruction, with a callback', async () => {
  await using receiver = await HttpReceiver.start();
  const model = scripted(`\`\`\`python\n${CODE}\`\`\``, 'The first 20 Fibonacci numbers are 0 to 4181.');
  const listeners = createWebhookListeners();
  const { engine, store, registry, check, close } = await openEngine({ listeners, models: { defaultName: model.name, find: () => model } });
  await using server = createServer({ engine, store, tools: registry, check, close, listeners, development: true, webhooks: { network: { allowPrivate: true }, pollMs: 30 } });
  const client = createClient({ url: await server.listen({ port: 0 }), key: server.developmentKey as string });
  const instruction = 'Compute the first 20 Fibonacci numbers and return them as a JSON list';
  const created = await client.tasks.create({ task_id: 'fibonacci', instruction, callback_url: `${receiver.url}/hook` });
  expect(created).toEqual({ task_id: 'fibonacci', status: 'pending', created_at: expect.any(String) });
  const task = await client.tasks.wait('fibonacci');
  expect(task).toEqual({
    ...{ task_id: 'fibonacci', status: 'succeeded', attempt: 1, worker: null, sandbox: 'wasm', image: 'cpython', language: 'python' },
    ...{ session_id: null, batch_id: null, priority: 0, metadata: {}, checkpoint_id: null },
    ...{ created_at: expect.any(String), updated_at: expect.any(String), started_at: expect.any(String), completed_at: expect.any(String) },
    resources_used: expect.objectContaining({ model_tokens: 2100, tool_calls: 0 }),
    result: {
      output: FIRST_20,
      answer: 'The first 20 Fibonacci numbers are 0 to 4181.',
      ...{ stdout: '', stderr: '', exit_code: 0, truncated: false, files: [] },
      execution_log: expect.any(Array),
      resources_used: expect.objectContaining({ model_tokens: 2100 }),
    },
  });
  expect(await client.tasks.code('fibonacci')).toEqual({
    ...{ task_id: 'fibonacci', instruction, language: 'python', code: CODE },
    versions: [{ version: 1, language: 'python', code: CODE, by: 'model', created_at: expect.any(String) }],
  });
  await receiver.count(1);
  const { type, data } = JSON.parse(receiver.received[0]?.body ?? '');
  const { execution_log: _, ...result } = (task as { result: Record<string, unknown> }).result;
  expect({ type, data }).toMatchObject({ type: 'task.succeeded', data: { task_id: 'fibonacci', status: 'succeeded', result } });
});
