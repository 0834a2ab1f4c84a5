/** What an uncaught exception of a program is to others: a failure of its own, or a limit that it has met. */
import type { GuestError, LimitKind, Limits } from '@fermata/protocol';

/** What the machine has refused its guest. */
export interface Refusals {
  memory: number;
  disk: number;
}

/** An uncaught exception that is the guest's view of a limit is reported as that limit. */
export function failureOf(
  error: GuestError,
  { maxMemoryBytes, maxDiskBytes }: Limits,
  refused: Refusals,
): { kind: 'failed'; error: GuestError } | { kind: 'limit'; limit: LimitKind; message: string; error: GuestError } {
  if (isOutOfMemory(error, refused)) return { kind: 'limit', limit: 'memory', message: `the program needed more than ${maxMemoryBytes} bytes of memory`, error };
  const isFull = /No space left|ENOSPC/.test(error.message) && refused.disk > 0;
  if (isFull) return { kind: 'limit', limit: 'disk', message: `the program wrote more than ${maxDiskBytes} bytes to files`, error };
  return { kind: 'failed', error };
}

/** CPython raises a MemoryError without a message, also for a size that it refuses by itself; a program gives one. */
function isOutOfMemory({ name, message }: GuestError, refused: Refusals): boolean {
  if (name === 'MemoryError') return message === '';
  return name === 'InternalError' && message === 'out of memory' && refused.memory > 0;
}
