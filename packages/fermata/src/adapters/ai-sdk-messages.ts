/**
 * Waiting programs in the messages of the AI SDK: the state of one stands in the provider options of its tool result, where no
 * provider reads it. Messages may come from a client, so nothing here is believed of a call; what is settled is compared with the seal's.
 */
import { FermataError } from '@fermata/protocol';
import type { ModelMessage, StopCondition } from 'ai';
import type { CodeOutcome, WaitingCall } from './code-outcome.ts';

/** A call that a program in the conversation waits for. */
export interface WaitingCodeCall extends WaitingCall {
  /** Of the conversation: by it the call is answered. */
  id: string;
  /** Of the code tool's own call. */
  toolCallId: string;
}

/** What the code tool is called with by `codeApprovals`: one call of a waiting program, to be approved or not. */
export interface Continuing {
  /** Of the call of the code tool whose result says that it waits. */
  continue: string;
  call: { callId: number; tool: string; arguments: unknown };
  denied?: string;
}

export type ResultPart = Extract<Extract<ModelMessage, { role: 'tool' }>['content'][number], { type: 'tool-result' }>;

export function isContinuing(input: unknown): input is Continuing {
  return input !== null && typeof input === 'object' && typeof (input as Partial<Continuing>).continue === 'string';
}

/** Calls that programs in these messages wait for. */
export function waitingCode(messages: readonly ModelMessage[]): WaitingCodeCall[] {
  return resultsIn(messages).flatMap(waitingOf);
}

/** A condition for `stopWhen`: a program of the last step waits for somebody, so there is nothing for the model to do. */
// biome-ignore lint/suspicious/noExplicitAny: so that it fits the tools of any call, as the SDK's own conditions do
export const codeWaits: StopCondition<any, any> = ({ steps }) => steps.at(-1)?.toolResults.some(({ output }) => isWaiting(output)) ?? false;

function isWaiting(output: unknown): boolean {
  return output !== null && typeof output === 'object' && (output as CodeOutcome).status === 'waiting' && typeof (output as { state?: unknown }).state === 'string';
}

export function modelOutput(outcome: CodeOutcome): ResultPart['output'] {
  if (outcome.status === 'failed') return { type: 'error-text', value: outcome.text };
  if (outcome.status === 'succeeded') return { type: 'text', value: outcome.text };
  const { text, state, waitingFor } = outcome;
  return { type: 'text', value: text, providerOptions: { fermata: JSON.parse(JSON.stringify({ state, waitingFor })) } };
}

/** `part`: of a message, or of what a model is sent. */
export function stateOf(part: Pick<ResultPart, 'output'>): string | undefined {
  const { state } = told(part);
  return typeof state === 'string' ? state : undefined;
}

export function waitingOf(part: Pick<ResultPart, 'output' | 'toolCallId'>): WaitingCodeCall[] {
  const { toolCallId } = part;
  const { waitingFor } = told(part);
  if (!stateOf(part) || !Array.isArray(waitingFor)) return [];
  return (waitingFor as WaitingCall[]).map((call) => ({ ...call, toolCallId, id: `${toolCallId}:${call.callId}` }));
}

export function idsIn(messages: readonly ModelMessage[]): string {
  const ids = waitingCode(messages).map(({ id }) => id);
  return ids.join(', ') || 'nothing';
}

/** The state that `input` goes on from, and the call that it settles. A program that has gone on already does not do so twice. */
export function resultToContinue(
  { messages, toolCallId }: { messages: readonly ModelMessage[]; toolCallId: string },
  input: Continuing,
): { state: string; call: Continuing['call'] } {
  const results = resultsIn(messages);
  const part = results.find((result) => result.toolCallId === input.continue);
  const state = part && stateOf(part);
  if (!state) throw new FermataError('invalid_request', `no program waits in the result of ${input.continue}`);
  const others = new Set(
    callsIn(messages).flatMap((call) => (isContinuing(call.input) && call.input.continue === input.continue && call.toolCallId !== toolCallId ? [call.toolCallId] : [])),
  );
  const gone = results.find((result) => others.has(result.toolCallId) && result.output.type !== 'execution-denied');
  if (gone) throw new FermataError('invalid_request', `the program that waited in the result of ${input.continue} has gone on; see the result of ${gone.toolCallId}`);
  return { state, call: input.call };
}

function told({ output }: Pick<ResultPart, 'output'>): { state?: unknown; waitingFor?: unknown } {
  return ('providerOptions' in output && output.providerOptions?.fermata) || {};
}

function resultsIn(messages: readonly ModelMessage[]): ResultPart[] {
  return messages.flatMap((message) => (message.role === 'tool' ? message.content.filter((part) => part.type === 'tool-result') : []));
}

function callsIn(messages: readonly ModelMessage[]) {
  return messages.flatMap((message) => (message.role === 'assistant' && typeof message.content !== 'string' ? message.content.filter((part) => part.type === 'tool-call') : []));
}
