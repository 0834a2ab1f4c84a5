/** API keys; on the local socket only, where whoever owns the data folder asks. */
import { createdKeySchema, createKeySchema, type KeyWire, keysSchema } from '@fermata/protocol/wire';
import { createRoute } from '@hono/zod-openapi';
import { needs } from '../auth/authenticate.ts';
import type { KeyInfo } from '../auth/keys.ts';
import { body, idParams, json, newRoutes, problems } from '../new-routes.ts';
import type { ServerContext } from '../server-options.ts';
import { showMaybeTime, showTime } from '../show/time.ts';

const tags = ['Keys'];

const create = createRoute({
  method: 'post',
  path: '/keys',
  tags,
  summary: 'Make an API key',
  ...needs('admin'),
  request: { body: body(createKeySchema) },
  responses: { 201: json(createdKeySchema, 'The key is told here and never again'), ...problems(415, 422) },
});
const list = createRoute({
  method: 'get',
  path: '/keys',
  tags,
  summary: 'API keys of all tenants',
  ...needs('admin'),
  responses: { 200: json(keysSchema, 'All of them'), ...problems() },
});
const revoke = createRoute({
  method: 'delete',
  path: '/keys/{id}',
  tags,
  summary: 'Revoke an API key',
  ...needs('admin'),
  request: { params: idParams },
  responses: { 204: { description: 'It works no more' }, ...problems(404) },
});

export function keyRoutes({ keys, now }: ServerContext) {
  const routes = newRoutes();

  routes.openapi(create, async (c) => {
    const { tenant, scopes, name, expires_after_seconds: seconds } = c.req.valid('json');
    const expiresAt = seconds === undefined ? {} : { expiresAt: now() + seconds * 1000 };
    const { key, ...info } = await keys.create({ tenant, scopes, ...(name === undefined ? {} : { name }), ...expiresAt });
    return c.json({ ...showKey(info), key }, 201);
  });

  routes.openapi(list, async (c) => c.json({ items: (await keys.list()).map(showKey) }, 200));

  routes.openapi(revoke, async (c) => {
    await keys.revoke(c.req.valid('param').id);
    return c.body(null, 204);
  });
  return routes;
}

function showKey({ keyId, tenant, name, scopes, createdAt, expiresAt }: KeyInfo): KeyWire {
  return { key_id: keyId, tenant, name, scopes, created_at: showTime(createdAt), expires_at: showMaybeTime(expiresAt) };
}
