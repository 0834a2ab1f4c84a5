/** The OpenAPI document is valid, says all that there is, and the page of docs needs nothing else. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Listening, listening } from './listening.ts';

let at: Listening;
beforeAll(async () => {
  at = await listening();
});
afterAll(() => at.close());

/** Of API.md; what comes with later parts is not in it. */
const ROUTES = `
POST /execute; GET /status/{id}; POST /pause/{id}; POST /resume/{id}
POST /tasks; GET /tasks; GET /tasks/{id}; DELETE /tasks/{id}; POST /tasks/{id}/control; GET /tasks/{id}/code; GET /tasks/{id}/events; GET /tasks/{id}/log
GET /tasks/{id}/journal; GET /tasks/{id}/state; GET /tasks/{id}/checkpoints; POST /tasks/{id}/checkpoints; POST /tasks/{id}/fork; POST /tasks/{id}/verify
GET /tasks/{id}/calls; POST /tasks/{id}/calls/{call_id}/approve; POST /tasks/{id}/calls/{call_id}/reject; POST /tasks/{id}/calls/{call_id}/result
POST /tasks/{id}/calls/{call_id}/retry; GET /approvals; POST /batches; GET /batches/{id}; POST /batches/{id}/control; GET /sessions; DELETE /sessions/{id}
POST /files; GET /files/{id}; DELETE /files/{id}; GET /tools; POST /tools; DELETE /tools/{name}; GET /policy; PUT /policy; POST /policy/test; POST /check; GET /tool_sources; POST /tool_sources
GET /tool_sources/{name}; DELETE /tool_sources/{name}; GET /images; POST /webhooks; GET /webhooks; DELETE /webhooks/{id}
GET /webhooks/callback_secret; GET /webhooks/deliveries; POST /webhooks/deliveries/{id}/redeliver`;

/** Not under the base path. */
const OUTSIDE = ['POST /v1/chat/completions', 'GET /v1/models', 'GET /healthz', 'GET /readyz', 'POST /mcp', 'GET /mcp', 'DELETE /mcp'];

test('the document is valid OpenAPI 3.1, by a validator that is not ours', async () => {
  const { body, status } = await at.ask('GET', '/openapi.json', { key: null });
  expect(status).toBe(200);
  const validator = new Validator();
  const found = await validator.validate(body);
  expect(found.errors ?? []).toEqual([]);
  expect(found.valid).toBe(true);
  expect(validator.version).toBe('3.1');
});

test('it has every route, and each says what it needs and answers', async () => {
  const ids = Object.values((await at.ask('GET', '/openapi.json')).body.paths as Record<string, Record<string, { operationId: string }>>).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect(ids).toContain('postTasksByIdFork');
  expect(new Set(ids).size).toBe(ids.length);
  const { paths, components } = (await at.ask('GET', '/openapi.json')).body;
  const said = Object.entries(paths as Record<string, Record<string, { summary?: string; security?: unknown[]; responses: object }>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
  );
  const wanted = ROUTES.split(/[;\n]/).filter((line) => line.trim() !== '');
  expect(said.map(({ name }) => name).sort()).toEqual([...wanted.map((line) => line.trim().replace(' /', ' /api/v1/')), ...OUTSIDE].sort());
  for (const { name, operation } of said) {
    expect(operation.summary, name).toBeTruthy();
    expect(operation.security, name).toBeDefined();
    expect(
      Object.keys(operation.responses).some((status) => status.startsWith('2')),
      name,
    ).toBe(true);
  }
  expect(Object.keys(components.schemas)).toEqual(expect.arrayContaining(['Task', 'CreateTask', 'ToolConstraints', 'Call', 'Batch', 'Problem', 'Webhook']));
  expect(components.schemas.ToolConstraints.properties.timeout_seconds).toMatchObject({ minimum: 0.01 });
  expect(paths['/api/v1/tasks'].post.parameters).toEqual([expect.objectContaining({ name: 'idempotency-key', in: 'header' })]);
});

test('the page of docs is whole in itself', async () => {
  const { body, headers } = await at.ask('GET', '/docs', { key: null });
  expect(headers.get('content-type')).toContain('text/html');
  for (const text of ['/api/v1/tasks/{id}/control', 'Idempotency', 'resources_exhausted', 'wait_seconds']) expect(body.toLowerCase()).toContain(text.toLowerCase());
  expect(body).not.toMatch(/<script|https?:\/\/|<link/);
});
