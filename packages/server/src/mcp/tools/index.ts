/** All tools of the MCP server, in the order in which they are listed. */
import type { McpTool } from '../mcp-tool.ts';
import { callTools } from './call-tools.ts';
import { catalogTools } from './catalog-tools.ts';
import { fileTools } from './file-tools.ts';
import { runTools } from './run-tools.ts';
import { taskTools } from './task-tools.ts';

export const MCP_TOOLS: readonly McpTool[] = [...runTools, ...taskTools, ...callTools, ...fileTools, ...catalogTools];
