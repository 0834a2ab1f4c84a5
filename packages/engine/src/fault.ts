/** Errors that end a task, as values. */
import { FermataError, type GuestError, LIMITS, type LimitKind, type TaskFault } from '@fermata/protocol';
import type { LiveTask } from './live-task.ts';

/** What refused a call names the error that the program is thrown. */
const CODES_OF_REFUSALS: Record<string, string> = {
  InvalidArguments: 'invalid_arguments',
  UnknownTool: 'unknown_tool',
  PolicyViolation: 'policy_violation',
  ApprovalRejected: 'approval_rejected',
  ApprovalExpired: 'approval_rejected',
};

/** `live`: whose calls may have been what failed. */
export function guestFault(error: GuestError, live: LiveTask): TaskFault {
  const fault = plainFault(error);
  return fault.code === 'tool_error' ? { ...fault, code: codeOfToolError(error.message, live) ?? 'tool_error' } : fault;
}

function plainFault({ name, message, traceback, line, column, kind }: GuestError): TaskFault {
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
export function limitFault(limit: LimitKind, message: string, error?: GuestError): TaskFault {
  return { ...(error ? plainFault(error) : {}), code: LIMITS[limit].code, message };
}

/** Of a machine that broke down, or of us. */
export function systemFault(error: unknown): TaskFault {
  if (!(error instanceof FermataError)) return { code: 'internal', message: error instanceof Error ? error.message : String(error) };
  return { code: error.code, message: error.message, ...(error.hint ? { hint: error.hint } : {}) };
}

function codeOfToolError(message: string, live: LiveTask): string | undefined {
  for (const { result } of live.calls().reverse()) {
    if (!result) continue;
    const { error } = JSON.parse(result) as { error?: { name: string; message: string } };
    if (error && message.endsWith(error.message)) return CODES_OF_REFUSALS[error.name];
  }
  return undefined;
}
