/** The OpenAPI document: made from the schemas that check the requests. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Env } from '../server-options.ts';

export type OpenApiDocument = ReturnType<OpenAPIHono<Env>['getOpenAPI31Document']>;

export function openApiDocument(app: OpenAPIHono<Env>): OpenApiDocument {
  app.openAPIRegistry.registerComponent('securitySchemes', 'apiKey', { type: 'http', scheme: 'bearer', bearerFormat: 'fm_...', description: 'An API key' });
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Fermata',
      version: '1',
      license: { name: 'Apache-2.0' },
      description: 'Durable tasks that run in WebAssembly machines: start, pause, look into, answer, fork and resume them.',
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
  });
  for (const [path, methods] of Object.entries(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(methods as Record<string, { operationId?: string }>)) operation.operationId = nameOf(method, path);
  }
  return document;
}

/** For code that is generated from the document: `POST /api/v1/tasks/{id}/fork` is `postTasksByIdFork`. */
function nameOf(method: string, path: string): string {
  const words = path
    .replace(/^\/api\/v1/, '')
    .replace(/\{(\w+)\}/g, 'by_$1')
    .split(/[/_]/);
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}
