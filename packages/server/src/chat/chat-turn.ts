/**
 * A turn of a chat, as the journal of its task has it: from the results that a request brings to the next calls of its client, or
 * to the end. A request that is sent again asks for a turn that has been; the journal knows what was answered then.
 */
import type { TaskEvent } from '@fermata/engine';
import type { ModelReply } from '@fermata/protocol';

export interface ChatTurn {
  /** Ids of the calls that its client was, or is, to carry out, in the order in which they were made. */
  open: string[];
  /** The client has brought further results since. */
  isPast: boolean;
  /** What models were paid for in it. */
  usage: ChatUsage;
  /** The model's last reply was cut, as too long. */
  isCut: boolean;
}

/** Kinds of the entries of which turns are made. */
export const TURN_KINDS: ReadonlySet<string> = new Set(['call', 'decided', 'call_settled', 'repair', 'retry', 'model_replied', 'failed', 'cancelled']);
export type TurnEntry = Pick<TaskEvent, 'kind' | 'data'>;

export interface ChatUsage {
  inputTokens: number;
  outputTokens: number;
}

/** `journal`: entries of {@link TURN_KINDS} at least. `answered`: ids of the calls whose results the request brings, all of them recorded by now. */
export function turnOf(journal: readonly TurnEntry[], answered: ReadonlySet<string>): ChatTurn {
  const broughtBy = journal.map(broughtResult);
  const start = broughtBy.findLastIndex((callId) => callId !== undefined && answered.has(callId)) + 1;
  const next = broughtBy.findIndex((callId, i) => i >= start && callId !== undefined && !answered.has(callId));
  const turn = journal.slice(0, next < 0 ? undefined : next);
  const open = new Set<string>();
  for (const { kind, data } of turn) {
    const { call_id: callId = '', waits_for: waitsFor } = data as { call_id?: string; waits_for?: string };
    if (waitsFor === 'client_tool' || isApproval(kind, data)) open.add(callId);
    else if (kind === 'call_settled') open.delete(callId);
    // Calls of a program that failed, or was ended, are abandoned.
    else if (['repair', 'failed', 'cancelled'].includes(kind) || (kind === 'retry' && (data as { anew: boolean }).anew)) open.clear();
  }
  const replies = turn.slice(start).flatMap(({ kind, data }) => (kind === 'model_replied' ? [data as Reply] : []));
  const sum = (of: (usage: ChatUsage) => number) => replies.reduce((total, { usage }) => total + of(usage), 0);
  const usage = { inputTokens: sum(({ inputTokens }) => inputTokens), outputTokens: sum(({ outputTokens }) => outputTokens) };
  return { open: [...open], isPast: next >= 0, usage, isCut: replies.at(-1)?.finish === 'length' };
}

type Reply = Pick<ModelReply, 'usage' | 'finish'>;

/** The call whose result a client has brought. */
function broughtResult({ kind, data }: TurnEntry): string | undefined {
  if (kind !== 'decided') return undefined;
  const { call_id: callId, decision } = data as { call_id: string; decision: { action: string } };
  return decision.action === 'result' || decision.action === 'error' ? callId : undefined;
}

/** All tools of such a task are its client's: what is approved then waits for it. */
function isApproval(kind: string, data: unknown): boolean {
  return kind === 'decided' && (data as { decision: { action: string } }).decision.action === 'approve';
}
