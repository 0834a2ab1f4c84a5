/** Calls that every program can make besides its tools: a tool of the same name takes their place. */
import { type CallResult, type CallRow, fromWire, type ToolName, toWire, type ValueRecord } from '@fermata/protocol';
import { described } from './call-result.ts';
import type { EngineTools } from './engine-options.ts';

/** By this name a program asks a person to confirm or edit a value. */
export const REVIEW = 'review';

const review: ToolName = { name: REVIEW, parameters: ['value', 'reason'] };

export function builtInNames({ finding }: EngineTools): ToolName[] {
  return [review, ...finding];
}

/** The result of a call that needs nobody else, or undefined for any other name. */
export function builtInResult(tools: EngineTools, tenant: string, patterns: readonly string[] | undefined, name: string, args: ValueRecord): CallResult | undefined {
  if (!tools.finding.some((one) => one.name === name)) return undefined;
  try {
    return { ok: fromWire(toWire(tools.found(tenant, patterns, name, args))) };
  } catch (error) {
    return { error: described(error) };
  }
}

/** The value that a person is asked to confirm. */
export function reviewedValue(call: CallRow): unknown {
  return (JSON.parse(call.args) as { value?: unknown }).value ?? null;
}
