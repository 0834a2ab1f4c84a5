/** The one outcome that a hostile program has here, and why it is this one. */
import type { ErrorCode } from '@fermata/protocol';
import type { Expectations } from '../player/case-bank.ts';

export interface Outcome {
  why: string;
  exact: Expectations;
  /** Expectations of the bank that no product can meet as they are written. */
  without: string[];
}

/** The player's word for the status of a task that failed with this code. */
const STATUSES: Partial<Record<ErrorCode, string>> = {
  timeout: 'timeout',
  library_not_allowed: 'blocked',
  cpu_limit: 'limit',
  memory_limit: 'limit',
  disk_limit: 'limit',
  output_limit: 'limit',
  tool_call_limit: 'limit',
};

export function succeeds(why: string, more: Expectations = {}, without: string[] = []): Outcome {
  return { why, exact: { status: 'completed', code: null, ...more }, without };
}

export function fails(code: ErrorCode, why: string, more: Expectations = {}, without: string[] = []): Outcome {
  return { why, exact: { status: STATUSES[code] ?? 'failed', code, ...more }, without };
}

/** The program waits for somebody, and for nothing else. */
export function waits(why: string, more: Expectations = {}, without: string[] = []): Outcome {
  return { why, exact: { status: 'paused', code: null, ...more }, without };
}
