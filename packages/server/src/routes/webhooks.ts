/** Standing webhooks, the secret of callbacks, and the log of what was sent. */

import {
  callbackSecretSchema,
  createdWebhookSchema,
  createWebhookSchema,
  deliveryPageSchema,
  deliveryQuerySchema,
  deliverySchema,
  webhookPageSchema,
} from '@fermata/protocol/wire';
import { createRoute } from '@hono/zod-openapi';
import { needs } from '../auth/authenticate.ts';
import { body, idempotencyHeaders, idParams, json, newRoutes, problems } from '../new-routes.ts';
import type { ServerContext } from '../server-options.ts';
import { showDelivery } from '../webhooks/delivery-log.ts';
import { showNewWebhook, showWebhook } from '../webhooks/endpoints.ts';

const tags = ['Webhooks'];

const create = createRoute({
  method: 'post',
  path: '/webhooks',
  tags,
  summary: 'An endpoint that is told of tasks and batches',
  description: 'Signed as Standard Webhooks; the secret is shown in this answer only. Private addresses are refused.',
  ...needs('admin'),
  request: { body: body(createWebhookSchema), headers: idempotencyHeaders },
  responses: { 201: json(createdWebhookSchema, 'Created'), ...problems(409, 415, 422) },
});
const list = createRoute({
  method: 'get',
  path: '/webhooks',
  tags,
  summary: 'Endpoints',
  ...needs('admin'),
  responses: { 200: json(webhookPageSchema, 'All of them'), ...problems() },
});
const remove = createRoute({
  method: 'delete',
  path: '/webhooks/{id}',
  tags,
  summary: 'Tell it nothing more',
  ...needs('admin'),
  request: { params: idParams },
  responses: { 204: { description: 'Removed' }, ...problems(404) },
});
const secret = createRoute({
  method: 'get',
  path: '/webhooks/callback_secret',
  tags,
  summary: 'The secret that signs what callback_url is told',
  ...needs('admin'),
  responses: { 200: json(callbackSecretSchema, 'Made at first use'), ...problems() },
});
const listDeliveries = createRoute({
  method: 'get',
  path: '/webhooks/deliveries',
  tags,
  summary: 'What was sent, oldest first; kept for a week',
  ...needs('admin'),
  request: { query: deliveryQuerySchema },
  responses: { 200: json(deliveryPageSchema, 'One page'), ...problems(422) },
});
const redeliver = createRoute({
  method: 'post',
  path: '/webhooks/deliveries/{id}/redeliver',
  tags,
  summary: 'Send it again now, with the same webhook-id',
  ...needs('admin'),
  request: { params: idParams },
  responses: { 202: json(deliverySchema, 'It will be sent'), ...problems(404) },
});

export function webhookRoutes(server: ServerContext, wake: () => void) {
  const { endpoints, deliveries, store, now } = server;
  const routes = newRoutes();

  routes.openapi(create, async (c) => {
    const { tenant } = c.get('caller');
    const given = c.req.valid('json');
    const claim = await server.idempotency.claim(tenant, c.req.valid('header')['idempotency-key'], '/webhooks', given);
    return c.json(showNewWebhook(await endpoints.create(tenant, given, claim && `webhook_${claim.token}`)), 201);
  });
  routes.openapi(list, async (c) => c.json({ items: (await endpoints.list(c.get('caller').tenant)).map(showWebhook) }, 200));
  routes.openapi(secret, async (c) => c.json({ secret: await endpoints.callbackSecret(c.get('caller').tenant) }, 200));
  routes.openapi(listDeliveries, async (c) => {
    const { cursor, limit = 50 } = c.req.valid('query');
    return c.json(await deliveries.list(c.get('caller').tenant, { cursor, limit }), 200);
  });
  routes.openapi(redeliver, async (c) => {
    const { tenant } = c.get('caller');
    const delivery = await deliveries.get(tenant, c.req.valid('param').id);
    const { id, url, webhook_id, type, task_id, batch_id } = delivery;
    const again = { ...delivery, status: 'pending' as const, nextAt: now() };
    const target = webhook_id === undefined ? { url } : { webhook_id };
    const body = JSON.stringify({ ...target, type, ...(task_id === undefined ? {} : { task_id }), ...(batch_id === undefined ? {} : { batch_id }) });
    const row = { id, tenant, taskId: task_id ?? null, kind: 'webhook', dueAt: now(), tries: 0, body };
    await store.commit([{ ...(await deliveries.entry(tenant, again, now())), outbox: [row] }]);
    wake();
    return c.json(showDelivery(again), 202);
  });
  routes.openapi(remove, async (c) => {
    await endpoints.remove(c.get('caller').tenant, c.req.valid('param').id);
    return c.body(null, 204);
  });
  return routes;
}
