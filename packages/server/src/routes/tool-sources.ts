/** Tool sources of a tenant: MCP servers and OpenAPI documents. */
import { FermataError } from '@fermata/protocol';
import { createToolSourceSchema, toolSourceSchema, toolSourcesSchema } from '@fermata/protocol/wire';
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import { needs } from '../auth/authenticate.ts';
import { body, idempotencyHeaders, json, newRoutes, problems } from '../new-routes.ts';
import type { ServerContext } from '../server-options.ts';
import { showSource, showWholeSource } from '../show/parts.ts';

const tags = ['Tools'];
const params = z.object({ name: z.string() });

const list = createRoute({
  method: 'get',
  path: '/tool_sources',
  tags,
  summary: 'Tool sources, and how they are',
  ...needs('read'),
  responses: { 200: json(toolSourcesSchema, 'By name'), ...problems() },
});
const get = createRoute({
  method: 'get',
  path: '/tool_sources/{name}',
  tags,
  summary: 'A tool source, with the names of its tools',
  ...needs('read'),
  request: { params },
  responses: { 200: json(toolSourceSchema, 'As it is now'), ...problems(404) },
});
const add = createRoute({
  method: 'post',
  path: '/tool_sources',
  tags,
  summary: 'Add a tool source',
  description: '`mcp`: a server, by its address. `openapi`: a document, each of whose operations is a tool. The source is reached first: one that cannot be is not added.',
  ...needs('admin'),
  request: { body: body(createToolSourceSchema), headers: idempotencyHeaders },
  responses: { 201: json(toolSourceSchema, 'Added'), ...problems(409, 415, 422, 502) },
});
const remove = createRoute({
  method: 'delete',
  path: '/tool_sources/{name}',
  tags,
  summary: 'Remove a tool source, and its tools',
  ...needs('admin'),
  request: { params },
  responses: { 204: { description: 'Removed' }, ...problems(404, 409) },
});

export function toolSourceRoutes(server: ServerContext) {
  const { tools } = server;
  const routes = newRoutes();

  routes.openapi(list, async (c) => c.json({ items: (await tools.sources(c.get('caller').tenant)).map(showSource) }, 200));

  routes.openapi(get, async (c) => {
    const { name } = c.req.valid('param');
    const source = await tools.source(c.get('caller').tenant, name);
    if (!source) throw new FermataError('not_found', `there is no tool source ${JSON.stringify(name)}`);
    return c.json(showWholeSource(source), 200);
  });

  routes.openapi(add, async (c) => {
    const { tenant } = c.get('caller');
    const spec = c.req.valid('json');
    const claim = await server.idempotency.claim(tenant, c.req.valid('header')['idempotency-key'], '/tool_sources', spec);
    const before = claim?.repeat ? await tools.source(tenant, spec.name) : undefined;
    return c.json(showWholeSource(before ?? (await tools.addSource(tenant, spec))), 201);
  });

  routes.openapi(remove, async (c) => {
    await tools.removeSource(c.get('caller').tenant, c.req.valid('param').name);
    return c.body(null, 204);
  });
  return routes;
}
