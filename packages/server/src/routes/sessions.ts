/** Sessions: the interpreters that tasks share. */

import { pageQuerySchema, sessionPageSchema } from '@fermata/protocol/wire';
import { createRoute } from '@hono/zod-openapi';
import { needs } from '../auth/authenticate.ts';
import { idParams, json, newRoutes, problems } from '../new-routes.ts';
import type { ServerContext } from '../server-options.ts';
import { showPage, showSession } from '../show/parts.ts';

const list = createRoute({
  method: 'get',
  path: '/sessions',
  tags: ['Sessions'],
  summary: 'Sessions with a shared interpreter',
  ...needs('read'),
  request: { query: pageQuerySchema },
  responses: { 200: json(sessionPageSchema, 'One page'), ...problems(422) },
});
const end = createRoute({
  method: 'delete',
  path: '/sessions/{id}',
  tags: ['Sessions'],
  summary: 'End a session: its interpreter is gone',
  ...needs('run'),
  request: { params: idParams },
  responses: { 204: { description: 'Ended' }, ...problems(404, 409) },
});

export function sessionRoutes({ engine }: ServerContext) {
  const routes = newRoutes();
  routes.openapi(list, async (c) => {
    const { cursor, limit = 50 } = c.req.valid('query');
    const page = await engine.sessions(c.get('caller').tenant, { limit, ...(cursor === undefined ? {} : { cursor }) });
    return c.json(showPage(page, showSession), 200);
  });
  routes.openapi(end, async (c) => {
    await engine.endSession(c.get('caller').tenant, c.req.valid('param').id);
    return c.body(null, 204);
  });
  return routes;
}
