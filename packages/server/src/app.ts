/** All routes behind their checks, as one fetch handler. Knows nothing of sockets. */
import { FermataError } from '@fermata/protocol';
import { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { HTTPException } from 'hono/http-exception';
import { authenticate } from './auth/authenticate.ts';
import { limitBody, wantJson, withPlace } from './body-checks.ts';
import { ChatRefusal } from './chat/openai-error.ts';
import { newRoutes } from './new-routes.ts';
import { problemResponse } from './problem.ts';
import { batchRoutes } from './routes/batches.ts';
import { callRoutes } from './routes/calls.ts';
import { chatRoutes, tellAsOpenAI } from './routes/chat.ts';
import { checkRoutes } from './routes/check.ts';
import { docsRoutes } from './routes/docs.ts';
import { fileRoutes } from './routes/files.ts';
import { healthRoutes } from './routes/health.ts';
import { keyRoutes } from './routes/keys.ts';
import { mcpRoutes } from './routes/mcp.ts';
import { policyRoutes } from './routes/policy.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { shortFormRoutes } from './routes/short-forms.ts';
import { taskControlRoutes } from './routes/task-control.ts';
import { taskEventRoutes } from './routes/task-events.ts';
import { taskPartRoutes } from './routes/task-parts.ts';
import { taskRoutes } from './routes/tasks.ts';
import { toolSourceRoutes } from './routes/tool-sources.ts';
import { toolRoutes } from './routes/tools.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import type { Env, ServerContext, ServerOptions } from './server-options.ts';

export const BASE_PATH = '/api/v1';
/** Of what speaks OpenAI's protocol. */
const OPENAI_PATH = '/v1';
const ALLOWED_HEADERS = ['authorization', 'content-type', 'idempotency-key', 'last-event-id', 'mcp-session-id', 'mcp-protocol-version'];

export interface AppOptions {
  developmentKey?: string | undefined;
  corsOrigins?: readonly string[] | undefined;
  /** For the local socket: API keys can be made and revoked there, and what is done there goes by this name. */
  localBy?: string | undefined;
  mcp?: ServerOptions['mcp'];
  /** Has webhooks sent without delay. */
  wake: () => void;
}

export function createApp(server: ServerContext, { developmentKey, corsOrigins = [], localBy, mcp, wake }: AppOptions): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>();
  app.onError(async (error, c) => {
    if (!(error instanceof FermataError && error.code !== 'internal') && !(error instanceof HTTPException && error.status < 500))
      server.onError(error, `${c.req.method} ${c.req.path}`);
    return problemResponse(error instanceof HTTPException ? await withPlace(error, c) : error, c.req.path);
  });
  app.notFound((c) => problemResponse(new FermataError('not_found', `there is no ${c.req.method} ${c.req.path}`, { hint: 'See /docs for what there is.' }), c.req.path));
  if (corsOrigins.length > 0) app.use(cors({ origin: [...corsOrigins], allowHeaders: [...ALLOWED_HEADERS], exposeHeaders: ['retry-after', 'mcp-session-id'] }));
  app.use(async (c, next) => {
    await next();
    c.header('X-Content-Type-Options', 'nosniff');
    if (!c.res.headers.has('cache-control')) c.header('Cache-Control', 'no-store');
  });

  const api = newRoutes();
  api.use(authenticate(server.keys, developmentKey, localBy));
  const [small, large] = [limitBody(server.maxBodyBytes), limitBody(server.maxFileBytes)];
  const isUpload = (path: string) => path === `${BASE_PATH}/files`;
  api.use((c, next) => (isUpload(c.req.path) ? large(c, next) : small(c, next)));
  api.use((c, next) => (isUpload(c.req.path) ? next() : wantJson(c, next)));
  const groups = [
    shortFormRoutes(server),
    taskRoutes(server),
    taskControlRoutes(server),
    taskPartRoutes(server),
    taskEventRoutes(server),
    callRoutes(server),
    batchRoutes(server),
    sessionRoutes(server),
    fileRoutes(server),
    toolRoutes(server),
    toolSourceRoutes(server),
    policyRoutes(server),
    checkRoutes(server),
    webhookRoutes(server, wake),
    ...(localBy === undefined ? [] : [keyRoutes(server)]),
  ];
  for (const group of groups) api.route('/', group);
  app.route(BASE_PATH, api);
  app.route(OPENAI_PATH, openaiRoutes(server, authenticate(server.keys, developmentKey, localBy), small));
  app.route('/', healthRoutes(server));
  if (localBy === undefined) app.route('/', mcpRoutes(server, { ...mcp, api: (request) => app.fetch(request), developmentKey, corsOrigins }));
  app.route('/', docsRoutes(app));
  return app;
}

/** Chats, behind the same checks, with errors as their clients expect them. */
function openaiRoutes(server: ServerContext, ...checks: MiddlewareHandler<Env>[]): OpenAPIHono<Env> {
  const routes = newRoutes();
  tellAsOpenAI(routes, server);
  for (const check of [...checks, wantJson]) routes.use(check);
  const chats = chatRoutes(server);
  tellAsOpenAI(chats, server);
  routes.route('/', chats);
  routes.all('*', (c) => {
    throw new ChatRefusal(`there is no ${c.req.method} ${c.req.path}`, { status: 404, code: 'not_found' });
  });
  return routes;
}
