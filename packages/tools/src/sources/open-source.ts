/** Makes a source of what was configured. The SDK of MCP and the reader of documents are loaded by who needs them. */
import type { SourceSpec } from './source-options.ts';
import type { SourceContext, ToolSource } from './tool-source.ts';

export type SourceOpener = (spec: SourceSpec, context: SourceContext) => ToolSource;

export async function sourceOpener(): Promise<SourceOpener> {
  const [{ mcpSource }, { openApiSource }] = await Promise.all([import('./mcp.ts'), import('./openapi.ts')]);
  return ({ name, kind, options }, context) => (kind === 'mcp' ? mcpSource(name, options, context) : openApiSource(name, options, context));
}
