/** Results of calls: how a failure is made and told, and how a result is recorded. */
import { type CallResult, type CallRow, fromWire, type ToolFailure, toWire, type Value } from '@fermata/protocol';
import type { Moment } from './engine-options.ts';
import type { LiveTask } from './live-task.ts';

/** Records the result of a call; the call is settled then. */
export function settleCall(live: LiveTask, n: number, result: CallResult, by: string, { now, moment }: { now: () => number; moment: (moment: Moment) => void }): CallRow {
  const call = live.call(n) as CallRow;
  const wire = 'ok' in result ? { ok: toWire(result.ok) } : { error: { ...result.error, ...(result.error.data === undefined ? {} : { data: toWire(result.error.data) }) } };
  live.record('call_settled', { call_id: call.callId, n, result: wire, by });
  const settled = live.changeCall(n, { status: 'settled', waitsFor: null, expiresAt: null, notBefore: null, result: JSON.stringify(wire), settledAt: now(), by });
  moment('settle.after');
  return settled;
}

/** The result that a settled call has. */
export function resultOf(call: CallRow): CallResult {
  const wire = JSON.parse(call.result as string) as { ok: unknown } | { error: ToolFailure };
  if ('ok' in wire) return { ok: fromWire(wire.ok) };
  const { data, ...rest } = wire.error;
  return { error: { ...rest, ...(data === undefined ? {} : { data: fromWire(data) }) } };
}

export function failed(name: string, message: string): CallResult {
  return { error: { name, message } };
}

/** What was thrown may be anything, and may itself throw when it is looked at. */
export function described(error: unknown): ToolFailure {
  try {
    if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
    const told = { name: String(error.name), message: String(error.message) };
    const data = (error as { data?: Value }).data;
    return data === undefined ? told : { ...told, data: fromWire(toWire(data)) };
  } catch {
    return { name: 'Error', message: 'the tool failed with something that cannot be shown' };
  }
}
