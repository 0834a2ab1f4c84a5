/**
 * Fermata as an MCP server: tools and resources over the REST API, for one connection of one client.
 *
 * It holds nothing: whatever a client has started is a task of its tenant, and is found again by another connection. What goes wrong
 * in a tool is told as its result, so that a model can act on it; only a fault of the protocol is an error of the protocol.
 */
import type { FermataClient } from '@fermata/client';
import { FermataError, nearestName, parseOptions } from '@fermata/protocol';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Scope } from '../auth/caller.ts';
import { askUser } from './ask-user.ts';
import { failedResult, failureOf } from './failure.ts';
import { listedTool } from './listed-tool.ts';
import type { McpExtra, McpRequest, McpTool, NewTask, Told } from './mcp-tool.ts';
import { listResources, readResource, resourceTemplates } from './resources.ts';
import { MCP_TOOLS } from './tools/index.ts';

export interface McpServerOptions {
  version: string;
  /** Who asks: the API as they may use it. */
  caller: (extra: McpExtra) => McpCaller;
  /** What is added to a task before it is submitted. */
  equip?: (task: NewTask) => Promise<NewTask>;
  /** How long the user is given to answer. Default: 5 min. */
  askMs?: number;
  /** Is told of faults that are ours. */
  onError?: (error: unknown, where: string) => void;
}

export interface McpCaller {
  client: FermataClient;
  may: (scope: Scope) => boolean;
}

const ASK_MS = 5 * 60_000;

const INSTRUCTIONS = `Fermata runs programs in isolated machines. Each program is a task: it can be paused anywhere, kept, and resumed later, and it survives restarts.
To do something, write one program and give it to run_code; programs call tools as functions, many of them and in parallel if need be.
A task that has not ended is followed with get_task. One that waits for an approval goes on when the user has decided.
Before programs that call tools, look with search_tools and describe_tools which there are.`;

export function createMcpServer({ version, caller, equip = async (task) => task, askMs = ASK_MS, onError = () => {} }: McpServerOptions): Server {
  const about = { name: 'fermata', title: 'Fermata', version };
  const server = new Server(about, { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS });

  server.setRequestHandler(ListToolsRequestSchema, (_request, extra) => ({ tools: toolsFor(caller(extra)).map(listedTool) }));

  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra): Promise<CallToolResult> => {
    try {
      const from = caller(extra);
      const tool = toolNamed(params.name, from);
      const args = parseOptions(tool.input, params.arguments ?? {});
      return resultOf(tool, await tool.perform(args as never, requestOf(server, from, extra, { equip, askMs })));
    } catch (error) {
      const failure = failureOf(error);
      if (failure.code === 'internal' && !extra.signal.aborted) onError(error, `mcp ${params.name}`);
      return failedResult(failure);
    }
  });

  server.setRequestHandler(ListResourcesRequestSchema, (_request, extra) => listResources(caller(extra).client));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => resourceTemplates());
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }, extra) => readResource(caller(extra).client, params.uri));
  return server;
}

function toolsFor({ may }: McpCaller): McpTool[] {
  return MCP_TOOLS.filter(({ scope }) => may(scope));
}

function toolNamed(name: string, from: McpCaller): McpTool {
  const tool = MCP_TOOLS.find((one) => one.name === name);
  if (tool && from.may(tool.scope)) return tool;
  if (tool) throw new FermataError('forbidden', `${name} needs the scope ${tool.scope}, which this key does not have`);
  const near = nearestName(
    name,
    toolsFor(from).map((one) => one.name),
  );
  const hint = near === undefined ? 'tools/list tells which there are; tools of programs are called from a program of run_code.' : `Did you mean ${near}?`;
  throw new FermataError('not_found', `there is no tool ${JSON.stringify(name.slice(0, 100))}`, { hint });
}

function requestOf(server: Server, { client, may }: McpCaller, extra: McpExtra, { equip, askMs }: Required<Pick<McpServerOptions, 'equip' | 'askMs'>>): McpRequest {
  const { signal, sendNotification, _meta } = extra;
  const progressToken = _meta?.progressToken;
  let told = 0;
  // A client that has gone is told nothing more.
  const tell = (message: string) =>
    void sendNotification({ method: 'notifications/progress', params: { progressToken: progressToken ?? 0, progress: ++told, message } }).catch(() => {});
  return {
    ...{ client, may, signal, equip },
    // The transport is taken away when the connection closes.
    isWithdrawn: () => signal.aborted && server.transport !== undefined,
    tell: progressToken === undefined ? undefined : tell,
    ask: server.getClientCapabilities()?.elicitation?.form ? askUser(extra, askMs) : undefined,
  };
}

/** What the output schema does not name is left out. */
function resultOf({ output }: McpTool, { value, text, failed, links = [] }: Told): CallToolResult {
  return {
    content: [{ type: 'text', text }, ...links.map((link) => ({ type: 'resource_link' as const, ...link }))],
    structuredContent: output.parse(value),
    ...(failed ? { isError: true } : {}),
  };
}
