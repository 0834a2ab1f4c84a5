/** Files: put in by callers for their tasks, or left by tasks for their callers. */

import { FermataError } from '@fermata/protocol';
import { fileQuerySchema, type StoredFileWire, storedFileSchema } from '@fermata/protocol/wire';
import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { needs } from '../auth/authenticate.ts';
import { idempotencyHeaders, idParams, json, newRoutes, problems } from '../new-routes.ts';
import type { Env, ServerContext } from '../server-options.ts';
import { fileNamed } from '../task-files.ts';

const bytes = z.any().openapi({ type: 'string', format: 'binary' });

const upload = createRoute({
  method: 'post',
  path: '/files',
  tags: ['Files'],
  summary: 'Store a file',
  description: 'Either a form with the field `file`, or the file itself as the body, with its name as `?name=`.',
  ...needs('run'),
  request: {
    query: fileQuerySchema,
    headers: idempotencyHeaders,
  },
  responses: { 201: json(storedFileSchema, 'Stored'), ...problems(409, 413, 415, 422, 503) },
});
/** What the body is, for the description only: a check by these types would refuse files of any other. */
const uploadBody = { required: false, content: { 'application/octet-stream': { schema: bytes }, 'multipart/form-data': { schema: z.object({ file: bytes }) } } };

const get = createRoute({
  method: 'get',
  path: '/files/{id}',
  tags: ['Files'],
  summary: 'The bytes of a file',
  ...needs('read'),
  request: { params: idParams },
  responses: { 200: { description: 'The file', content: { 'application/octet-stream': { schema: bytes } } }, ...problems(404) },
});

const remove = createRoute({
  method: 'delete',
  path: '/files/{id}',
  tags: ['Files'],
  summary: 'Remove a file that was put in',
  description: 'What a task has left goes with the task.',
  ...needs('run'),
  request: { params: idParams },
  responses: { 204: { description: 'Gone' }, ...problems(404) },
});

export function fileRoutes(server: ServerContext) {
  const { engine } = server;
  const routes = newRoutes();

  routes.openAPIRegistry.registerPath({ ...upload, request: { ...upload.request, body: uploadBody } });
  routes.openapi({ ...upload, hide: true }, async (c) => {
    const { tenant } = c.get('caller');
    const { name, data } = await uploaded(c, c.req.valid('query').name);
    const claim = await server.idempotency.claim(tenant, c.req.valid('header')['idempotency-key'], `/files?${name}`, data);
    if (claim?.result) return c.json(claim.result as StoredFileWire, 201);
    const { fileId, bytes: size } = await engine.putFile(tenant, name, data);
    const stored = { file_id: fileId, name, bytes: size };
    await claim?.settle(stored);
    return c.json(stored, 201);
  });

  routes.openapi(get, async (c) => {
    const { id } = c.req.valid('param');
    const file = await fileNamed(server, c.get('caller').tenant, id);
    if (!file) throw new FermataError('not_found', `there is no file ${id}`);
    c.header(
      'Content-Disposition',
      `attachment; filename*=UTF-8''${encodeURIComponent(file.name).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)}`,
    );
    c.header('Content-Type', 'application/octet-stream');
    return c.body(new Uint8Array(file.data), 200) as never;
  });
  routes.openapi(remove, async (c) => {
    await engine.dropFile(c.get('caller').tenant, c.req.valid('param').id);
    return c.body(null, 204);
  });
  return routes;
}

async function uploaded(c: Context<Env>, name: string | undefined): Promise<{ name: string; data: Uint8Array }> {
  if (!/^multipart\/form-data\b/i.test(c.req.header('content-type') ?? '')) {
    return { name: name ?? 'file', data: new Uint8Array(await c.req.arrayBuffer()) };
  }
  let form: FormData;
  try {
    form = await c.req.formData();
  } catch {
    throw new FermataError('invalid_request', 'the form cannot be read');
  }
  const file = form.get('file');
  if (!(file instanceof File)) throw new FermataError('invalid_request', 'the form has no file in the field "file"');
  return { name: name ?? (file.name || 'file'), data: new Uint8Array(await file.arrayBuffer()) };
}
