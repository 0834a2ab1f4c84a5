/** The tools of the conformance package's example server that are about what a transport carries, as its scenarios describe them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, type CallToolResult, CreateMessageResultSchema, ElicitResultSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { McpExtra } from '../src/mcp/mcp-tool.ts';

type Example = (args: Record<string, unknown>, extra: McpExtra) => Promise<string>;

const EXAMPLES: Record<string, Example> = {
  async test_tool_with_progress(_args, { _meta, sendNotification }) {
    for (const progress of [0, 50, 100]) {
      await sendNotification({ method: 'notifications/progress', params: { progressToken: _meta?.progressToken ?? 0, progress, total: 100 } });
      await sleep(50);
    }
    return 'done';
  },
  async test_tool_with_logging(_args, { sendNotification }) {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await sendNotification({ method: 'notifications/message', params: { level: 'info', data } });
      await sleep(50);
    }
    return 'done';
  },
  async test_sampling({ prompt }, { sendRequest }) {
    const params = { messages: [{ role: 'user' as const, content: { type: 'text' as const, text: String(prompt) } }], maxTokens: 100 };
    const { content } = await sendRequest({ method: 'sampling/createMessage', params }, CreateMessageResultSchema);
    return `LLM response: ${content.type === 'text' ? content.text : content.type}`;
  },
  async test_elicitation({ message }, { sendRequest }) {
    const field = (description: string) => ({ type: 'string' as const, description });
    const requestedSchema = {
      ...{ type: 'object' as const, required: ['username', 'email'] },
      properties: { username: field("User's response"), email: field("User's email address") },
    };
    const { action, content } = await sendRequest({ method: 'elicitation/create', params: { message: String(message), requestedSchema } }, ElicitResultSchema);
    return `User response: ${action}, ${JSON.stringify(content)}`;
  },
  /** The client is cut off, and comes again for the answer. */
  async test_reconnection(_args, { closeSSEStream }) {
    await sleep(50);
    closeSSEStream?.();
    await sleep(50);
    return 'done after the stream was closed';
  },
};

export function exampleServer(): Server {
  const server = new Server({ name: 'examples', version: '1' }, { capabilities: { tools: {}, logging: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.keys(EXAMPLES).map((name) => ({ name, description: 'An example', inputSchema: { type: 'object' as const } })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra): Promise<CallToolResult> => {
    const example = EXAMPLES[params.name];
    return { content: [{ type: 'text', text: example ? await example(params.arguments ?? {}, extra) : 'there is no such tool' }], isError: !example };
  });
  return server;
}
