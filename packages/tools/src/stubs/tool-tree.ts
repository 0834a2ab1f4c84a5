/** Tools by the groups that their names make: `crm.find` is `find` in `crm`. */
import type { Tool } from '../tool.ts';

/** What stubs tell of a tool. */
export type StubbedTool = Pick<Tool, 'name' | 'description' | 'parameters' | 'result'>;

export interface ToolTree {
  tools: Map<string, StubbedTool>;
  groups: Map<string, ToolTree>;
}

export function toolTree(tools: readonly StubbedTool[]): ToolTree {
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
