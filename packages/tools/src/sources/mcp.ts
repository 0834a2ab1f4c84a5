/** Tool sources that are MCP servers. */
import type { ValueRecord } from '@fermata/protocol';
import type { Tool as McpTool } from '@modelcontextprotocol/sdk/types.js';
import { sourceCalls } from './call-options.ts';
import { foreignTool } from './foreign-tool.ts';
import { McpConnection } from './mcp-connection.ts';
import { safeNames } from './safe-name.ts';
import type { McpSourceOptions } from './source-options.ts';
import type { SourceContext, SourceTool, ToolSource } from './tool-source.ts';

export function mcpSource(name: string, options: McpSourceOptions, context: SourceContext): ToolSource {
  const connection = new McpConnection(name, options, context);
  const calls = sourceCalls(options);
  return {
    kind: 'mcp',
    changes: true,
    list: async () =>
      (await connection.listTools()).map(({ name, title, description, inputSchema, outputSchema, annotations, execution }) => ({
        name,
        title,
        description,
        inputSchema,
        outputSchema,
        annotations,
        execution,
      })),
    toolsOf: (listing) => toolsOf(name, listing as McpTool[], connection, calls),
    close: () => connection.close(),
  };
}

function toolsOf(source: string, listed: readonly McpTool[], connection: McpConnection, calls: ReturnType<typeof sourceCalls>): SourceTool[] {
  const names = safeNames(
    listed.map(({ name }) => name),
    `the tool source ${source}`,
  );
  return listed.map(({ name: originalName, title, description, inputSchema, outputSchema, annotations = {}, execution }, i) => {
    const short = names[i] as string;
    const name = `${source}.${short}`;
    const called = { tool: name, original: originalName, byTask: execution?.taskSupport === 'required' };
    const { readOnlyHint = false, idempotentHint = false, destructiveHint, openWorldHint } = annotations;
    const tool = foreignTool({
      name,
      description: description ?? title ?? annotations.title ?? '',
      parameters: inputSchema as Record<string, unknown>,
      result: outputSchema as Record<string, unknown> | undefined,
      ...calls(source, short, {
        idempotent: readOnlyHint || idempotentHint,
        requiresApproval: !readOnlyHint && (destructiveHint === true || openWorldHint === true),
      }),
      execute: (args, info) => connection.call(called, args as ValueRecord, info),
    });
    return { tool, originalName };
  });
}
