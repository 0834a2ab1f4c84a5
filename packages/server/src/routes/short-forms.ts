/** The short forms, for the simple case: execute, status, pause, resume. */

import { parseOptions } from '@fermata/protocol';
import { createTaskSchema, executeSchema, shortTaskSchema } from '@fermata/protocol/wire';
import { createRoute } from '@hono/zod-openapi';
import { needs } from '../auth/authenticate.ts';
import { body, idempotencyHeaders, idParams, json, newRoutes, problems } from '../new-routes.ts';
import type { ServerContext } from '../server-options.ts';
import { showShort } from '../show/task.ts';
import { mustAccept, requestOf } from './task-bodies.ts';
import { controlled } from './task-control.ts';
import { waited } from './tasks.ts';

const tags = ['Short forms'];
const WAIT_SECONDS = 300;
const CONTROL_WAIT_MS = 10_000;
const answer = { 200: json(shortTaskSchema, 'The task; one that waits for somebody is shown as paused') };

const execute = createRoute({
  method: 'post',
  path: '/execute',
  tags,
  summary: 'Run a program and wait for it',
  ...needs('run'),
  request: { body: body(executeSchema), headers: idempotencyHeaders },
  responses: { ...answer, ...problems(409, 413, 415, 422, 429, 503) },
});
const status = createRoute({
  method: 'get',
  path: '/status/{id}',
  tags,
  summary: 'How it stands',
  ...needs('read'),
  request: { params: idParams },
  responses: { ...answer, ...problems(404) },
});
const pause = createRoute({
  method: 'post',
  path: '/pause/{id}',
  tags,
  summary: 'Pause it',
  ...needs('run'),
  request: { params: idParams },
  responses: { ...answer, ...problems(404, 409, 429, 503) },
});
const resume = createRoute({
  method: 'post',
  path: '/resume/{id}',
  tags,
  summary: 'Let it go on',
  ...needs('run'),
  request: { params: idParams },
  responses: { ...answer, ...problems(404, 409, 429, 503) },
});

export function shortFormRoutes(server: ServerContext) {
  const routes = newRoutes();

  routes.openapi(execute, async (c) => {
    const { tenant, by } = c.get('caller');
    mustAccept(server);
    const { call_id: callId, query, wait_seconds: waitSeconds = WAIT_SECONDS, ...rest } = c.req.valid('json');
    const language = rest.code !== undefined ? (rest.language ?? 'python') : rest.language;
    const given = parseOptions(createTaskSchema, JSON.parse(JSON.stringify({ ...rest, language, instruction: query })));
    const request = await requestOf(server, tenant, given);
    const place = { path: '/execute', prefix: 'task', chosen: callId };
    const task = await server.idempotency.once(tenant, c.req.valid('header')['idempotency-key'], place, (taskId) =>
      server.engine.submit(tenant, request, { ...(taskId === undefined ? {} : { taskId }), by }),
    );
    return c.json(showShort(await waited(server, task, waitSeconds, c.req.raw.signal)), 200);
  });

  routes.openapi(status, async (c) => c.json(showShort(await server.engine.task({ tenant: c.get('caller').tenant, taskId: c.req.valid('param').id })), 200));

  for (const [route, action] of [
    [pause, 'pause'],
    [resume, 'resume'],
  ] as const) {
    routes.openapi(route as typeof pause, async (c) => {
      const { tenant, by } = c.get('caller');
      const ref = { tenant, taskId: c.req.valid('param').id };
      return c.json(showShort(await server.open.during(tenant, () => controlled(server, ref, action, CONTROL_WAIT_MS, by))), 200);
    });
  }
  return routes;
}
