/** Requests of tools to HTTP services, and what comes back as a value or an error of the program. */
import type { Value } from '@fermata/protocol';
import { ToolError } from '../tool.ts';
import type { AddressGuard } from './address-guard.ts';
import { type GuardedRequest, type GuardedResponse, guardedRequest, RequestError, type RequestFault } from './guarded-request.ts';

const MAX_REDIRECTS = 3;
/** Characters of a body that an error tells. */
const TOLD = 4000;
const FAULTS: Record<RequestFault, string> = {
  address_refused: 'AddressRefused',
  timeout: 'Timeout',
  too_large: 'ResponseTooLarge',
  aborted: 'Aborted',
  network: 'NetworkError',
};

/** The answer; a redirect is followed on the same host only, and only for reading. Throws {@link ToolError}. */
export async function askService(label: string, request: GuardedRequest, guard: AddressGuard): Promise<GuardedResponse> {
  try {
    return await follow(request, guard);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    throw new ToolError(`${label}: ${error.message}`, { name: FAULTS[error.fault] });
  }
}

/** JSON, text, bytes or null. Throws {@link ToolError} `HttpError` with status and body where the service did not succeed. */
export function valueOfAnswer(label: string, { status, headers, body }: GuardedResponse): Value {
  const text = () => body.toString('utf8');
  const failed = (what: string) => new ToolError(`${label}: the service answered ${what}`, { name: 'HttpError', data: { status, body: text().slice(0, TOLD) } });
  const type = headers['content-type'] ?? '';
  if (status < 200 || status > 299) throw failed(String(status));
  if (body.length === 0) return null;
  if (/^application\/([^;]*\+)?json\b/i.test(type)) {
    try {
      return JSON.parse(text()) as Value;
    } catch {
      throw failed('with JSON that cannot be read');
    }
  }
  return /^(text\/|application\/(xml|javascript|x-www-form-urlencoded))/i.test(type) || type === '' ? text() : new Uint8Array(body);
}

async function follow(request: GuardedRequest, guard: AddressGuard): Promise<GuardedResponse> {
  let url = new URL(request.url);
  for (let redirects = 0; ; redirects++) {
    const response = await guardedRequest({ ...request, url: url.href }, guard);
    const location = response.headers.location;
    if (![301, 302, 303, 307, 308].includes(response.status) || location === undefined) return response;
    const next = URL.parse(location, url.href);
    if (request.method !== 'GET' && request.method !== 'HEAD') throw new RequestError('address_refused', 'the answer is a redirect, which is followed for GET only');
    if (next?.origin !== url.origin) throw new RequestError('address_refused', 'the answer is a redirect to another host, which is not followed');
    if (redirects >= MAX_REDIRECTS) throw new RequestError('address_refused', `more than ${MAX_REDIRECTS} redirects`);
    url = next;
  }
}
