/** Exit codes of the command line, stable. */
import type { ErrorCode } from '@fermata/protocol';
import { ERROR_CODES } from '@fermata/protocol';
import type { TaskResult } from '../task-result.ts';

export const EXIT = { ok: 0, failed: 1, usage: 2, unavailable: 3, waiting: 4 } as const;

export function exitCodeOf({ status }: TaskResult): number {
  if (status === 'succeeded') return EXIT.ok;
  return status === 'paused' || status === 'waiting' ? EXIT.waiting : EXIT.failed;
}

export function exitCodeOfError(code: ErrorCode): number {
  if (ERROR_CODES[code].class === 'request') return EXIT.usage;
  return ERROR_CODES[code].class === 'system' ? EXIT.unavailable : EXIT.failed;
}
