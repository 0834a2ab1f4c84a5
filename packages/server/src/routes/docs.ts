/** The description of the API, for programs and for people. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import { Hono } from 'hono';
import { type OpenApiDocument, openApiDocument } from '../docs/openapi.ts';
import { docsPage } from '../docs/page.ts';
import type { Env } from '../server-options.ts';

/** `app`: with all the routes that are described. */
export function docsRoutes(app: OpenAPIHono<Env>): Hono<Env> {
  let document: OpenApiDocument | undefined;
  const made = () => {
    document ??= openApiDocument(app);
    return document;
  };
  return new Hono<Env>()
    .get('/openapi.json', (c) => c.json(made()))
    .get('/docs', (c) => {
      c.header('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'");
      return c.html(docsPage(made()));
    });
}
