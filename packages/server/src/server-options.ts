/** What a server is made of, and what its routes share. */
import type { Engine } from '@fermata/engine';
import type { Models, Store, TaskRequest } from '@fermata/protocol';
import type { FindingWire, ImagesWire } from '@fermata/protocol/wire';
import type { AddressGuard, AddressGuardOptions, PolicyBook, ToolRegistry } from '@fermata/tools/registry';
import type { Caller } from './auth/caller.ts';
import type { KeyStore } from './auth/keys.ts';
import type { Idempotency } from './idempotency.ts';
import type { OpenRequests } from './open-requests.ts';
import type { DeliveryLog } from './webhooks/delivery-log.ts';
import type { Endpoints } from './webhooks/endpoints.ts';
import type { WebhookListeners } from './webhooks/listeners.ts';

/** What the server keeps in the store by itself: keys, webhooks, tools, what was asked for under which Idempotency-Key. */
export type ServerStore = Pick<Store, 'document' | 'documents' | 'commit' | 'outboxDue' | 'nextOutboxDue' | 'blob'>;

export interface ServerOptions {
  engine: Engine;
  store: ServerStore;
  tools: ToolRegistry;
  /** Those that the engine asks; without them standing webhooks are told nothing. */
  listeners?: WebhookListeners;
  /** What closing comes down to. Default: closes the engine. */
  close?: (options: { drainMs: number }) => Promise<void>;
  /** For `POST /check`: what is wrong with the program of a request. */
  check?: (tenant: string, request: TaskRequest) => Promise<FindingWire[]>;
  /** Rules for all tasks and of each tenant: those that the engine asks. Default: a tenant's own, for who asks `POST /policy/test`. */
  policy?: PolicyBook;
  /** What `GET /images` tells. */
  images?: () => Promise<ImagesWire['items']>;
  /** Those that chats can ask for: the engine's. Default: none. */
  models?: Models | undefined;
  /** How long a chat whose task waits for a person is held open. Default: 300,000. */
  chatWaitMs?: number;
  /** Makes a key for this process only; may listen on a loopback address only. */
  development?: boolean;
  webhooks?: {
    /** Which addresses may be told: public ones, and these. */
    network?: AddressGuardOptions;
    timeoutMs?: number;
    /** How often the store is asked for what is due. */
    pollMs?: number;
  };
  /** Bytes of a JSON body. Default: 16 MiB. */
  maxBodyBytes?: number;
  /** Bytes of an uploaded file. Default: 64 MiB. */
  maxFileBytes?: number;
  /** Event streams and waiting requests that a tenant may have open. Default: 200. */
  maxOpenRequests?: number;
  heartbeatMs?: number;
  /** Origins of browsers that may call. Default: none. */
  corsOrigins?: readonly string[];
  /** Of the MCP server at `/mcp`. */
  mcp?: {
    /** Names besides those of loopback by which a server on a loopback address is reached: those of a proxy. */
    hosts?: readonly string[];
    /** Sessions that a tenant may have. Default: 100. */
    maxSessions?: number;
    /** How long a session may be unused. Default: 30 min. */
    idleMs?: number;
    /** How long the user of a client is given to decide on a call. Default: 5 min. */
    askMs?: number;
  };
  /** Is told of faults that are ours. Default: writes them to stderr. */
  onError?: (error: unknown, where: string) => void;
  now?: () => number;
  /** Told before a webhook is sent, and after its answer, which is not logged yet; for tests that crash there. */
  moment?: (moment: WebhookMoment) => void;
}

export type WebhookMoment = 'webhook.before' | 'webhook.after';

export interface ServerContext {
  engine: Engine;
  store: ServerStore;
  tools: ToolRegistry;
  check: ServerOptions['check'];
  policy: PolicyBook;
  images: () => Promise<ImagesWire['items']>;
  models: Models | undefined;
  chatWaitMs: number;
  keys: KeyStore;
  idempotency: Idempotency;
  endpoints: Endpoints;
  deliveries: DeliveryLog;
  open: OpenRequests;
  /** Of webhooks. */
  guard: AddressGuard;
  /** Aborts when the server begins to close. */
  draining: AbortSignal;
  maxBodyBytes: number;
  maxFileBytes: number;
  heartbeatMs: number;
  onError: (error: unknown, where: string) => void;
  now: () => number;
}

export interface Env {
  Variables: { caller: Caller; key: string };
}
