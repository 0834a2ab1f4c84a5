/**
 * Carries out the calls of a task: checks the arguments, asks for approval where it is needed, calls the tool, and hands
 * back exactly one result per call. Nothing is thrown from here; what goes wrong is a failure that the program sees.
 */

import { setTimeout } from 'node:timers/promises';
import { type Call, type CallProgress, type CallResult, isWorthRetrying, type ToolFailure, type Value } from '@fermata/protocol';
import { OutcomeUnknown, type Tool, ToolError } from '@fermata/tools';
import { crossed, crossedRecord } from './crossing.ts';

/** A decision on a call that needs approval. Edited arguments take the place of the program's. */
export type Decision = { approve: true; arguments?: Call['args'] } | { approve: false; reason?: string };
export type Approver = (call: Call, tool: Tool) => Decision | Promise<Decision>;

export interface ToolRunnerOptions {
  taskId: string;
  tools: ReadonlyMap<string, Tool>;
  approve: Approver | undefined;
  signal: AbortSignal;
  onProgress: (call: Call, told: CallProgress) => void;
}

/** Whether the runner can settle this call itself, or why somebody else must. */
export function whoSettles(call: Call, { tools, approve }: ToolRunnerOptions): 'runner' | 'approval' | 'client_tool' {
  const tool = tools.get(call.name);
  if (tool && !tool.execute) return 'client_tool';
  return tool?.requiresApproval && !approve ? 'approval' : 'runner';
}

/** `late`: the tool was cut off, nobody knows what came of the call, and this is what it may say after all. */
export interface PerformedCall {
  result: CallResult;
  late?: Promise<CallResult>;
}

/** `handedOver` is told when the tool is about to have the call: from then on its outcome is not known until it answers. */
export async function performCall(call: Call, options: ToolRunnerOptions, handedOver: () => void): Promise<PerformedCall> {
  const tool = options.tools.get(call.name);
  if (!tool?.execute) return { result: failure('UnknownTool', `there is no tool ${call.name}`) };
  try {
    let { args } = call;
    if (tool.requiresApproval && options.approve) {
      const decision = await options.approve(call, tool);
      if (!decision.approve) return { result: failure('ApprovalRejected', `the call of ${call.name} was rejected${decision.reason ? `: ${decision.reason}` : ''}`) };
      args = decision.arguments ? crossedRecord(decision.arguments, `arguments of ${call.name}`) : args;
    }
    const { maxAttempts = 1, backoffMs = 0 } = tool.retry ?? {};
    for (let attempt = 1; ; attempt++) {
      const tried = await tryOnce(tool, call, args, options, handedOver);
      const { result } = tried;
      if (!('error' in result) || attempt >= maxAttempts || !isWorthRetrying(result.error)) return tool.idempotent ? { result } : tried;
      await setTimeout(backoffMs * 2 ** (attempt - 1), undefined, { signal: options.signal, ref: false });
    }
  } catch (error) {
    return { result: { error: describe(error) } };
  }
}

async function tryOnce(tool: Tool, call: Call, args: Call['args'], { taskId, signal, onProgress }: ToolRunnerOptions, handedOver: () => void): Promise<PerformedCall> {
  const valued = (value: unknown): CallResult => ({ ok: crossed(value, `result of ${call.name}`) });
  const thrown = (error: unknown): CallResult => ({ error: describe(error) });
  const checked = tool.check(args);
  const leave = await tool.gate?.enter(signal);
  let performed: PerformedCall;
  try {
    handedOver();
    const info = { taskId, callId: call.id, idempotencyKey: `${taskId}:${call.id}`, signal, progress: (told: CallProgress) => onProgress(call, told) };
    performed = { result: valued(await tool.execute?.(checked as never, info)) };
  } catch (error) {
    performed = { result: thrown(error), ...(error instanceof OutcomeUnknown ? { late: error.late.then(valued).catch(thrown) } : {}) };
  }
  leave?.(performed.result);
  return performed;
}

function failure(name: string, message: string): CallResult {
  return { error: { name, message } };
}

/** What was thrown may be anything, and may itself throw when it is looked at. */
function describe(error: unknown): ToolFailure {
  try {
    if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
    const told = { name: String(error.name), message: String(error.message) };
    return error instanceof ToolError && error.data !== undefined ? { ...told, ...data(error.data) } : told;
  } catch {
    return { name: 'Error', message: 'the tool failed with something that cannot be shown' };
  }
}

function data(value: Value): { data?: Value } {
  try {
    return { data: crossed(value, 'data') };
  } catch {
    return {};
  }
}
