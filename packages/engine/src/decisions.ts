/**
 * Decisions on calls. One is made once: the same again is no error, another one is a conflict. What was decided, by whom and
 * when stands in the journal before it has any effect.
 */
import { isDeepStrictEqual } from 'node:util';
import { type CallResult, type CallRow, FermataError, fromWire, ValueError } from '@fermata/protocol';
import { checkPlan, isPlan } from './author/plan.ts';
import type { CallDesk } from './call-desk.ts';
import type { Decision } from './engine-api.ts';
import type { LiveTask } from './live-task.ts';

/** Which waits a decision can end. */
const FITS: Record<Decision['action'], readonly CallRow['waitsFor'][]> = {
  approve: ['approval', 'review'],
  reject: ['approval', 'review'],
  result: ['client_tool', 'outcome_unknown'],
  error: ['client_tool', 'outcome_unknown'],
  retry: ['outcome_unknown'],
};

export function decideCall(desk: CallDesk, live: LiveTask, callId: string, decision: Decision, by: string): CallRow {
  const call = live.callById(callId);
  if (!call) throw new FermataError('not_found', `the task ${live.ref.taskId} has made no call ${callId}`);
  const text = JSON.stringify(decision);
  if (call.decision !== null) {
    if (isDeepStrictEqual(JSON.parse(call.decision), JSON.parse(text)) && call.status !== 'waiting') return call;
    if (call.status !== 'waiting') throw new FermataError('conflict', `call ${callId} has been decided by ${call.by ?? 'somebody'} already, and otherwise`);
  }
  if (call.status !== 'waiting') throw new FermataError('invalid_state', `call ${callId} waits for nobody: it is ${call.status}`);
  if (!FITS[decision.action].includes(call.waitsFor)) {
    throw new FermataError('invalid_state', `call ${callId} waits for ${call.waitsFor}, which ${JSON.stringify(decision.action)} does not answer`);
  }
  if (decision.action === 'approve' && decision.arguments !== undefined && call.waitsFor === 'approval') desk.checkArguments(live, call, decision.arguments);
  if (decision.action === 'approve' && decision.value !== undefined && isPlan(call)) checkPlan(decision.value);
  const result = resultOf(decision);
  live.record('decided', { call_id: callId, decision, by });
  live.changeCall(call.n, { decision: text, by });
  if (decision.action === 'approve') desk.approve(live, call, decision, by);
  else if (decision.action === 'reject') desk.reject(live, call, decision.reason, by);
  else if (decision.action === 'retry') desk.retry(live, call, by);
  else if (result) desk.answer(live, call, result, by);
  return live.call(call.n) as CallRow;
}

function resultOf(decision: Decision): CallResult | undefined {
  try {
    if (decision.action === 'result') return { ok: fromWire(decision.output) };
    if (decision.action !== 'error') return undefined;
    const { name = 'ToolError', message, data } = decision.error;
    return { error: { name, message, ...(data === undefined ? {} : { data: fromWire(data) }) } };
  } catch (cause) {
    if (cause instanceof ValueError) throw new FermataError('invalid_request', cause.message, { cause });
    throw cause;
  }
}
