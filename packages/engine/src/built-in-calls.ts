/** Calls that every program can make besides its tools: a tool of the same name takes their place. */
import { type CallResult, type CallRow, fromWire, type ToolName, type ValueRecord } from '@fermata/protocol';
import type { EngineTools, TaskTools } from './engine-options.ts';

/** By this name a program asks a person to confirm or edit a value. */
export const REVIEW = 'review';
const SEARCH = 'search';
const DESCRIBE = 'describe';
/** Found tools that are told of. */
const MOST = 20;

export const BUILT_IN: readonly ToolName[] = [
  { name: REVIEW, parameters: ['value', 'reason'] },
  { name: SEARCH, parameters: ['query'] },
  { name: DESCRIBE, parameters: ['name'] },
];

/** The result of a call that needs nobody else, or undefined for any other name. */
export function builtInResult(tools: EngineTools, tenant: string, request: TaskTools, name: string, args: ValueRecord): CallResult | undefined {
  if (name === SEARCH) {
    const words = textOf(args.query).toLowerCase().split(/\W+/).filter(Boolean);
    const fits = (text: string) => words.every((word) => text.toLowerCase().includes(word));
    const found = tools.describe(tenant, request).filter((tool) => fits(`${tool.name} ${tool.description}`));
    return { ok: found.slice(0, MOST).map(({ name, description }) => ({ name, description })) };
  }
  if (name === DESCRIBE) {
    const found = tools.describe(tenant, request).find((tool) => tool.name === args.name);
    if (!found) return { error: { name: 'UnknownTool', message: `there is no tool ${textOf(args.name)}` } };
    return { ok: { name: found.name, description: found.description, parameters: fromWire(found.parameters), ...(found.result ? { result: fromWire(found.result) } : {}) } };
  }
  return undefined;
}

/** As much of a text as a search is worth; anything else is none. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 1000) : '';
}

/** The value that a person is asked to confirm. */
export function reviewedValue(call: CallRow): unknown {
  return (JSON.parse(call.args) as { value?: unknown }).value ?? null;
}
