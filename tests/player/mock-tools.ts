/** The mock tools of a case, and the record of what reached them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tool } from '@fermata/tools';
import { networkTools } from '@fermata/tools/registry';
import { type TaskEvent, type ToolCallInfo, type ToolDefinition, ToolError, type Value } from 'fermata';
import type { Args, Behaviour, Case } from './case-bank.ts';

export interface HostCall {
  tool: string;
  args: Args;
  /** Absent for a call that somebody else answers. */
  signal?: AbortSignal;
}

export interface MockTools {
  definitions: (ToolDefinition | Tool)[];
  /** To be told the events of the tasks that have these tools. */
  onEvent: (event: TaskEvent) => void;
  /** Resolves when one of those tasks has printed this text, or one has ended. */
  printed: (text: string) => Promise<void>;
  /** Every call that reached the host's tools, or waits there for an answer, in order. */
  log: HostCall[];
}

/** `hosts`: those that the program may reach. */
export function mockTools(tools: Case['tools'] = {}, hosts: string[] = []): MockTools {
  const log: HostCall[] = [];
  const definitions = Object.entries(tools).map(([name, behaviour]): ToolDefinition => {
    if (behaviour.external) return { name };
    const execute = (args: Args, { signal }: ToolCallInfo) => {
      log.push({ tool: name, args, signal });
      return behave(behaviour, args, signal);
    };
    return { name, execute, requiresApproval: behaviour.requires_approval === true };
  });
  let output = '';
  const waiting: { text: string; resolve: () => void }[] = [];
  const onEvent = (event: TaskEvent) => {
    if (event.type === 'output') output += event.text;
    const ended = event.type === 'status' && (event.status === 'failed' || event.status === 'succeeded');
    for (const { text, resolve } of waiting) if (ended || output.includes(text)) resolve();
    if (event.type === 'call' && tools[event.call.name]?.external) log.push({ tool: event.call.name, args: event.call.args });
  };
  const printed = (text: string) => new Promise<void>((resolve) => (output.includes(text) ? resolve() : waiting.push({ text, resolve })));
  return { definitions: [...definitions, ...(hosts.length > 0 ? networkTools({ hosts }) : [])], onEvent, printed, log };
}

async function behave(behaviour: Behaviour, args: Args, signal: AbortSignal): Promise<unknown> {
  const { by_arg, delay_ms = 0, delay_by_arg, throws, map, mcp_result, returns_raw_json } = behaviour;
  const chosen = by_arg?.cases[String(args[by_arg.arg])];
  if (chosen) return behave(chosen, args, signal);
  const delay = delay_by_arg === undefined ? delay_ms : Number(args[delay_by_arg]);
  if (delay > 0) await sleep(delay, undefined, { signal });
  if (behaviour.never) await new Promise(() => {});
  if (throws) throw Object.assign(new Error(throws.message), throws.name ? { name: throws.name } : {}, { hostOnly: throws.host_only });
  if (mcp_result) return fromMcp(mcp_result);
  if (map) return map.to[String(args[map.arg])];
  if (behaviour.echo) return args;
  return returns_raw_json === undefined ? behaviour.returns : JSON.parse(returns_raw_json);
}

/** An MCP result as a tool source would hand it on: an error is thrown, with its structured part. */
function fromMcp({ isError, content, structuredContent }: NonNullable<Behaviour['mcp_result']>): unknown {
  const text = content.map((part) => part.text ?? '').join('\n');
  if (isError) throw new ToolError(text, { data: structuredContent as Value });
  return structuredContent ?? text;
}
