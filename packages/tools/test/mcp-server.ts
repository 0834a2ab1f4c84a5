// An MCP server for tests, on stdio or streamable HTTP, with what real ones do seldom: pages, changes, hanging, dying.
import { randomUUID } from 'node:crypto';
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const PAGE = 2;

export interface Told {
  /** Calls that were begun, and those of which the server heard that nobody waits any more. */
  calls: string[];
  cancelled: string[];
  headers: Record<string, string | string[] | undefined>[];
}

/** `names`: of the first tools; what each does follows from its name. */
export function testServer(names: string[], told: Told = { calls: [], cancelled: [], headers: [] }): Server {
  const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: { listChanged: true } } });
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    const from = Number(params?.cursor ?? 0);
    const tools = names.slice(from, from + PAGE).map((name) => ({
      ...{ name, description: `does ${name}`, inputSchema: { type: 'object' as const, properties: { n: { type: 'integer' } } } },
      ...(name.startsWith('read') ? { annotations: { readOnlyHint: true, openWorldHint: true } } : {}),
      ...(name.startsWith('wipe') ? { annotations: { destructiveHint: true } } : {}),
      ...(name.startsWith('mail') ? { annotations: { openWorldHint: true, idempotentHint: true } } : {}),
    }));
    return { tools, ...(from + PAGE < names.length ? { nextCursor: String(from + PAGE) } : {}) };
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const { name, arguments: args = {} } = params;
    told.calls.push(name);
    extra.signal.addEventListener('abort', () => told.cancelled.push(name));
    const text = (said: unknown) => ({ content: [{ type: 'text' as const, text: String(said) }] });
    if (name === 'env') return text(JSON.stringify(process.env));
    if (name === 'pid') return text(process.pid);
    if (name === 'die') process.exit(1);
    if (name === 'hang') return new Promise(() => {});
    if (name === 'grow') {
      names.push('grown');
      await server.sendToolListChanged();
      return text('grown');
    }
    if (name === 'slow') {
      for (let i = 1; i <= 6; i++) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        await extra.sendNotification({ method: 'notifications/progress', params: { progressToken: extra._meta?.progressToken ?? 0, progress: i, total: 6 } });
      }
      return text('done');
    }
    if (name === 'fail') return { ...text('no such thing'), isError: true };
    if (name === 'structured') return { ...text('{"a":1}'), structuredContent: { a: 1, n: args.n } };
    if (name === 'mixed') {
      return {
        content: [
          { type: 'text' as const, text: 'a sound' },
          { type: 'audio' as const, data: 'AQID', mimeType: 'audio/wav' },
          { type: 'resource' as const, resource: { uri: 'test://x', mimeType: 'text/plain', text: 'inside' } },
          { type: 'resource_link' as const, uri: 'test://y', name: 'y' },
        ],
      };
    }
    if (name === 'nothing') return { content: [] };
    return text(`${name} ${args.n ?? ''}`.trim());
  });
  return server;
}

export interface HttpTestServer {
  url: string;
  told: Told;
  /** Forgets all sessions, as a server that was started anew. */
  restart(): void;
  close(): Promise<void>;
}

/** `admits` has answered where it does not. */
export async function httpTestServer(names: string[], port = 0, admits: (request: IncomingMessage, response: ServerResponse) => boolean = () => true): Promise<HttpTestServer> {
  const told: Told = { calls: [], cancelled: [], headers: [] };
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const http: HttpServer = createServer(async (request, response) => {
    told.headers.push(request.headers);
    if (!admits(request, response)) return;
    const id = request.headers['mcp-session-id'];
    let transport = typeof id === 'string' ? sessions.get(id) : undefined;
    if (id !== undefined && !transport) return response.writeHead(404).end('no such session');
    if (!transport) {
      const made = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (session) => void sessions.set(session, made) });
      transport = made;
      await testServer(names, told).connect(made as Transport);
    }
    return transport.handleRequest(request, response);
  });
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    told,
    restart: () => sessions.clear(),
    close: async () => {
      http.closeAllConnections();
      await new Promise<void>((resolve) => http.close(() => resolve()));
    },
  };
}

if (process.argv[1] === import.meta.filename) await testServer(process.argv.slice(2)).connect(new StdioServerTransport());
