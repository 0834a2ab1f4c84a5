/** A group of routes; what does not fit their schemas is an `invalid_request`. Parts that the descriptions of routes share. */

import { misfit } from '@fermata/protocol';
import { problemSchema } from '@fermata/protocol/wire';
import { OpenAPIHono } from '@hono/zod-openapi';
import { z } from 'zod';
import type { Env } from './server-options.ts';

export function newRoutes(): OpenAPIHono<Env> {
  return new OpenAPIHono<Env>({
    defaultHook: (result) => {
      if (!result.success) throw misfit(result.error.issues);
    },
  });
}

/** An answer in JSON. */
export function json<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: { 'application/json': { schema } } };
}

export function body<S extends z.ZodType>(schema: S, required = true) {
  return { content: { 'application/json': { schema } }, required };
}

const problem = { 'application/problem+json': { schema: problemSchema } };

/** Answers that are errors, by status. */
export function problems(...statuses: (404 | 409 | 413 | 415 | 422 | 429 | 502 | 503)[]) {
  const all = [401, 403, ...statuses].map((status) => [status, { description: TEXTS[status] ?? '', content: problem }]);
  return Object.fromEntries(all) as Record<never, never>;
}

const TEXTS: Record<number, string> = {
  401: 'No valid key',
  403: 'The key lacks the scope',
  404: 'There is no such thing',
  409: 'It is not in a state for this, or was decided otherwise',
  413: 'The body is too large',
  415: 'The body is of another type',
  422: 'The request does not have the documented form',
  429: 'The tenant has too many open requests',
  502: 'What was named does not answer as it should',
  503: 'Not now; Retry-After says when',
};

export const taskParams = z.object({ id: z.string().meta({ description: 'Id of the task' }) });
export const idParams = z.object({ id: z.string() });
export const callParams = z.object({ id: z.string().meta({ description: 'Id of the task' }), call_id: z.string() });
/** Header of every POST that creates. */
export const idempotencyHeaders = z.object({
  'idempotency-key': z.string().min(1).max(256).optional().meta({ description: 'A repeat with the same key and body makes nothing new' }),
});
