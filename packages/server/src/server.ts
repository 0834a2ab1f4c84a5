/**
 * The server: an engine's tasks over HTTP, and what is told by webhooks.
 *
 * It keeps nothing but documents in the store: keys, tools, webhooks, claims of idempotency keys. Closing it takes no new
 * tasks, ends event streams with a last event, lets the engine put its tasks down, and then the sockets go.
 */
import type { Server } from 'node:http';
import { type AddressInfo, isIPv4, isIPv6 } from 'node:net';
import { FermataError } from '@fermata/protocol';
import { createAddressGuard, PolicyBook } from '@fermata/tools/registry';
import { createAdaptorServer } from '@hono/node-server';
import { createApp } from './app.ts';
import { createKeyStore, newKey } from './auth/keys.ts';
import { createIdempotency } from './idempotency.ts';
import { OpenRequests } from './open-requests.ts';
import type { ServerContext, ServerOptions } from './server-options.ts';
import { DeliveryLog } from './webhooks/delivery-log.ts';
import { WebhookDispatcher } from './webhooks/dispatcher.ts';
import { Endpoints } from './webhooks/endpoints.ts';

export interface ListenOptions {
  /** Default: 127.0.0.1. */
  host?: string;
  /** 0: any that is free. Default: 7070. */
  port?: number;
  /** Of a local socket, in the place of host and port. */
  path?: string;
}

export interface FermataServer extends AsyncDisposable {
  /** Works in this process only, for everything of the tenant `default`. */
  readonly developmentKey: string | undefined;
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** Works through local sockets and `localFetch` only, for everything of the tenant `default` and for API keys. */
  readonly localKey: string;
  readonly localFetch: (request: Request) => Response | Promise<Response>;
  /** Resolves with the address when the socket listens. */
  listen(options?: ListenOptions): Promise<string>;
  /** Sends what webhooks have due without waiting for the next look. */
  wakeWebhooks(): void;
  /** Closes the engine too. */
  close(options?: { drainMs?: number }): Promise<void>;
}

const MiB = 1024 * 1024;
const PORT = 7070;
/** What answers are given to finish after the engine is closed. */
const LAST_ANSWERS_MS = 2000;
/** An idle connection is kept for longer than clients keep theirs: one that is closed here just as a request comes would lose it. */
const KEEP_ALIVE_MS = 75_000;

export function createServer(options: ServerOptions): FermataServer {
  const { engine, store, tools, now = Date.now, moment = () => {}, webhooks = {} } = options;
  const onError = options.onError ?? ((error: unknown, where: string) => console.error(`fermata: ${where}:`, error));
  const draining = new AbortController();
  const guard = createAddressGuard(webhooks.network);
  const context: ServerContext = {
    engine,
    store,
    tools,
    check: options.check,
    policy: options.policy ?? new PolicyBook({ store }),
    images: options.images ?? (async () => []),
    models: options.models,
    chatWaitMs: options.chatWaitMs ?? 300_000,
    keys: createKeyStore(store, now),
    idempotency: createIdempotency(store, now),
    endpoints: new Endpoints(store, guard, now, options.listeners),
    deliveries: new DeliveryLog(store),
    open: new OpenRequests(options.maxOpenRequests ?? 200),
    guard,
    draining: draining.signal,
    maxBodyBytes: options.maxBodyBytes ?? 16 * MiB,
    maxFileBytes: options.maxFileBytes ?? 64 * MiB,
    heartbeatMs: options.heartbeatMs ?? 15_000,
    onError,
    now,
  };
  const developmentKey = options.development ? newKey() : undefined;
  const localKey = developmentKey ?? newKey();
  const dispatcher = new WebhookDispatcher({ ...context, moment, timeoutMs: webhooks.timeoutMs ?? 15_000, pollMs: webhooks.pollMs ?? 1000 });
  const wake = () => dispatcher.wake();
  const app = createApp(context, { developmentKey, corsOrigins: options.corsOrigins, ...(options.mcp ? { mcp: options.mcp } : {}), wake });
  let local: ReturnType<typeof createApp> | undefined;
  const localApp = () => (local ??= createApp(context, { developmentKey: localKey, localBy: 'the command line', wake }));
  const servers = new Set<Server>();
  let closing: Promise<void> | undefined;

  const close = async (drainMs: number) => {
    draining.abort();
    await dispatcher.close();
    await (options.close ?? engine.close.bind(engine))({ drainMs });
    await Promise.all([...servers].map(closeServer));
  };
  return {
    developmentKey,
    fetch: (request) => app.fetch(request),
    localKey,
    localFetch: (request) => localApp().fetch(request),
    wakeWebhooks: wake,
    async listen(where = {}) {
      const { host = '127.0.0.1', port = PORT, path } = where;
      if (developmentKey !== undefined && path === undefined && !isLoopback(host)) {
        throw new FermataError('invalid_request', `a server in development listens on a loopback address only, not on ${host}`, { hint: 'Make keys and leave development off.' });
      }
      const server = await (path === undefined ? listening(app.fetch, { host, port }) : listening(localApp().fetch, { path }));
      servers.add(server);
      if (servers.size === 1) dispatcher.start();
      const address = server.address() as AddressInfo | string;
      return typeof address === 'string' ? address : `http://${isIPv6(address.address) ? `[${address.address}]` : address.address}:${address.port}`;
    },
    close({ drainMs = 10_000 } = {}) {
      closing ??= close(drainMs);
      return closing;
    },
    async [Symbol.asyncDispose]() {
      await this.close();
    },
  };
}

function listening(fetch: (request: Request) => Response | Promise<Response>, where: { host: string; port: number } | { path: string }): Promise<Server> {
  const adaptor = createAdaptorServer({ fetch }) as Server;
  adaptor.keepAliveTimeout = KEEP_ALIVE_MS;
  return new Promise((resolve, reject) => {
    adaptor.once('error', (cause: NodeJS.ErrnoException) =>
      reject(cause.code === 'EADDRINUSE' ? new FermataError('conflict', `the address is taken: ${cause.message}`, { hint: 'Choose another port.', cause }) : cause),
    );
    adaptor.listen(where, () => resolve(adaptor));
  });
}

/** Answers that are under way may end; then nothing holds a socket. */
async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const last = setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS);
  await closed;
  clearTimeout(last);
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
