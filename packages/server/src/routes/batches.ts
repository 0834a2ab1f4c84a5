/** Batches: many tasks at once, of which one's failure does not touch the rest. */

import { batchControlSchema, batchQuerySchema, batchSchema, createBatchSchema, createdBatchSchema } from '@fermata/protocol/wire';
import { createRoute } from '@hono/zod-openapi';
import { needs } from '../auth/authenticate.ts';
import { body, idempotencyHeaders, idParams, json, newRoutes, problems } from '../new-routes.ts';
import type { ServerContext } from '../server-options.ts';
import { shownBatch } from '../show/batch.ts';
import { showBatch } from '../show/parts.ts';
import { mustAccept, requestOf, within } from './task-bodies.ts';

const tags = ['Batches'];

const create = createRoute({
  method: 'post',
  path: '/batches',
  tags,
  summary: 'Create many tasks: all of them or none',
  ...needs('run'),
  request: { body: body(createBatchSchema), headers: idempotencyHeaders },
  responses: { 201: json(createdBatchSchema, 'Created'), ...problems(409, 413, 415, 422, 503) },
});
const get = createRoute({
  method: 'get',
  path: '/batches/{id}',
  tags,
  summary: 'Counts by state, and results',
  ...needs('read'),
  request: { params: idParams, query: batchQuerySchema },
  responses: { 200: json(batchSchema, 'The batch, with one page of results'), ...problems(404, 422) },
});
const control = createRoute({
  method: 'post',
  path: '/batches/{id}/control',
  tags,
  summary: 'Cancel all tasks of a batch that have not ended',
  ...needs('run'),
  request: { params: idParams, body: body(batchControlSchema) },
  responses: { 200: json(createdBatchSchema, 'The batch'), ...problems(404, 415, 422) },
});

export function batchRoutes(server: ServerContext) {
  const { engine } = server;
  const routes = newRoutes();

  routes.openapi(create, async (c) => {
    const { tenant, by } = c.get('caller');
    mustAccept(server);
    const given = c.req.valid('json');
    const members = await Promise.all(
      given.tasks.map((task, i) =>
        within(`tasks.${i}`, async () => ({ request: await requestOf(server, tenant, task), ...(task.task_id === undefined ? {} : { taskId: task.task_id }) })),
      ),
    );
    if (given.callback_url !== undefined) await server.endpoints.refusePrivate(given.callback_url, 'callback_url');
    const options = {
      by,
      ...(given.max_concurrency === undefined ? {} : { maxConcurrency: given.max_concurrency }),
      ...(given.callback_url === undefined ? {} : { callbackUrl: given.callback_url }),
    };
    const place = { path: '/batches', prefix: 'batch', chosen: given.batch_id };
    const batch = await server.idempotency.once(tenant, c.req.valid('header')['idempotency-key'], place, (batchId) =>
      engine.submitBatch(tenant, members, { ...options, ...(batchId === undefined ? {} : { batchId }) }),
    );
    return c.json(showBatch(batch), 201);
  });

  routes.openapi(get, async (c) => {
    const batch = await engine.batch(c.get('caller').tenant, c.req.valid('param').id);
    return c.json(await shownBatch(engine, c.get('caller').tenant, batch, c.req.valid('query')), 200);
  });

  routes.openapi(control, async (c) => {
    const { tenant, by } = c.get('caller');
    return c.json(showBatch(await engine.cancelBatch(tenant, c.req.valid('param').id, by)), 200);
  });
  return routes;
}
