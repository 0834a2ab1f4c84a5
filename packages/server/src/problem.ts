/** Errors as answers: RFC 9457 problem details, one status for each code. What is our fault is told without its insides. */
import { ERROR_CODES, type ErrorCode, FermataError, QuotaExceeded } from '@fermata/protocol';
import type { ProblemWire } from '@fermata/protocol/wire';
import { HTTPException } from 'hono/http-exception';

const STATUS: Partial<Record<ErrorCode, number>> = {
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  invalid_state: 409,
  outcome_unknown: 409,
  checkpoint_invalid: 409,
  checkpoint_too_large: 409,
  environment_mismatch: 409,
  tools_missing: 409,
  replay_diverged: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  source_failed: 502,
  sandbox_unavailable: 422,
  model_error: 422,
  resources_exhausted: 503,
  checkpoint_failed: 503,
  store_failed: 503,
  store_locked: 503,
  sandbox_lost: 503,
  internal: 500,
};
/** Of errors that the framework throws. */
const BY_STATUS: Partial<Record<number, ErrorCode>> = { 413: 'body_too_large', 415: 'unsupported_media_type' };
const RETRY_AFTER_SECONDS = 5;

export function statusOf(error: FermataError): number {
  if (error instanceof QuotaExceeded) return 429;
  return STATUS[error.code] ?? 422;
}

export function problemOf(error: unknown, instance?: string): ProblemWire {
  const at = instance === undefined ? {} : { instance };
  if (error instanceof FermataError && error.code !== 'internal') return { ...problem(error.code, statusOf(error), error.message), ...placeIn(error), ...at };
  if (error instanceof HTTPException && error.cause instanceof FermataError)
    return { ...problem(error.cause.code, error.status, error.cause.message), ...placeIn(error.cause), ...at };
  if (error instanceof HTTPException && error.status < 500) {
    return { ...problem(BY_STATUS[error.status] ?? 'invalid_request', error.status, error.message || 'the request cannot be read'), ...at };
  }
  return { ...problem('internal', 500, 'something went wrong here; the log of the server has more'), ...at };
}

export function problemResponse(error: unknown, instance?: string): Response {
  const body = problemOf(error, instance);
  const headers: Record<string, string> = { 'content-type': 'application/problem+json', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
  if (body.status === 401) headers['www-authenticate'] = 'Bearer';
  if (body.status === 503 || body.status === 429) headers['retry-after'] = String(RETRY_AFTER_SECONDS);
  return new Response(JSON.stringify(body), { status: body.status, headers });
}

function placeIn({ hint, line, column }: FermataError): Pick<ProblemWire, 'hint' | 'line' | 'column'> {
  return { ...(hint === undefined ? {} : { hint }), ...(line === undefined ? {} : { line }), ...(column === undefined ? {} : { column }) };
}

function problem(code: ErrorCode, status: number, detail: string): ProblemWire {
  return { type: `/docs#${code}`, title: ERROR_CODES[code].text, status, detail, code };
}
