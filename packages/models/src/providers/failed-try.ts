/** What a failed try was, in one form whatever has failed: whether it is worth another one, when, and how it is told. */
import { APICallError, JSONParseError, TypeValidationError } from 'ai';
import { BrokenReply } from './one-try.ts';

export interface FailedTry {
  /** Of a provider that refused the request; absent where none was reached, or its reply was no good. */
  status?: number;
  /** What the provider said, or what has failed. */
  said: string;
  again: boolean;
  /** How long the provider wants nothing to be asked. */
  waitMs?: number;
}

/** Errors that come within a stream have some of these properties too, and need not be Errors. */
type Told = Partial<Pick<APICallError, 'statusCode' | 'isRetryable' | 'message' | 'data' | 'responseBody' | 'responseHeaders'>>;

export function failedTry(error: unknown): FailedTry {
  const { statusCode, isRetryable, message = String(error), data, responseBody, responseHeaders = {} } = (typeof error === 'object' && error !== null ? error : {}) as Told;
  if (statusCode === undefined || statusCode < 400) return { said: reasonOf(error, message), again: isRetryable !== false || isHalf(error) };
  const waitMs = waitOf(responseHeaders);
  // A quota that is used up is told as a limit of the rate too; waiting changes nothing there.
  const again = isRetryable === true && !/insufficient_quota/.test(responseBody ?? '');
  // What is not in the provider's form is told as it is.
  const said = data === undefined && responseBody ? responseBody : message;
  return { status: statusCode, said, again, ...(waitMs === undefined ? {} : { waitMs }) };
}

function reasonOf(error: unknown, message: string): string {
  if (error instanceof BrokenReply) return message;
  for (let at = error; at instanceof Error; at = at.cause) {
    if (JSONParseError.isInstance(at) || TypeValidationError.isInstance(at)) return 'its reply does not have the form of its protocol';
  }
  return isHalf(error) ? 'the reply broke off' : message;
}

/** The answer had begun well. */
function isHalf(error: unknown): boolean {
  return APICallError.isInstance(error) && error.statusCode !== undefined && error.statusCode < 400;
}

function waitOf(headers: Record<string, string>): number | undefined {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (ms >= 0) return ms;
  const after = headers['retry-after'];
  if (after === undefined || after.trim() === '') return undefined;
  const seconds = Number(after);
  const wait = Number.isNaN(seconds) ? Date.parse(after) - Date.now() : seconds * 1000;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}
