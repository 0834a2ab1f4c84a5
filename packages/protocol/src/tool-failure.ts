/** What tools tell on the way, and what their failures mean for whoever decides what to do about one. */
import type { ToolFailure } from './machine.ts';

/** How far the call of a tool is: so much, of `total` where that is known. */
export interface CallProgress {
  progress: number;
  total?: number;
  message?: string;
}

/** The call itself was wrong: the same call will not be right the next time, and the tool is not to blame. */
export function isCallersFault({ name, data }: ToolFailure): boolean {
  const status = name === 'HttpError' ? (data as { status?: unknown } | undefined)?.status : undefined;
  return name === 'InvalidArguments' || (typeof status === 'number' && status >= 400 && status < 500 && status !== 408 && status !== 429);
}

/** Whether to try once more may help: not where the call is wrong, was given up, or was not made. */
export function isWorthRetrying(failure: ToolFailure): boolean {
  return !isCallersFault(failure) && failure.name !== 'Aborted' && failure.name !== 'CircuitOpen';
}
