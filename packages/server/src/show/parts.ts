/** Calls, events, checkpoints, batches, sessions and tools as the wire shows them. */
import type { BatchView, CallView, SessionView, TaskEvent } from '@fermata/engine';
import type { CheckpointRow } from '@fermata/protocol';
import type { CallWire, CheckpointWire, CreatedBatchWire, EventWire, SessionPageWire, ToolSourcesWire, ToolSourceWire, ToolWire } from '@fermata/protocol/wire';
import type { LiveSource, RegisteredTool } from '@fermata/tools/registry';
import { showMaybeTime, showTime } from './time.ts';

export function showCall(call: CallView): CallWire {
  return {
    call_id: call.callId,
    tool: call.tool,
    arguments: call.arguments,
    ...(call.editedArguments === undefined ? {} : { edited_arguments: call.editedArguments }),
    status: call.status,
    waits_for: call.waitsFor,
    tries: call.tries,
    ...call.result,
    delivered: call.delivered,
    created_at: showTime(call.createdAt),
    settled_at: showMaybeTime(call.settledAt),
    expires_at: showMaybeTime(call.expiresAt),
    by: call.by,
  };
}

const FAMILIES: Record<string, string> = {
  output: 'output',
  ...Object.fromEntries(['call', 'call_started', 'call_retry', 'call_progress', 'call_unknown', 'call_settled', 'decided', 'delivered'].map((kind) => [kind, 'call'])),
  ...Object.fromEntries(['checkpoint', 'checkpoint_failed'].map((kind) => [kind, 'checkpoint'])),
  ...Object.fromEntries(['step', 'step_result', 'position', 'progress', 'finding'].map((kind) => [kind, 'step'])),
  ...Object.fromEntries(['model', 'model_asked', 'model_replied', 'model_failed', 'program', 'repair', 'over_budget'].map((kind) => [kind, 'model'])),
  usage: 'usage',
};

/** The name that an event goes by: `state`, `output`, `call`, `checkpoint`, `step`, `model` or `usage`. */
export const familyOf = (kind: string) => FAMILIES[kind] ?? 'state';

export const showEvent = ({ seq, at, kind, data }: TaskEvent): EventWire => ({ seq, at: showTime(at), kind, data });

export function showCheckpoint({ checkpointId, seq, createdAt, reason, bytes, ground }: CheckpointRow): CheckpointWire {
  return { checkpoint_id: checkpointId, seq, created_at: showTime(createdAt), reason, bytes, ...(ground === undefined ? {} : { ground }) };
}

export function showBatch({ batchId, createdAt, total, counts, maxConcurrency, taskIds, endedAt }: BatchView): CreatedBatchWire {
  return { batch_id: batchId, created_at: showTime(createdAt), total, counts, max_concurrency: maxConcurrency, task_ids: taskIds, completed_at: showMaybeTime(endedAt) };
}

export function showSession({ sessionId, createdAt, head, language, bytes }: SessionView): SessionPageWire['items'][number] {
  return { session_id: sessionId, created_at: showTime(createdAt), head, language, bytes };
}

export function showTool({ tool, kind, createdAt, source, originalName }: RegisteredTool): ToolWire {
  const { name, description, parameters, result, idempotent, requiresApproval } = tool;
  const from = source === undefined ? {} : { source, original_name: originalName ?? name };
  return { name, kind, ...from, description, parameters, ...(result ? { result } : {}), idempotent, requires_approval: requiresApproval, created_at: showMaybeTime(createdAt) };
}

export function showSource({ name, kind, state, fault, tools, createdAt }: LiveSource): ToolSourcesWire['items'][number] {
  return { name, kind, state, error: fault?.message ?? null, tool_count: tools.length, created_at: showMaybeTime(createdAt) };
}

/** With the names of its tools. */
export function showWholeSource(source: LiveSource): ToolSourceWire {
  return { ...showSource(source), tools: source.tools.map(({ tool, originalName }) => ({ name: tool.name, original_name: originalName })) };
}

/** A page with its items shown. */
export function showPage<T, W>({ items, cursor }: { items: T[]; cursor?: string }, show: (item: T) => W): { items: W[]; cursor?: string } {
  return { items: items.map(show), ...(cursor === undefined ? {} : { cursor }) };
}
