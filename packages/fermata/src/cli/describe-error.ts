/** An error of a program as text: its traceback, code, place and hint. */
import type { TaskError } from '../task-result.ts';

/** The message stands in the traceback, where there is one. */
export function describeError({ code, message, traceback = '', line, column, hint }: TaskError): string {
  const place = line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`;
  const what = traceback.includes(message) ? '' : `: ${message}`;
  return [...(traceback ? [traceback.trimEnd()] : []), `failed: ${code}${what}${place}`, ...(hint ? [`hint: ${hint}`] : [])].join('\n');
}
