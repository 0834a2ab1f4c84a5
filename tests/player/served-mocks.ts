/** The mock tools of a case, for a server in another process: what reaches them is kept in a file that outlives it. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { ToolCallInfo, ToolDefinition } from 'fermata';
import type { Args, Case } from './case-bank.ts';
import { type HostCall, mockTools } from './mock-tools.ts';

export interface ServedMocks {
  mocks: Case['tools'];
  log: string;
}

export function tools({ mocks, log }: ServedMocks): ToolDefinition[] {
  return mockTools(mocks).definitions.map((tool) => {
    const { name, execute } = tool;
    if (!execute) return { name };
    const logged = (args: Args, info: ToolCallInfo) => {
      const keep = (line: Kept) => appendFileSync(log, `${JSON.stringify(line)}\n`);
      keep({ callId: info.callId, tool: name, args });
      info.signal.addEventListener('abort', () => keep({ callId: info.callId, aborted: true }));
      return execute(args as never, info);
    };
    return { ...tool, execute: logged };
  });
}

type Kept = { callId: unknown; tool: string; args: Args } | { callId: unknown; aborted: true };

export function callsIn(log: string): HostCall[] {
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Kept);
  const aborted = new Set(lines.flatMap((line) => ('aborted' in line ? [line.callId] : [])));
  return lines.flatMap((line) => ('tool' in line ? [{ tool: line.tool, args: line.args, ...(aborted.has(line.callId) ? { signal: AbortSignal.abort() } : {}) }] : []));
}
