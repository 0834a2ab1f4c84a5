/** The tools of the crash suite: each effect is one line of a file, which only ever grows. */
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineTool, type Tool, type ToolCallInfo } from 'fermata';

export const effectsFile = (folder: string) => join(dirname(folder), 'effects');

/** `write` appends a line at once. */
export function tools(write: (line: string) => void): Tool[] {
  const effect = async ({ key, ms }: { key: string; ms: number }, { idempotencyKey }: ToolCallInfo) => {
    await sleep(ms);
    write(`${key} ${idempotencyKey}`);
    await sleep(ms);
    return `done ${key}`;
  };
  const parameters = { type: 'object', properties: { key: { type: 'string' }, ms: { type: 'number' } }, required: ['key', 'ms'] } as const;
  return [
    defineTool({ name: 'effect', parameters, execute: effect }),
    defineTool({ name: 'pay', parameters, requiresApproval: true, execute: effect }),
    defineTool({ name: 'again', parameters, idempotent: true, execute: effect }),
    defineTool({ name: 'ask', parameters: { type: 'object' } }),
  ];
}
