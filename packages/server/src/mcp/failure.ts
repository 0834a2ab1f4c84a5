/**
 * Errors as results of tools: a model reads what is wrong, where, and what to do about it. Whoever reads results by program finds
 * the same under {@link ERROR_KEY} in `_meta`; the structured content stays that of the output schema.
 */
import { FermataApiError } from '@fermata/client';
import { FermataError } from '@fermata/protocol';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

export const ERROR_KEY = 'fermata/error';

export interface Failure {
  code: string;
  message: string;
  line?: number;
  column?: number;
  hint?: string;
}

/** What is known of an error; a fault of ours is told without its insides. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof FermataApiError || error instanceof FermataError) || error.code === 'internal') {
    return { code: 'internal', message: 'something went wrong in Fermata itself; its log has more' };
  }
  const { code, message, line, column, hint } = error;
  return { code, message, ...(line === undefined ? {} : { line }), ...(column === undefined ? {} : { column }), ...(hint === undefined ? {} : { hint: inToolWords(hint) }) };
}

export function failedResult(failure: Failure): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: failureText(failure) }], _meta: { [ERROR_KEY]: failure } };
}

export function failureText({ code, message, line, column, hint }: Failure): string {
  const place = line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`;
  return `${code}: ${message}${place}${hint === undefined ? '' : `\nhint: ${hint}`}`;
}

/** Hints name routes where the caller has tools. */
function inToolWords(hint: string): string {
  return hint.replace('POST /files', 'upload_file');
}
