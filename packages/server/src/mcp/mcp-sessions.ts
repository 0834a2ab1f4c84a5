/**
 * Connections of MCP clients over streamable HTTP.
 *
 * A session belongs to the API key that opened it, and is not there for any other. A key's tenant has only so many; one that nobody has
 * used for a while ends, and makes room for another. What ends with a session is the connection: tasks go on.
 */
import { randomUUID } from 'node:crypto';
import { QuotaExceeded } from '@fermata/protocol';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Caller } from '../auth/caller.ts';
import { hashOf } from '../auth/keys.ts';
import { RecentEvents } from './recent-events.ts';

export interface McpSessionsOptions {
  newServer: () => Server;
  /** Of each tenant. Default: 100. */
  maxSessions?: number | undefined;
  /** How long one may be unused. Default: 30 min. */
  idleMs?: number | undefined;
  maxBodyBytes: number;
  heartbeatMs: number;
  /** After how long a client whose stream was closed comes again. Default: 1 s. */
  retryMs?: number;
}

interface Session {
  tenant: string;
  keyHash: string;
  server: Server;
  transport: WebStandardStreamableHTTPServerTransport;
  /** Requests and streams that are open. */
  open: number;
  usedAt: number;
}

const IDLE_MS = 30 * 60_000;
const MAX_SESSIONS = 100;
const RETRY_MS = 1000;
const LONGEST_BETWEEN_LOOKS_MS = 60_000;

export class McpSessions {
  readonly #options: McpSessionsOptions;
  readonly #maxSessions: number;
  readonly #idleMs: number;
  /** Those too that are not initialized yet. */
  readonly #all = new Set<Session>();
  readonly #byId = new Map<string, Session>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: McpSessionsOptions) {
    this.#options = options;
    this.#maxSessions = options.maxSessions ?? MAX_SESSIONS;
    this.#idleMs = options.idleMs ?? IDLE_MS;
  }

  get size(): number {
    return this.#all.size;
  }

  /** `key`: with which `caller` was found. Throws {@link QuotaExceeded} where a tenant has no more sessions. */
  async respond(request: Request, caller: Caller, key: string): Promise<Response> {
    const keyHash = hashOf(key);
    const id = request.headers.get('mcp-session-id');
    const known = id === null ? undefined : this.#byId.get(id);
    if (this.#closed || (id !== null && known?.keyHash !== keyHash)) return notFound();
    const session = known ?? (await this.#open(caller.tenant, keyHash));
    try {
      const response = await this.#through(session, request, caller, key);
      // It was no initialization.
      if (session.transport.sessionId === undefined) await session.server.close();
      return response;
    } finally {
      if (!known) session.open--;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await Promise.all([...this.#all].map(({ server }) => server.close()));
  }

  /** In use, until its first request is answered. It is counted before anything is waited for, so that no two take the same room. */
  async #open(tenant: string, keyHash: string): Promise<Session> {
    const replaced = this.#makeRoom(tenant);
    const transport = new WebStandardStreamableHTTPServerTransport({
      ...{ sessionIdGenerator: randomUUID, eventStore: new RecentEvents(), maxRequestBodySize: this.#options.maxBodyBytes, keepAliveMs: this.#options.heartbeatMs },
      retryInterval: this.#options.retryMs ?? RETRY_MS,
      onsessioninitialized: (id) => void this.#byId.set(id, session),
    });
    const server = this.#options.newServer();
    const session: Session = { tenant, keyHash, server, transport, open: 1, usedAt: performance.now() };
    this.#all.add(session);
    server.onclose = () => {
      this.#all.delete(session);
      if (transport.sessionId !== undefined) this.#byId.delete(transport.sessionId);
    };
    await replaced;
    await server.connect(transport as Parameters<Server['connect']>[0]);
    this.#timer ??= setInterval(() => this.#endIdle(), Math.min(this.#idleMs, LONGEST_BETWEEN_LOOKS_MS)).unref();
    return session;
  }

  /** Ends one that is not in use, if need be. */
  #makeRoom(tenant: string): Promise<void> | undefined {
    const mine = [...this.#all].filter((session) => session.tenant === tenant);
    if (mine.length < this.#maxSessions) return undefined;
    const [oldest] = mine.filter(({ open }) => open === 0).sort((a, b) => a.usedAt - b.usedAt);
    if (!oldest) throw new QuotaExceeded(`${mine.length} MCP sessions are open already`, 'End those that are not needed, with DELETE /mcp, or try again later.');
    this.#all.delete(oldest);
    return oldest.server.close();
  }

  #endIdle(): void {
    const since = performance.now() - this.#idleMs;
    for (const { open, usedAt, server } of this.#all) if (open === 0 && usedAt < since) void server.close();
  }

  async #through(session: Session, request: Request, { by, scopes }: Caller, key: string): Promise<Response> {
    const leave = enter(session);
    let streams = false;
    try {
      const response = await session.transport.handleRequest(request, { authInfo: { token: key, clientId: by, scopes: [...scopes] } });
      const { body, status, headers } = response;
      if (body === null) return response;
      streams = true;
      return new Response(untilItsEnd(body, leave), { status, headers });
    } finally {
      if (!streams) leave();
    }
  }
}

function enter(session: Session): () => void {
  session.open++;
  let inside = true;
  return () => {
    if (!inside) return;
    inside = false;
    session.open--;
    session.usedAt = performance.now();
  };
}

/** Passes a stream on, and tells when it has ended, or nobody reads it any more. */
function untilItsEnd(body: ReadableStream<Uint8Array>, ended: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        ended();
        throw error;
      });
      if (!done) return controller.enqueue(value);
      ended();
      controller.close();
    },
    cancel(reason) {
      ended();
      return reader.cancel(reason);
    },
  });
}

function notFound(): Response {
  const error = { code: -32001, message: 'Session not found: initialize a new one' };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 404 });
}
