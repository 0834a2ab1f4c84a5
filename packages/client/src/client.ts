/** A client of Fermata's REST API: `fetch` and nothing else, so that it works in Node and in browsers. */
import type {
  BatchWire,
  CheckedWire,
  CreateBatchWire,
  CreatedBatchWire,
  CreatedKeyWire,
  CreatedWebhookWire,
  CreateKeyWire,
  CreateTaskWire,
  CreateToolSourceWire,
  CreateToolWire,
  CreateWebhookWire,
  DeliveryPageWire,
  DeliveryWire,
  ExecuteWire,
  ImagesWire,
  KeysWire,
  KeyWire,
  PageQueryWire,
  PolicyTestWire,
  PolicyVerdictWire,
  PolicyWire,
  SessionPageWire,
  SetPolicyWire,
  ShortTaskWire,
  StoredFileWire,
  ToolSourcesWire,
  ToolSourceWire,
  ToolsWire,
  ToolWire,
  WebhookWire,
} from '@fermata/protocol/wire';
import { type AnswerOptions, answerTools, type ClientTools } from './answer-tools.ts';
import { Calls } from './calls.ts';
import { Tasks } from './tasks.ts';
import { type ClientOptions, part, Transport } from './transport.ts';

export type FermataClient = ReturnType<typeof createClient>;

export function createClient(options: ClientOptions) {
  const transport = new Transport(options);
  const tasks = new Tasks(transport);
  const calls = new Calls(transport);
  return {
    tasks,
    calls,
    approvals: (query?: Parameters<Calls['approvals']>[0]) => calls.approvals(query),
    batches: {
      create: (batch: CreateBatchWire): Promise<CreatedBatchWire> => transport.json('POST', '/batches', { json: batch, creates: true }),
      get: (id: string, query: PageQueryWire = {}): Promise<BatchWire> => transport.json('GET', `/batches/${part(id)}`, { query: query as Record<string, string> }),
      cancel: (id: string): Promise<CreatedBatchWire> => transport.json('POST', `/batches/${part(id)}/control`, { json: { action: 'cancel' } }),
    },
    sessions: {
      list: (query: PageQueryWire = {}): Promise<SessionPageWire> => transport.json('GET', '/sessions', { query: query as Record<string, string> }),
      end: (id: string): Promise<void> => transport.json('DELETE', `/sessions/${part(id)}`),
    },
    files: {
      put: (name: string, data: Blob | Uint8Array<ArrayBuffer>): Promise<StoredFileWire> =>
        transport.json('POST', '/files', { query: { name }, body: data, headers: { 'content-type': 'application/octet-stream' }, creates: true }),
      get: async (id: string): Promise<Uint8Array<ArrayBuffer>> => new Uint8Array(await (await transport.send('GET', `/files/${part(id)}`)).arrayBuffer()),
      remove: (id: string): Promise<void> => transport.json('DELETE', `/files/${part(id)}`),
    },
    tools: {
      list: (query: { stubs?: 'python' | 'typescript' } = {}): Promise<ToolsWire> => transport.json('GET', '/tools', { query }),
      add: (tool: CreateToolWire): Promise<ToolWire> => transport.json('POST', '/tools', { json: tool, creates: true }),
      remove: (name: string): Promise<void> => transport.json('DELETE', `/tools/${part(name)}`),
    },
    toolSources: {
      list: (): Promise<ToolSourcesWire> => transport.json('GET', '/tool_sources'),
      get: (name: string): Promise<ToolSourceWire> => transport.json('GET', `/tool_sources/${part(name)}`),
      add: (source: CreateToolSourceWire): Promise<ToolSourceWire> => transport.json('POST', '/tool_sources', { json: source, creates: true }),
      remove: (name: string): Promise<void> => transport.json('DELETE', `/tool_sources/${part(name)}`),
    },
    policy: {
      get: (): Promise<PolicyWire> => transport.json('GET', '/policy'),
      set: (policy: SetPolicyWire['policy']): Promise<PolicyWire> => transport.json('PUT', '/policy', { json: { policy } }),
      /** What would become of a call. */
      test: (call: PolicyTestWire): Promise<PolicyVerdictWire> => transport.json('POST', '/policy/test', { json: call }),
    },
    webhooks: {
      create: (webhook: CreateWebhookWire): Promise<CreatedWebhookWire> => transport.json('POST', '/webhooks', { json: webhook, creates: true }),
      list: (): Promise<{ items: WebhookWire[] }> => transport.json('GET', '/webhooks'),
      remove: (id: string): Promise<void> => transport.json('DELETE', `/webhooks/${part(id)}`),
      callbackSecret: (): Promise<{ secret: string }> => transport.json('GET', '/webhooks/callback_secret'),
      deliveries: (query: PageQueryWire = {}): Promise<DeliveryPageWire> => transport.json('GET', '/webhooks/deliveries', { query: query as Record<string, string> }),
      redeliver: (id: string): Promise<DeliveryWire> => transport.json('POST', `/webhooks/deliveries/${part(id)}/redeliver`),
    },
    /** Through the local socket of a server only. */
    keys: {
      create: (key: CreateKeyWire): Promise<CreatedKeyWire> => transport.json('POST', '/keys', { json: key }),
      list: async (): Promise<KeyWire[]> => (await transport.json<KeysWire>('GET', '/keys')).items,
      revoke: (id: string): Promise<void> => transport.json('DELETE', `/keys/${part(id)}`),
    },
    /** What is wrong with the program of a task that is not created; nothing of it runs. */
    check: (task: CreateTaskWire): Promise<CheckedWire> => transport.json('POST', '/check', { json: task }),
    images: (): Promise<ImagesWire> => transport.json('GET', '/images'),
    /** The short form: runs a program and waits for it. */
    execute: (request: ExecuteWire): Promise<ShortTaskWire> => transport.json('POST', '/execute', { json: request, creates: true }),
    /** Carries out the calls of client tools until the task has ended or is paused. */
    answerTools: (task: string | { task_id: string }, tools: ClientTools, how?: AnswerOptions) => answerTools({ tasks, calls }, task, tools, how),
  };
}
