/**
 * A turn of a chat, as the journal of its task has it: from the results that a request brings to the next calls of its client, or
 * to the end. A request that is sent again asks for a turn that has been; the journal knows what was answered then.
 */
import type { TaskEvent } from '@fermata/engine';

export interface ChatTurn {
  /** Ids of the calls that its client was, or is, to carry out, in the order in which they were made. */
  open: string[];
  /** The client has brought further results since. */
  isPast: boolean;
  /** What models were paid for in it. */
  usage: ChatUsage;
  /** When it began to be as it is. */
  at: number;
}

export interface ChatUsage {
  inputTokens: number;
  outputTokens: number;
}

/** `answered`: ids of the calls whose results the request brings, all of them recorded by now. */
export function turnOf(journal: readonly TaskEvent[], answered: ReadonlySet<string>): ChatTurn {
  const broughtBy = journal.map(broughtResult);
  const start = broughtBy.findLastIndex((callId) => callId !== undefined && answered.has(callId)) + 1;
  const next = broughtBy.findIndex((callId, i) => i >= start && callId !== undefined && !answered.has(callId));
  const turn = journal.slice(0, next < 0 ? undefined : next);
  const open = new Set<string>();
  const usage: ChatUsage = { inputTokens: 0, outputTokens: 0 };
  turn.forEach(({ kind, data }, i) => {
    const { call_id: callId = '', waits_for: waitsFor } = data as { call_id?: string; waits_for?: string };
    if (waitsFor === 'client_tool' || isApproval(kind, data)) open.add(callId);
    else if (kind === 'call_settled') open.delete(callId);
    if (i >= start) addUsage(usage, kind, data);
  });
  return { open: [...open], isPast: next >= 0, usage, at: turn.at(-1)?.at ?? 0 };
}

/** The call whose result a client has brought. */
function broughtResult({ kind, data }: TaskEvent): string | undefined {
  if (kind !== 'decided') return undefined;
  const { call_id: callId, decision } = data as { call_id: string; decision: { action: string } };
  return decision.action === 'result' || decision.action === 'error' ? callId : undefined;
}

/** All tools of such a task are its client's: what is approved then waits for it. */
function isApproval(kind: string, data: unknown): boolean {
  return kind === 'decided' && (data as { decision: { action: string } }).decision.action === 'approve';
}

function addUsage(usage: ChatUsage, kind: string, data: unknown): void {
  if (kind !== 'model_reply') return;
  const { usage: spent } = data as { usage?: Partial<ChatUsage> };
  usage.inputTokens += spent?.inputTokens ?? 0;
  usage.outputTokens += spent?.outputTokens ?? 0;
}
