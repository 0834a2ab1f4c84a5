/** What a model's program came to, as its agent takes it: a text for the model, and the facts for the app. */
import { toWire } from '@fermata/protocol';
import type { EndedResult, TaskError, TaskResult, WaitingFor } from '../task-result.ts';

/** A call that somebody must settle. Its arguments are JSON; what JSON lacks stands in them as docs/values.md says. */
export interface WaitingCall {
  callId: number;
  tool: string;
  arguments: Record<string, unknown>;
  /** `approval`: somebody must agree. `client_tool`: somebody must carry it out. `outcome_unknown`: somebody must say what came of it. */
  kind: WaitingFor['kind'];
}

export type CodeOutcome =
  | { status: 'succeeded'; text: string /** The program's result as JSON. */; output: unknown }
  | { status: 'failed'; text: string; error: TaskError }
  | { status: 'waiting'; text: string; taskId: string; waitingFor: WaitingCall[] /** The program where it stands, sealed, in base64. */; state: string };

/** Calls that are told of after a failure. */
const MOST_CALLS = 30;

/** `maxChars`: of the whole text. */
export function endedOutcome(result: EndedResult, maxChars: number): CodeOutcome {
  if (result.status === 'succeeded') {
    const output = result.output === undefined ? null : toWire(result.output);
    const printed = section('It printed', result.stdout + result.stderr);
    const shown = typeof output === 'string' ? output : JSON.stringify(output);
    return { status: 'succeeded', output, text: cut(printed && output === null ? printed : [shown, printed].filter(Boolean).join('\n\n'), maxChars) };
  }
  const error: TaskError = result.error ?? { code: 'internal', message: 'the program was cancelled' };
  const text = [
    errorText(error),
    section('Calls that it made, with what came of them; those that are ok have taken effect, do not repeat them', callsText(result)),
    section('It printed', result.stdout),
  ];
  return { status: 'failed', error, text: cut(text.filter(Boolean).join('\n\n'), maxChars) };
}

export function waitingOutcome(result: Pick<TaskResult, 'taskId' | 'waitingFor'>, state: string): CodeOutcome {
  const waitingFor = result.waitingFor.map(({ callId, tool, arguments: args, kind }) => ({ callId, tool, arguments: toWire(args) as Record<string, unknown>, kind }));
  const calls = waitingFor.map(
    ({ tool, arguments: args, kind }) => `${tool}(${JSON.stringify(args)}), ${kind === 'approval' ? 'which somebody must approve' : 'which somebody else carries out'}`,
  );
  return {
    status: 'waiting',
    taskId: result.taskId,
    waitingFor,
    state,
    text: `The program waits, and goes on by itself when this is settled: ${calls.join('; ')}. Do not run it again.`,
  };
}

function errorText({ code, name, message, line, column, hint, traceback }: TaskError): string {
  const place = line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`;
  const named = name && !message.startsWith(name) ? `${name}: ` : '';
  return [`The program failed: ${code}: ${named}${message}${place}`, hint && `What to do: ${hint}`, traceback?.trimEnd()].filter(Boolean).join('\n');
}

function callsText({ calls }: TaskResult): string {
  const told = calls
    .slice(-MOST_CALLS)
    .map(({ tool, arguments: args, status, error }) => `${tool}(${cut(JSON.stringify(toWire(args)), 300)}): ${status}${error ? `: ${error}` : ''}`);
  return (calls.length > told.length ? [`${calls.length - told.length} calls before these`, ...told] : told).join('\n');
}

function section(title: string, text: string): string {
  return text.trim() === '' ? '' : `${title}:\n${text.trimEnd()}`;
}

function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return `${text.slice(0, maxChars)}\n(cut: ${maxChars} of ${text.length} characters; return less, or the part that is needed)`;
}
