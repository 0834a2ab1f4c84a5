/** The MCP server over streamable HTTP. Its tools use the API as the key of each request may, so a tenant sees its own only. */
import { type OpenAPIHono, z } from '@hono/zod-openapi';
import { authenticate } from '../auth/authenticate.ts';
import { refuseRebinding } from '../auth/refuse-rebinding.ts';
import type { McpSessions } from '../mcp/mcp-sessions.ts';
import { newRoutes, problems } from '../new-routes.ts';
import type { Env, ServerContext, ServerOptions } from '../server-options.ts';

export interface McpRoutesOptions extends NonNullable<ServerOptions['mcp']> {
  /** Answers requests of the API. */
  api: (request: Request) => Response | Promise<Response>;
  developmentKey: string | undefined;
  corsOrigins: readonly string[];
}

export function mcpRoutes(server: ServerContext, { api, developmentKey, corsOrigins, hosts = [], ...options }: McpRoutesOptions): OpenAPIHono<Env> {
  let opening: Promise<McpSessions> | undefined;
  const sessions = () => (opening ??= import('../mcp/open-sessions.ts').then(({ openSessions }) => openSessions(server, api, options)));
  const routes = newRoutes();
  describe(routes);
  routes.use('/mcp', refuseRebinding({ hosts, origins: corsOrigins }));
  routes.use('/mcp', authenticate(server.keys, developmentKey));
  routes.all('/mcp', async (c) => (await sessions()).respond(c.req.raw, c.get('caller'), c.get('key')));
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
