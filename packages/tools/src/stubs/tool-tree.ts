/** Tools by the groups that their names make: `crm.find` is `find` in `crm`. */
import type { Tool } from '../tool.ts';

export interface ToolTree {
  tools: Map<string, Tool>;
  groups: Map<string, ToolTree>;
}

export function toolTree(tools: readonly Tool[]): ToolTree {
  const root: ToolTree = { tools: new Map(), groups: new Map() };
  for (const tool of tools) {
    const path = tool.name.split('.');
    const last = path.pop() as string;
    let at = root;
    for (const group of path) {
      const next = at.groups.get(group) ?? { tools: new Map(), groups: new Map() };
      at.groups.set(group, next);
      at = next;
    }
    at.tools.set(last, tool);
  }
  return root;
}

export interface Parameter {
  name: string;
  schema: Record<string, unknown>;
  required: boolean;
}

/** Those that must be given first. */
export function parametersOf(tool: Tool): Parameter[] {
  const { properties, required } = tool.parameters as { properties?: Record<string, Record<string, unknown>>; required?: string[] };
  const all = Object.entries(properties ?? {}).map(([name, schema]) => ({ name, schema, required: required?.includes(name) ?? false }));
  return [...all.filter((parameter) => parameter.required), ...all.filter((parameter) => !parameter.required)];
}
