/** Finds out who makes a request; without a valid key it goes no further. */
import { FermataError } from '@fermata/protocol';
import type { MiddlewareHandler } from 'hono';
import type { Env } from '../server-options.ts';
import { type Caller, mustHave, SCOPES, type Scope } from './caller.ts';
import { hashOf, type KeyStore, sameText } from './keys.ts';

export const DEVELOPMENT_TENANT = 'default';

/** `developmentKey`: works besides those of the store, for everything of one tenant; `by`: what its requests go by in journals. */
export function authenticate(keys: KeyStore, developmentKey?: string, by = 'development'): MiddlewareHandler<Env> {
  const developmentHash = developmentKey === undefined ? undefined : hashOf(developmentKey);
  const developer: Caller = { tenant: DEVELOPMENT_TENANT, scopes: SCOPES, by };
  return async (c, next) => {
    const [, key] = /^Bearer +(\S+)\s*$/i.exec(c.req.header('authorization') ?? '') ?? [];
    if (key === undefined) throw new FermataError('unauthorized', 'the request has no API key', { hint: 'Send the header `Authorization: Bearer fm_...`.' });
    const isDeveloper = developmentHash !== undefined && sameText(hashOf(key), developmentHash);
    const caller = isDeveloper ? developer : await keys.caller(key);
    if (!caller) throw new FermataError('unauthorized', 'the API key is not known, or has expired', { hint: 'Ask for a new key.' });
    c.set('caller', caller);
    c.set('key', key);
    await next();
  };
}

/** What a route needs: for the check, and for the OpenAPI document. */
export function needs(scope: Scope) {
  const middleware: MiddlewareHandler<Env> = async (c, next) => {
    mustHave(c.get('caller'), scope);
    await next();
  };
  return { middleware, security: [{ apiKey: [scope] }] };
}
