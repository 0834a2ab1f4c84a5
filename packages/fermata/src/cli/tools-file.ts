/** The file that `--tools` names: its default export is an array of tools, or `{ tools, mcp, openapi, policy }`. */
import type { PolicyRule } from '@fermata/protocol';
import type { Tool } from '@fermata/tools';
import type { ToolSourcesOptions } from '@fermata/tools/registry';

export interface ToolsFile {
  tools: Tool[];
  /** MCP servers and OpenAPI documents. Files that they name are meant from the folder of the tools file. */
  sources: ToolSourcesOptions;
  policy: PolicyRule[];
}

/** What it has; nothing where there is none. Throws `invalid_request` with its name, what is wrong with it, and the line where that is known. */
export async function readToolsFile(file: string | undefined): Promise<ToolsFile> {
  if (file === undefined) return { tools: [], sources: {}, policy: [] };
  const { loadToolsFile } = await import('./load-tools-file.ts');
  return loadToolsFile(file);
}
