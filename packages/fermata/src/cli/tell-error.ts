/** An error that ended a command: told on stderr, or as JSON on stdout, and turned into an exit code. */
import { FermataApiError } from '@fermata/client';
import { ERROR_CODES, type ErrorCode, FermataError } from '@fermata/protocol';
import { hintOf } from '../hints.ts';
import { EXIT, exitCodeOfError } from './exit-code.ts';

/** Returns the exit code. */
export function tellError(error: unknown, json: boolean): number {
  const { code, message, hint, exitCode } = error instanceof FermataApiError ? ofServer(error) : ours(error);
  if (json) process.stdout.write(`${JSON.stringify({ error: { code, message, ...(hint ? { hint } : {}) } })}\n`);
  else process.stderr.write(`fermata: ${message}\n${hint ? `hint: ${hint}\n` : ''}`);
  return exitCode;
}

function ours(error: unknown) {
  const told = error instanceof FermataError ? error : new FermataError('internal', error instanceof Error ? error.message : String(error));
  const { code, message } = told;
  return { code, message, hint: hintOf(told, 'cli') ?? told.hint, exitCode: exitCodeOfError(code) };
}

function ofServer({ code, message, hint, status }: FermataApiError) {
  const known = code in ERROR_CODES;
  return { code, message, hint, exitCode: known ? exitCodeOfError(code as ErrorCode) : status > 0 && status < 500 ? EXIT.usage : EXIT.unavailable };
}
