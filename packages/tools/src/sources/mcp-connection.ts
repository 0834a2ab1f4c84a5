/**
 * A connection to an MCP server, made when it is needed: a process that speaks on stdin and stdout, or streamable HTTP.
 *
 * A server that ends or cannot be reached fails the calls that it has, by an error that the program can catch; the next call
 * connects anew. A process has in its environment what is configured, and PATH, without which no command is found.
 */
import { type CallProgress, FermataError, type Value } from '@fermata/protocol';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  type CallToolResult,
  CallToolResultSchema,
  ErrorCode,
  ListToolsResultSchema,
  McpError,
  type Tool as McpTool,
  type Progress,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { type ToolCallInfo, ToolError } from '../tool.ts';
import { accessFault, httpTransport } from './mcp-access.ts';
import { valueOfResult } from './mcp-result.ts';
import type { McpSourceOptions } from './source-options.ts';
import type { SourceContext } from './tool-source.ts';

const TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 30_000;
/** A server that did not answer in time is asked whether it is there at all. */
const PING_MS = 5_000;
/** How long a server has to end by itself. */
const GOODBYE_MS = 300;
const MAX_PAGES = 1000;
const MAX_TOOLS = 10_000;
/** Characters of what a server says of its progress. */
const MOST_TOLD = 1000;
/** Characters of what a process last wrote to stderr that are told when it ends. */
const LAST_WORDS = 500;
const KEPT_ENVIRONMENT = process.platform === 'win32' ? ['PATH', 'PATHEXT', 'SYSTEMROOT'] : ['PATH'];
/** What the SDK would hand on by itself. */
const NOT_HANDED_ON = [
  'HOME',
  'LOGNAME',
  'SHELL',
  'TERM',
  'USER',
  'APPDATA',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PROCESSOR_ARCHITECTURE',
  'SYSTEMDRIVE',
  'TEMP',
  'USERNAME',
  'USERPROFILE',
  'PROGRAMFILES',
];

export interface CalledTool {
  /** Its name here, and that which the server gives it. */
  tool: string;
  original: string;
  /** The server carries it out as a task only. */
  byTask: boolean;
}

interface Link {
  client: Client;
  transport: Transport;
  lastWords: () => string;
}

export class McpConnection {
  readonly #name: string;
  readonly #options: McpSourceOptions;
  readonly #context: SourceContext;
  #link: Link | undefined;
  #opening: Promise<Link> | undefined;
  /** What is being opened. */
  #half: Link | undefined;
  #closed = false;

  constructor(name: string, options: McpSourceOptions, context: SourceContext) {
    this.#name = name;
    this.#options = options;
    this.#context = context;
  }

  /** Throws `source_failed`. */
  async listTools(): Promise<McpTool[]> {
    try {
      const { client } = await this.#connected();
      if (!client.getServerCapabilities()?.tools) return [];
      const tools: McpTool[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MAX_PAGES; page++) {
        const params = cursor === undefined ? {} : { cursor };
        const answer = await client.request({ method: 'tools/list', params }, ListToolsResultSchema, { timeout: this.#connectTimeoutMs });
        tools.push(...answer.tools);
        if (tools.length > MAX_TOOLS) throw new Error(`it has more than ${MAX_TOOLS} tools`);
        if (answer.nextCursor === undefined || answer.nextCursor === cursor) return tools;
        cursor = answer.nextCursor;
      }
      throw new Error(`its list of tools has more than ${MAX_PAGES} pages`);
    } catch (cause) {
      if (cause instanceof FermataError) throw cause;
      const refused = accessFault(this.#name, this.#options, cause);
      if (refused) throw refused;
      throw new FermataError('source_failed', `the tool source ${this.#name} does not tell its tools: ${messageOf(cause)}`, { cause });
    }
  }

  /** The result of a call as a value. Throws {@link ToolError}: what the server says, `Timeout`, `Aborted`, or `SourceUnavailable`. */
  async call({ tool, original, byTask }: CalledTool, args: Record<string, unknown>, { signal, progress }: Pick<ToolCallInfo, 'signal' | 'progress'>): Promise<Value> {
    for (let attempt = 0; ; attempt++) {
      const wasThere = this.#link !== undefined;
      const link = await this.#connected().catch((error: Error) => {
        throw new ToolError(`${tool}: ${error.message}`, { name: 'SourceUnavailable' });
      });
      try {
        const timeout = this.#options.timeoutMs ?? TIMEOUT_MS;
        const options = { signal, timeout, resetTimeoutOnProgress: true, onprogress: (told: Progress) => progress?.(progressOf(told)) };
        const request = { method: 'tools/call' as const, params: { name: original, arguments: args } };
        return valueOfResult(tool, byTask ? await resultOfTask(link.client, request, options) : await link.client.request(request, CallToolResultSchema, options));
      } catch (error) {
        // A server that has started anew does not know our session, and has done nothing of what was asked.
        const sessionIsGone = error instanceof StreamableHTTPError && (error.code === 404 || (error.code === 400 && /session/i.test(error.message)));
        if (sessionIsGone) this.#drop(link);
        if (sessionIsGone && wasThere && attempt === 0) continue;
        throw await this.#failure(tool, link, error, signal);
      }
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const link = this.#link ?? this.#half;
    this.#link = undefined;
    if (link) await end(link);
  }

  get #connectTimeoutMs(): number {
    return this.#options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
  }

  /** Throws `source_failed`. */
  async #connected(): Promise<Link> {
    if (this.#closed) throw new FermataError('source_failed', `the tool source ${this.#name} is closed`);
    if (this.#link) return this.#link;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #open(): Promise<Link> {
    const client = new Client({ name: 'fermata', version: '0.1.0' }, { capabilities: {} });
    let said = '';
    const lastWords = () => (said.trim() ? `; it last wrote: ${said.trim().slice(-LAST_WORDS)}` : '');
    try {
      const transport =
        this.#options.command === undefined
          ? ((await httpTransport(this.#name, this.#options, this.#context)) as Transport)
          : this.#process(this.#options.command, (text) => (said = (said + text).slice(-2 * LAST_WORDS)));
      const link = { client, transport, lastWords };
      this.#half = link;
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => this.#context.onChanged?.());
      await client.connect(transport, { timeout: this.#connectTimeoutMs });
      client.onerror = (error) => {
        // Calls that were to be answered there would wait for ever.
        if (/SSE stream disconnected|reconnection attempts/.test(error.message)) void this.#endIfGone(link);
      };
      client.onclose = () => {
        this.#forget(link);
        if (!this.#closed) this.#context.onState?.('failed', new FermataError('source_failed', `the server of the tool source ${this.#name} has ended${lastWords()}`));
      };
      this.#link = link;
      this.#context.onState?.('connected');
      return link;
    } catch (cause) {
      await client.close().catch(() => {});
      const refused = accessFault(this.#name, this.#options, cause);
      const error = refused ?? new FermataError('source_failed', `the tool source ${this.#name} cannot be reached: ${messageOf(cause)}${lastWords()}`, { cause });
      this.#context.onState?.('failed', error);
      throw error;
    } finally {
      this.#half = undefined;
    }
  }

  #process(command: string, onStderr: (text: string) => void): Transport {
    const { args = [], env = {}, cwd } = this.#options;
    const kept = KEPT_ENVIRONMENT.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]] as const]));
    const none = NOT_HANDED_ON.map((name) => [name, undefined] as const);
    // A variable that is undefined is left out by Node.
    const environment = { ...Object.fromEntries([...none, ...kept]), ...env } as Record<string, string>;
    const transport = new StdioClientTransport({ command, args: [...args], env: environment, stderr: 'pipe', ...(cwd === undefined ? {} : { cwd }) });
    transport.stderr?.on('data', (chunk: Buffer) => onStderr(chunk.toString('utf8')));
    return transport;
  }

  async #failure(tool: string, link: Link, error: unknown, signal: AbortSignal): Promise<ToolError> {
    if (error instanceof ToolError) return error;
    if (signal.aborted) return new ToolError(`${tool}: the call was given up`, { name: 'Aborted' });
    if (error instanceof McpError && error.code === ErrorCode.RequestTimeout) {
      await this.#endIfGone(link);
      return new ToolError(`${tool}: no answer within ${this.#options.timeoutMs ?? TIMEOUT_MS} ms`, { name: 'Timeout' });
    }
    if (error instanceof McpError && error.code === ErrorCode.ConnectionClosed) {
      return new ToolError(`${tool}: its server ended before it answered; whether the call was carried out is not known${link.lastWords()}`, { name: 'SourceUnavailable' });
    }
    if (error instanceof McpError) return new ToolError(`${tool}: ${error.message}`, { name: 'McpError', data: { code: error.code } });
    this.#drop(link);
    const refused = accessFault(this.#name, this.#options, error);
    if (refused) return new ToolError(`${tool}: ${refused.message}`, { name: 'SourceUnavailable' });
    return new ToolError(`${tool}: its server cannot be reached: ${messageOf(error)}`, { name: 'SourceUnavailable' });
  }

  /** A server that does not answer to anything fails the calls that it has. */
  async #endIfGone(link: Link): Promise<void> {
    await link.client.ping({ timeout: PING_MS }).catch(() => this.#drop(link));
  }

  /** The next call connects anew. */
  #drop(link: Link): void {
    this.#forget(link);
    void end(link);
  }

  #forget(link: Link): void {
    if (this.#link === link) this.#link = undefined;
  }
}

/** Of a tool that a server carries out as a task of its own, which is asked for until it has ended. */
async function resultOfTask(client: Client, request: Parameters<Client['experimental']['tasks']['requestStream']>[0], options: RequestOptions): Promise<CallToolResult> {
  const { tasks } = client.experimental;
  let taskId: string | undefined;
  for await (const message of tasks.requestStream(request, CallToolResultSchema, { ...options, task: {} })) {
    if (message.type === 'taskCreated') ({ taskId } = message.task);
    else if (message.type === 'result') return message.result;
    else if (message.type === 'error') {
      if (options.signal?.aborted && taskId !== undefined) await tasks.cancelTask(taskId).catch(() => {});
      throw message.error;
    }
  }
  throw new Error('the task of the call ended without a result');
}

/** As much as a server may have told everybody who listens. */
function progressOf({ progress, total, message }: Progress): CallProgress {
  return { progress, ...(total === undefined ? {} : { total }), ...(message === undefined ? {} : { message: message.slice(0, MOST_TOLD) }) };
}

async function end({ client, transport }: Link): Promise<void> {
  client.onclose = () => {};
  let timer: NodeJS.Timeout | undefined;
  if (transport instanceof StreamableHTTPClientTransport) {
    const patience = new Promise((resolve) => {
      timer = setTimeout(resolve, GOODBYE_MS);
    });
    await Promise.race([transport.terminateSession().catch(() => {}), patience]);
  } else if (transport instanceof StdioClientTransport) timer = setTimeout(terminate, GOODBYE_MS, transport.pid);
  await client.close().catch(() => {});
  clearTimeout(timer);
}

/** A process that does not end with its input is told to. */
function terminate(pid: number | null): void {
  try {
    if (pid !== null) process.kill(pid);
  } catch {
    // It has ended.
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error as { cause?: unknown };
  return cause instanceof Error && error.message === 'fetch failed' ? cause.message : error.message;
}
