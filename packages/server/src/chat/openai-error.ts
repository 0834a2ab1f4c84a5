/** Errors as OpenAI's clients expect them: `{ error: { message, type, param, code } }`, with the status that these go with. */
import { type ErrorCode, FermataError } from '@fermata/protocol';
import { HTTPException } from 'hono/http-exception';
import { z } from 'zod';
import { problemOf } from '../problem.ts';

export const openaiErrorSchema = z
  .object({ error: z.object({ message: z.string(), type: z.string(), param: z.string().nullable(), code: z.string().nullable() }) })
  .meta({ id: 'OpenAIError' });
export type OpenAIErrorWire = z.output<typeof openaiErrorSchema>;

export interface RefusalOptions {
  status?: number;
  /** The part of the request that it is about. */
  param?: string;
  /** As `task_waiting`; clients may act on it. */
  code?: string;
  cause?: unknown;
}

/** Something of this protocol alone that cannot be done. */
export class ChatRefusal extends FermataError {
  readonly status: number;
  readonly param: string | null;
  readonly reason: string;
  constructor(message: string, { status = 400, param, code = 'invalid_request', cause }: RefusalOptions = {}) {
    super(status === 409 ? 'invalid_state' : 'invalid_request', message, { cause });
    this.status = status;
    this.param = param ?? null;
    this.reason = code;
  }
}

/** Names that these clients know for codes of ours. */
const CODES: Partial<Record<ErrorCode, string>> = { unauthorized: 'invalid_api_key', forbidden: 'insufficient_permissions', resources_exhausted: 'rate_limit_exceeded' };
const RETRY_AFTER_SECONDS = 5;

export function openaiError(error: unknown): { status: number; body: OpenAIErrorWire } {
  if (error instanceof ChatRefusal) {
    return { status: error.status, body: { error: { message: error.message, type: typeOf(error.status), param: error.param, code: error.reason } } };
  }
  const { status: told, code, detail, hint } = problemOf(error);
  // These clients know no 422, and a fault of the model is not theirs.
  const status = code === 'model_error' ? 502 : told === 422 ? 400 : told;
  return { status, body: { error: { message: hint ? `${detail}. ${hint}` : detail, type: typeOf(status), param: null, code: CODES[code as ErrorCode] ?? code } } };
}

export function openaiErrorResponse(error: unknown): Response {
  const { status, body } = openaiError(error);
  const headers: Record<string, string> = { 'content-type': 'application/json', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  if (status === 429 || status === 503) headers['retry-after'] = String(RETRY_AFTER_SECONDS);
  // Official clients repeat a 409 or a 500 by themselves, which helps nothing here.
  else headers['x-should-retry'] = 'false';
  return new Response(JSON.stringify(body), { status, headers });
}

/** Whether the server's own log is to have it. */
export function isOurFault(error: unknown): boolean {
  if (error instanceof HTTPException) return error.status >= 500;
  return !(error instanceof FermataError && error.code !== 'internal');
}

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
