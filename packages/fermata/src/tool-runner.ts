/**
 * Carries out the calls of a task: checks the arguments, asks for approval where it is needed, calls the tool, and hands
 * back exactly one result per call. Nothing is thrown from here; what goes wrong is a failure that the program sees.
 */
import { encodeValue } from '@fermata/machine';
import type { Call, CallResult, ToolFailure, Value } from '@fermata/protocol';
import { type Tool, ToolError } from './tool.ts';

/** A decision on a call that needs approval. Edited arguments take the place of the program's. */
export type Decision = { approve: true; arguments?: Call['args'] } | { approve: false; reason?: string };
export type Approver = (call: Call, tool: Tool) => Decision | Promise<Decision>;

export interface ToolRunnerOptions {
  taskId: string;
  tools: ReadonlyMap<string, Tool>;
  approve: Approver | undefined;
  signal: AbortSignal;
}

/** Whether the runner can settle this call itself, or why somebody else must. */
export function whoSettles(call: Call, { tools, approve }: ToolRunnerOptions): 'runner' | 'approval' | 'client_tool' {
  const tool = tools.get(call.name);
  if (tool && !tool.execute) return 'client_tool';
  return tool?.requiresApproval && !approve ? 'approval' : 'runner';
}

export async function performCall(call: Call, { taskId, tools, approve, signal }: ToolRunnerOptions): Promise<CallResult> {
  const tool = tools.get(call.name);
  if (!tool?.execute) return failure('UnknownTool', `there is no tool ${call.name}`);
  try {
    let { args } = call;
    if (tool.requiresApproval && approve) {
      const decision = await approve(call, tool);
      if (!decision.approve) return failure('ApprovalRejected', `the call of ${call.name} was rejected${decision.reason ? `: ${decision.reason}` : ''}`);
      args = decision.arguments ?? args;
    }
    const checked = tool.check(args);
    const value = await tool.execute(checked as never, { taskId, callId: call.id, idempotencyKey: `${taskId}:${call.id}`, signal });
    encodeValue(value, `result of ${call.name}`);
    return { ok: value as Value };
  } catch (error) {
    return { error: describe(error) };
  }
}

function failure(name: string, message: string): CallResult {
  return { error: { name, message } };
}

function describe(error: unknown): ToolFailure {
  if (error instanceof ToolError) return { name: error.name, message: error.message, data: error.data };
  if (error instanceof Error) return { name: error.name, message: error.message };
  return { name: 'Error', message: String(error) };
}
