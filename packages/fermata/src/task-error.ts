/** Errors that end a task, as values. */
import { FermataError, type GuestError, LIMITS, type LimitKind } from '@fermata/protocol';
import type { TaskError } from './task-result.ts';

export function guestError({ name, message, traceback, line, column, kind }: GuestError): TaskError {
  return {
    code: kind ?? 'guest_error',
    name,
    message: message ? `${name}: ${message}` : name,
    traceback,
    ...(line === null ? {} : { line }),
    ...(column === null ? {} : { column }),
  };
}

/** `error`: where the program met the limit as an exception. */
export function limitError(limit: LimitKind, message: string, error?: GuestError): TaskError {
  return { ...(error ? guestError(error) : {}), code: LIMITS[limit].code, message };
}

/** Of a machine that broke down; anything but a {@link FermataError} is thrown on. */
export function systemError(error: unknown): TaskError {
  if (!(error instanceof FermataError)) throw error;
  return { code: error.code, message: error.message, ...(error.hint ? { hint: error.hint } : {}) };
}
