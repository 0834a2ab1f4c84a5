/** A server over real HTTP with an engine in memory, and requests to it as two tenants. */
import type { ToolDefinition } from '@fermata/tools';
import { createToolRegistry } from '@fermata/tools/registry';
import type { Scope } from '../src/auth/caller.ts';
import { createKeyStore } from '../src/auth/keys.ts';
import { createServer, type FermataServer } from '../src/server.ts';
import type { ServerOptions } from '../src/server-options.ts';
import { MemoryDocuments } from './memory-documents.ts';
import { MemoryEngine } from './memory-engine.ts';

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came
  body: any;
}
export interface Asked {
  json?: unknown;
  body?: string | Uint8Array<ArrayBuffer> | FormData;
  headers?: Record<string, string>;
  key?: string | null;
}

export interface Listening {
  server: FermataServer;
  engine: MemoryEngine;
  store: MemoryDocuments;
  url: string;
  key: string;
  /** Of another tenant. */
  foreignKey: string;
  errors: unknown[];
  newKey(scopes: Scope[], tenant?: string): Promise<string>;
  ask(method: string, path: string, asked?: Asked): Promise<Answer>;
  /** Creates a task of this program, and waits for it. */
  run(program: object, more?: object): Promise<Answer>;
  close(): Promise<void>;
}

const fixedTools: ToolDefinition[] = [
  { name: 'crm.find', description: 'Finds "a" customer', parameters: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }, execute: () => 1 },
];

/** Finds that the program is one word. */
const check: NonNullable<ServerOptions['check']> = async (_tenant, { code = '' }) =>
  /\s/.test(code) ? [] : [{ rule: 'syntax_error', severity: 'error', line: 1, column: 1, message: code }];

export async function listening(options: Partial<ServerOptions> = {}): Promise<Listening> {
  const [engine, store] = [new MemoryEngine(), new MemoryDocuments()];
  const errors: unknown[] = [];
  const tools = createToolRegistry({ store, tools: fixedTools });
  const server = createServer({ engine, store, tools, check, onError: (error) => errors.push(error), ...options });
  const url = await server.listen({ port: 0 });
  const keys = createKeyStore(store);
  const newKey = async (scopes: Scope[], tenant = 'ours') => (await keys.create({ tenant, scopes })).key;
  const [key, foreignKey] = [await newKey(['admin']), await newKey(['admin'], 'theirs')];
  const ask: Listening['ask'] = async (method, path, { json, body, headers = {}, key: as = key } = {}) => {
    const sent = json === undefined ? body : JSON.stringify(json);
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...(as === null ? {} : { authorization: `Bearer ${as}` }), ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(sent === undefined ? {} : { body: sent }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, body: isJson && text ? JSON.parse(text) : text };
  };
  return {
    ...{ server, engine, store, url, key, foreignKey, errors, newKey, ask },
    run: (program, more = {}) => ask('POST', '/api/v1/tasks', { json: { language: 'javascript', code: JSON.stringify(program), wait_seconds: 5, ...more } }),
    close: () => server.close({ drainMs: 0 }),
  };
}
