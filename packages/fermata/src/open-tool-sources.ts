/** Tool sources for `createFermata` and `run`, which have no engine that could keep them. */
import type { OpenToolSources, OpenToolSourcesOptions } from '@fermata/tools/registry';

/**
 * Connects to MCP servers and reads OpenAPI documents; `tools` are theirs, named `<source>.<tool>`. Close it, or use `await using`.
 * Throws `source_failed` where one cannot be reached, `invalid_request` where one cannot work.
 */
export async function openToolSources(options: OpenToolSourcesOptions): Promise<OpenToolSources> {
  // Only who has sources needs it, and it is not small.
  const registry = await import('@fermata/tools/registry');
  return registry.openToolSources(options);
}
