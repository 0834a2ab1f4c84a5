/** Whether the process lives, and whether it takes work. Needs no key, and tells nothing of any tenant. */

import { healthSchema, readySchema } from '@fermata/protocol/wire';
import { createRoute } from '@hono/zod-openapi';
import { json, newRoutes } from '../new-routes.ts';
import type { ServerContext } from '../server-options.ts';

const health = createRoute({ method: 'get', path: '/healthz', tags: ['Server'], summary: 'The process lives', security: [], responses: { 200: json(healthSchema, 'It does') } });
const ready = createRoute({
  method: 'get',
  path: '/readyz',
  tags: ['Server'],
  summary: 'The server takes new tasks',
  security: [],
  responses: { 200: json(readySchema, 'It does'), 503: json(readySchema, 'It does not') },
});

export function healthRoutes({ engine, draining }: ServerContext) {
  const routes = newRoutes();
  routes.openapi(health, (c) => c.json({ status: 'ok' as const }, 200));
  routes.openapi(ready, (c) => {
    const { running, pending, accepting } = engine.status;
    if (!draining.aborted && accepting) return c.json({ status: 'ready' as const, running, pending }, 200);
    c.header('Retry-After', '5');
    return c.json({ status: draining.aborted ? ('draining' as const) : ('not_ready' as const), running, pending }, 503);
  });
  return routes;
}
