/** What `@fermata/server/mcp` offers: an MCP server over the REST API, for connections of any kind. */
export { ERROR_KEY } from './mcp/failure.ts';
export { createMcpServer, type McpCaller, type McpServerOptions } from './mcp/mcp-server.ts';
export type { McpExtra, NewTask } from './mcp/mcp-tool.ts';
