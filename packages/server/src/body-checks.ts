/** Bodies: of the type that a route takes (415), and no larger than the server takes (413). */
import { FermataError } from '@fermata/protocol';
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Env } from './server-options.ts';

const JSON_TYPE = /^application\/([a-z0-9.+-]*\+)?json\s*(;|$)/i;

export function limitBody(maxBytes: number): MiddlewareHandler<Env> {
  return bodyLimit({
    maxSize: maxBytes,
    onError: () => {
      throw new FermataError('body_too_large', `the body is larger than ${maxBytes} bytes`, { hint: 'Send large data as files.' });
    },
  });
}

export const wantJson: MiddlewareHandler<Env> = async (c, next) => {
  const type = c.req.header('content-type');
  const hasBody = c.req.header('transfer-encoding') !== undefined || Number(c.req.header('content-length') ?? 0) > 0;
  if (hasBody && !JSON_TYPE.test(type ?? '')) {
    throw new FermataError('unsupported_media_type', `the body is ${type ?? 'of no type'}, and JSON is wanted`, { hint: 'Send the header `Content-Type: application/json`.' });
  }
  await next();
};
