/** The MCP server over streamable HTTP. Its tools use the API as the key of each request may, so a tenant sees its own only. */
import { createClient, fetchFrom } from '@fermata/client';
import { type OpenAPIHono, z } from '@hono/zod-openapi';
import { authenticate } from '../auth/authenticate.ts';
import { type Caller, may, type Scope } from '../auth/caller.ts';
import { refuseRebinding } from '../auth/refuse-rebinding.ts';
import { createMcpServer } from '../mcp/mcp-server.ts';
import { McpSessions } from '../mcp/mcp-sessions.ts';
import type { McpExtra } from '../mcp/mcp-tool.ts';
import { newRoutes, problems } from '../new-routes.ts';
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

export function mcpRoutes(server: ServerContext, { api, developmentKey, corsOrigins, hosts = [], maxSessions, idleMs, askMs }: McpRoutesOptions): OpenAPIHono<Env> {
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

  const routes = newRoutes();
  describe(routes);
  routes.use('/mcp', refuseRebinding({ hosts, origins: corsOrigins }));
  routes.use('/mcp', authenticate(server.keys, developmentKey));
  routes.all('/mcp', (c) => sessions.respond(c.req.raw, c.get('caller'), c.get('key')));
  return routes;
}

/** For readers of the OpenAPI document; what goes through is the protocol's own. */
function describe(routes: OpenAPIHono<Env>): void {
  const stream = { 'text/event-stream': { schema: z.string() } };
  const message = { 'application/json': { schema: z.record(z.string(), z.unknown()) } };
  const [scopes, session] = [{ security: [{ apiKey: [] }] }, z.object({ 'mcp-session-id': z.string().optional() })];
  const route = { path: '/mcp', tags: ['MCP'], ...scopes };
  routes.openAPIRegistry.registerPath({
    ...{ ...route, method: 'post', summary: 'A message to the MCP server, which answers by a stream' },
    request: { headers: session, body: { required: true, content: message } },
    responses: { 200: { description: 'The answer', content: stream }, 202: { description: 'Taken; there is nothing to answer' }, ...problems(404, 413, 415, 429) },
  });
  routes.openAPIRegistry.registerPath({
    ...{ ...route, method: 'get', summary: 'What the MCP server says by itself, and a stream that was cut off (Last-Event-ID)' },
    request: { headers: session },
    responses: { 200: { description: 'The stream', content: stream }, ...problems(404, 409) },
  });
  routes.openAPIRegistry.registerPath({
    ...{ ...route, method: 'delete', summary: 'End a session of the MCP server; its tasks go on' },
    request: { headers: session },
    responses: { 200: { description: 'Ended' }, ...problems(404) },
  });
}
