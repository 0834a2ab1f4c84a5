/** What is wrong with a program, before anybody runs it. */
import { FermataError } from '@fermata/protocol';
import { checkedSchema, createTaskSchema } from '@fermata/protocol/wire';
import { createRoute } from '@hono/zod-openapi';
import { needs } from '../auth/authenticate.ts';
import { body, json, newRoutes, problems } from '../new-routes.ts';
import type { ServerContext } from '../server-options.ts';
import { requestOf } from './task-bodies.ts';

const check = createRoute({
  method: 'post',
  path: '/check',
  tags: ['Tasks'],
  summary: 'What is wrong with a program',
  description: 'Takes the body of a task, looks at its program and runs nothing of it. A task that is created is checked by itself.',
  ...needs('read'),
  request: { body: body(createTaskSchema) },
  responses: { 200: json(checkedSchema, 'What was found'), ...problems(413, 415, 422, 503) },
});

export function checkRoutes(server: ServerContext) {
  const routes = newRoutes();
  routes.openapi(check, async (c) => {
    const { tenant } = c.get('caller');
    if (!server.check) throw new FermataError('sandbox_unavailable', 'this server checks no programs', { hint: 'Create the task: it is checked before it runs.' });
    const { wait_seconds: _, ...given } = c.req.valid('json');
    const findings = await server.check(tenant, await requestOf(server, tenant, given));
    return c.json({ ok: findings.every(({ severity }) => severity !== 'error'), findings }, 200);
  });
  return routes;
}
