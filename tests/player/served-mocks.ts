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
    if (!execute) return tool;
    const logged = (args: Args, info: ToolCallInfo) => {
      appendFileSync(log, `${JSON.stringify({ tool: name, args })}\n`);
      return execute(args as never, info);
    };
    return { ...tool, execute: logged };
  });
}

export function callsIn(log: string): HostCall[] {
  if (!existsSync(log)) return [];
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as HostCall);
}
