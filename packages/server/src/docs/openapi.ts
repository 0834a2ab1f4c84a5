/** The OpenAPI document: made from the schemas that check the requests. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Env } from '../server-options.ts';

export type OpenApiDocument = ReturnType<OpenAPIHono<Env>['getOpenAPI31Document']>;

export function openApiDocument(app: OpenAPIHono<Env>): OpenApiDocument {
  app.openAPIRegistry.registerComponent('securitySchemes', 'apiKey', { type: 'http', scheme: 'bearer', bearerFormat: 'fm_...', description: 'An API key' });
  return app.getOpenAPI31Document({
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
}
