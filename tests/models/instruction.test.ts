/** An instruction over REST, from the request to the webhook, field by field, with a model of the test's own. */
import { createClient, type FermataClient } from '@fermata/client';
import { FermataError, type Model, type ModelRequest } from '@fermata/protocol';
import { createServer, createWebhookListeners } from '@fermata/server';
import { defineTool, type OpenEngineOptions, openEngine } from 'fermata';
import { expect, onTestFinished, test } from 'vitest';
import { HttpReceiver } from '../stories/http-receiver.ts';

const CODE = 'a, b, numbers = 0, 1, []\nfor _ in range(20):\n    numbers.append(a)\n    a, b = b, a + b\nnumbers\n';
const FIRST_20 = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4181];

interface Service {
  client: FermataClient;
  url: string;
  key: string;
  asked: ModelRequest[];
}

/** A server whose model replies so, one by one. */
async function service(replies: string[], options: OpenEngineOptions = {}): Promise<Service> {
  const asked: ModelRequest[] = [];
  const model: Model = {
    name: 'test/scripted',
    generate: async (request, { onText }) => {
      const text = replies[asked.push(request) - 1] as string;
      for (const part of text.match(/[\s\S]{1,30}/g) ?? []) onText?.(part);
      return { text, calls: [], finish: 'stop', model: 'scripted-1', usage: { inputTokens: 1000, outputTokens: 50, cost: 0.0012 } };
    },
  };
  const find = (name: string) => {
    if (name === model.name) return model;
    throw new FermataError('model_error', `there is no model ${name}`, { hint: 'Configure it.' });
  };
  const listeners = createWebhookListeners();
  const { engine, store, registry, check, close } = await openEngine({ listeners, models: { defaultName: model.name, find }, ...options });
  const server = createServer({ engine, store, tools: registry, check, close, listeners, development: true, webhooks: { network: { allowPrivate: true }, pollMs: 30 } });
  onTestFinished(() => server.close());
  const [url, key] = [await server.listen({ port: 0 }), server.developmentKey as string];
  return { client: createClient({ url, key }), url, key, asked };
}

test('the first 20 Fibonacci numbers, by instruction, with a callback', async () => {
  await using receiver = await HttpReceiver.start();
  const { client } = await service([`\`\`\`python\n${CODE}\`\`\``, 'The first 20 Fibonacci numbers are 0 to 4181.']);
  const instruction = 'Compute the first 20 Fibonacci numbers and return them as a JSON list';
  const created = await client.tasks.create({ task_id: 'fibonacci', instruction, callback_url: `${receiver.url}/hook` });
  expect(created).toEqual({ task_id: 'fibonacci', status: 'pending', created_at: expect.any(String) });
  const task = await client.tasks.wait('fibonacci');
  expect(task).toEqual({
    ...{ task_id: 'fibonacci', status: 'succeeded', attempt: 1, worker: null, sandbox: 'wasm', image: 'cpython', language: 'python' },
    ...{ session_id: null, batch_id: null, priority: 0, metadata: {}, checkpoint_id: null },
    ...{ created_at: expect.any(String), updated_at: expect.any(String), started_at: expect.any(String), completed_at: expect.any(String) },
    resources_used: expect.objectContaining({ model_tokens: 2100, model_cost_usd: 0.0024, tool_calls: 0 }),
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

test('the short form takes a query', async () => {
  const { url, key } = await service(['```python\n6 * 7\n```', 'It is 42.']);
  const response = await fetch(`${url}/api/v1/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'Six times seven?', call_id: 'q', model: { max_repairs: 0 } }),
  });
  expect(await response.json()).toEqual({
    ...{ call_id: 'q', status: 'success', output: 42, answer: 'It is 42.', error_message: null },
    execution_metadata: { execution_time_seconds: expect.any(Number), cpu_time_s: expect.any(Number), memory_mb: expect.any(Number), return_code: 0 },
  });
});

test('what the check finds goes back to the model, with line, column and rule; text and programs are events', async () => {
  const number = { type: 'number' } as const;
  const parameters = { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] } as const;
  const add = defineTool({ name: 'add', description: 'Adds', parameters, execute: ({ a, b }) => a + b });
  const { client, asked } = await service(['```python\ntools.add(x=1, b=2)\n```', '```python\ntools.add(a=1, b=2)\n```', 'Three.'], { tools: [add] });
  const { task_id: id } = await client.tasks.create({ instruction: 'Add 1 and 2', language: 'python' });
  const kinds = new Map<string, number>();
  for await (const { kind } of client.tasks.events(id)) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  expect([...kinds.keys()]).toEqual(expect.arrayContaining(['model_asked', 'model_replied', 'program', 'finding', 'repair', 'returned', 'succeeded']));
  expect(kinds.get('program')).toBe(2);
  expect(await client.tasks.get(id)).toMatchObject({ status: 'succeeded', result: { output: 3, answer: 'Three.' } });
  expect(asked[0]?.messages[0]?.content).toContain('def add(a: float, b: float)');
  expect(asked[1]?.messages.at(-1)?.content).toMatch(/- line 1, column \d+, \w+: .*x/);
  expect((await client.tasks.code(id)).versions.map(({ version }) => version)).toEqual([1, 2]);
});

test('a plan is in the inbox, and an edited one runs', async () => {
  const { client } = await service(['```python\n1\n```', 'Two.']);
  const task = await client.tasks.create({ instruction: 'x', model: { approve_plan: true }, wait_seconds: 60 });
  expect(task).toMatchObject({ status: 'waiting', language: 'python', waiting_for: [{ tool: 'plan', kind: 'review', arguments: { value: { language: 'python', code: '1\n' } } }] });
  const [wait] = (await client.approvals()).items;
  await client.calls.approve(task.task_id, wait?.call_id as string, { value: { language: 'javascript', code: 'return 2' } });
  expect(await client.tasks.wait(task.task_id)).toMatchObject({ status: 'succeeded', language: 'javascript', image: 'quickjs', result: { output: 2, answer: 'Two.' } });
});

test('what cannot be done is refused at once: another model, options of a model without an instruction, no language for a shared interpreter', async () => {
  const { client } = await service([]);
  await expect(client.tasks.create({ instruction: 'x', model: { name: 'other/model' } })).rejects.toMatchObject({ status: 422, code: 'model_error', hint: 'Configure it.' });
  await expect(client.tasks.create({ code: '1', language: 'python', model: { max_repairs: 1 } })).rejects.toMatchObject({ code: 'invalid_request' });
  await expect(client.tasks.create({ instruction: 'x', session_id: 's', shared_interpreter: true })).rejects.toThrow(/needs a language/);
  const pending = await client.tasks.list();
  expect(pending.items).toEqual([]);
});
