/** The SDK's own client at `/mcp`, and plain requests to it. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { ProgressCallback } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { CallToolResult, ElicitRequest, ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

// biome-ignore lint/suspicious/noExplicitAny: a test looks at values as they come
export type Value = Record<string, any>;

export interface McpClient extends AsyncDisposable {
  client: Client;
  transport: StreamableHTTPClientTransport;
  /** Calls a tool; throws for an error of the protocol only. */
  call(name: string, args?: object, how?: { onprogress?: ProgressCallback; signal?: AbortSignal; timeout?: number }): Promise<Called>;
}
export interface Called {
  isError: boolean;
  text: string;
  value: Value;
  error: Value | undefined;
  links: Value[];
}
export interface McpClientOptions {
  /** Answers what the server asks the user; without it the client cannot ask. */
  onAsked?: (asked: ElicitRequest['params']) => ElicitResult | Promise<ElicitResult>;
}

export async function mcpClient(url: string, key: string, { onAsked }: McpClientOptions = {}): Promise<McpClient> {
  const client = new Client({ name: 'test', version: '1' }, { capabilities: onAsked ? { elicitation: {} } : {} });
  if (onAsked) client.setRequestHandler(ElicitRequestSchema, ({ params }) => onAsked(params));
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers: { authorization: `Bearer ${key}` } } });
  await client.connect(transport as Parameters<Client['connect']>[0]);
  // From now on the client checks structured content against the output schemas.
  await client.listTools();
  return {
    client,
    transport,
    call: async (name, args = {}, how = {}) => called((await client.callTool({ name, arguments: { ...args } }, undefined, { timeout: 60_000, ...how })) as CallToolResult),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

export function called({ isError = false, content, structuredContent = {}, _meta }: CallToolResult): Called {
  return {
    isError,
    text: content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n'),
    value: structuredContent,
    error: _meta?.['fermata/error'] as Value | undefined,
    links: content.filter(({ type }) => type === 'resource_link'),
  };
}

export const INITIALIZE = {
  ...{ jsonrpc: '2.0', id: 0, method: 'initialize' },
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'plain', version: '1' } },
};

/** One request as somebody without the SDK sends it. */
export function post(url: string, key: string | null, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(new URL('/mcp', url), {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** The id of a new session. */
export async function initialize(url: string, key: string): Promise<string> {
  const response = await post(url, key, INITIALIZE);
  await response.text();
  const id = response.headers.get('mcp-session-id');
  if (id === null) throw new Error(`no session: ${response.status}`);
  return id;
}
