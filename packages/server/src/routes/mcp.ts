/** The MCP server over streamable HTTP. Its tools use the API as the key of each request may, so a tenant sees its own only. */
import { createClient, fetchFrom } from '@fermata/client';
import { Hono } from 'hono';
import { authenticate } from '../auth/authenticate.ts';
import { type Caller, may, type Scope } from '../auth/caller.ts';
import { refuseRebinding } from '../auth/refuse-rebinding.ts';
import { createMcpServer } from '../mcp/mcp-server.ts';
import { McpSessions } from '../mcp/mcp-sessions.ts';
import type { McpExtra } from '../mcp/mcp-tool.ts';
import type { Env, ServerContext, ServerOptions } from '../server-options.ts';
import { VERSION } from '../version.ts';

export interface McpRoutesOptions extends NonNullable<ServerOptions['mcp']> {
  /** Answers requests of the API. */
  api: (request: Request) => Response | Promise<Response>;
  developmentKey: string | undefined;
  corsOrigins: readonly string[];
}

/** The API is in the same process; only the path of its addresses has a meaning. */
const API_URL = 'http://localhost';

export function mcpRoutes(server: ServerContext, { api, developmentKey, corsOrigins, hosts = [], maxSessions, idleMs, askMs }: McpRoutesOptions): Hono<Env> {
  const fetch = fetchFrom(api);
  const caller = ({ authInfo }: McpExtra) => {
    const { token: key = '', scopes = [], clientId: by = '' } = authInfo ?? {};
    const who: Caller = { tenant: '', scopes: scopes as Scope[], by };
    return { client: createClient({ url: API_URL, key, retries: 0, fetch }), may: (scope: Scope) => may(who, scope) };
  };
  const newServer = () => createMcpServer({ version: VERSION, caller, onError: server.onError, ...(askMs === undefined ? {} : { askMs }) });
  const { maxBodyBytes, heartbeatMs, draining } = server;
  const sessions = new McpSessions({ newServer, maxSessions, idleMs, maxBodyBytes, heartbeatMs });
  draining.addEventListener('abort', () => void sessions.close(), { once: true });

  return new Hono<Env>()
    .use('/mcp', refuseRebinding({ hosts, origins: corsOrigins }))
    .use('/mcp', authenticate(server.keys, developmentKey))
    .all('/mcp', (c) => sessions.respond(c.req.raw, c.get('caller'), c.get('key')));
}
