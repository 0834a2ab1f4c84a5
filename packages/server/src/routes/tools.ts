/** Tools of a tenant, and the images that programs run on. */

import { createToolSchema, imagesSchema, toolSchema, toolsQuerySchema, toolsSchema } from '@fermata/protocol/wire';
import { pythonStubs, typescriptStubs } from '@fermata/tools/registry';
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import { needs } from '../auth/authenticate.ts';
import { body, idempotencyHeaders, json, newRoutes, problems } from '../new-routes.ts';
import type { ServerContext } from '../server-options.ts';
import { showTool } from '../show/parts.ts';

const tags = ['Tools'];

const list = createRoute({
  method: 'get',
  path: '/tools',
  tags,
  summary: 'Tools, with stubs for programs if asked for',
  ...needs('read'),
  request: { query: toolsQuerySchema },
  responses: { 200: json(toolsSchema, 'By name'), ...problems(422) },
});
const add = createRoute({
  method: 'post',
  path: '/tools',
  tags,
  summary: 'Register a tool',
  description: '`http`: an endpoint. `client`: whoever uses the API carries out the calls. `code`: source that runs in a sandbox of its own.',
  ...needs('admin'),
  request: { body: body(createToolSchema), headers: idempotencyHeaders },
  responses: { 201: json(toolSchema, 'Registered'), ...problems(409, 415, 422) },
});
const remove = createRoute({
  method: 'delete',
  path: '/tools/{name}',
  tags,
  summary: 'Remove a tool',
  ...needs('admin'),
  request: { params: z.object({ name: z.string() }) },
  responses: { 204: { description: 'Removed' }, ...problems(404, 409) },
});
const images = createRoute({
  method: 'get',
  path: '/images',
  tags,
  summary: 'Languages, versions and libraries of each image',
  ...needs('read'),
  responses: { 200: json(imagesSchema, 'All of them'), ...problems() },
});

export function toolRoutes(server: ServerContext) {
  const { tools } = server;
  const routes = newRoutes();

  routes.openapi(list, async (c) => {
    const all = await tools.list(c.get('caller').tenant);
    const { stubs } = c.req.valid('query');
    const made = all.map(({ tool }) => tool);
    return c.json({ items: all.map(showTool), ...(stubs ? { stubs: stubs === 'python' ? pythonStubs(made) : typescriptStubs(made) } : {}) }, 200);
  });

  routes.openapi(add, async (c) => {
    const { tenant } = c.get('caller');
    const spec = c.req.valid('json');
    const claim = await server.idempotency.claim(tenant, c.req.valid('header')['idempotency-key'], '/tools', spec);
    const before = claim?.repeat ? await tools.lookup(tenant, spec.name) : undefined;
    return c.json(showTool(before ?? (await tools.add(tenant, spec))), 201);
  });

  routes.openapi(remove, async (c) => {
    await tools.remove(c.get('caller').tenant, c.req.valid('param').name);
    return c.body(null, 204);
  });

  routes.openapi(images, async (c) => c.json({ items: await server.images() }, 200));
  return routes;
}
