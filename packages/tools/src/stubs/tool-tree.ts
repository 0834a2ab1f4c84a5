/** Tools by the groups that their names make: `crm.find` is `find` in `crm`. */
import type { StubTool } from './stub-tool.ts';

export interface ToolTree {
  tools: Map<string, StubTool>;
  groups: Map<string, ToolTree>;
}

export function toolTree(tools: readonly StubTool[]): ToolTree {
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
