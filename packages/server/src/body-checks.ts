/** Bodies: of the type that a route takes (415), and no larger than the server takes (413). */
import { FermataError, jsonFault } from '@fermata/protocol';
import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
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

/** A fault of the framework, which says no more than that a body is not JSON, with the place at which it is not. */
export async function withPlace(error: HTTPException, c: Context): Promise<HTTPException> {
  const fault = error.status === 400 && JSON_TYPE.test(c.req.header('content-type') ?? '') ? jsonFault(await c.req.text()) : undefined;
  if (!fault) return error;
  const { line, column, found } = fault;
  const cause = new FermataError('invalid_request', `the body is not JSON: line ${line}, column ${column}: unexpected ${found}`, {
    hint: 'Names and texts are in double quotes, and no comma follows the last item.',
    line,
    column,
  });
  return new HTTPException(400, { message: cause.message, cause });
}
