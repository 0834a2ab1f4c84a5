/** A tool as `tools/list` tells it: schemas as JSON Schema, made once. */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { McpTool } from './mcp-tool.ts';

const made = new WeakMap<McpTool, Tool>();

export function listedTool(tool: McpTool): Tool {
  let listed = made.get(tool);
  if (!listed) {
    const { name, title, description, readOnly = false, destructive = false, idempotent = false, openWorld = false } = tool;
    const annotations = { title, readOnlyHint: readOnly, destructiveHint: destructive, idempotentHint: idempotent, openWorldHint: openWorld };
    listed = { name, title, description, inputSchema: schemaOf(tool.input, 'input'), outputSchema: schemaOf(tool.output, 'output'), annotations };
    made.set(tool, listed);
  }
  return listed;
}

function schemaOf(schema: z.ZodObject, io: 'input' | 'output'): Tool['inputSchema'] {
  const { $schema: _dialect, ...plain } = z.toJSONSchema(schema, { io, reused: 'inline' });
  return plain as Tool['inputSchema'];
}
