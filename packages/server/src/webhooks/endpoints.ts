/**
 * Standing endpoints of a tenant, the secrets that sign what is told, and what addresses may be told.
 *
 * A secret is shown when its endpoint is made; it is kept, because signing needs it.
 */
import { randomBytes } from 'node:crypto';
import { FermataError, type Store } from '@fermata/protocol';
import type { CreatedWebhookWire, WebhookWire } from '@fermata/protocol/wire';
import { type AddressGuard, AddressRefused } from '@fermata/tools/registry';
import { showTime } from '../show/time.ts';
import { WEBHOOK_KIND, type WebhookListeners } from './listeners.ts';

export interface Endpoint {
  webhookId: string;
  tenant: string;
  url: string;
  types: string[];
  description: string;
  secret: string;
  createdAt: number;
  disabledReason: string | null;
}

const KIND = WEBHOOK_KIND;
const SECRET_KIND = 'webhook_secret';
const MAX_ENDPOINTS = 100;

export class Endpoints {
  readonly #store: Pick<Store, 'document' | 'documents' | 'commit'>;
  readonly #guard: AddressGuard;
  readonly #now: () => number;
  readonly #listeners: WebhookListeners | undefined;

  constructor(store: Pick<Store, 'document' | 'documents' | 'commit'>, guard: AddressGuard, now: () => number, listeners?: WebhookListeners) {
    this.#store = store;
    this.#guard = guard;
    this.#now = now;
    this.#listeners = listeners;
  }

  /** Throws `invalid_request` for an address that is plainly private. Names are resolved when they are told something. */
  async refusePrivate(url: string, at: string): Promise<void> {
    const { hostname, username, password } = new URL(url);
    if (username || password) throw new FermataError('invalid_request', `${at}: the address has a user name in it`, { hint: 'What is sent there is signed; check the signature.' });
    if (!/^\[|^[\d.]+$|(^|\.)localhost\.?$/.test(hostname)) return;
    try {
      await this.#guard.addresses(hostname);
    } catch (error) {
      if (!(error instanceof AddressRefused)) return;
      throw new FermataError('invalid_request', `${at}: ${error.message}`, { hint: 'Use a public address, or allow this one in the configuration of the server.' });
    }
  }

  /** `id`: of an earlier try of the same request. */
  async create(tenant: string, given: { url: string; types?: string[] | undefined; description?: string | undefined }, id?: string): Promise<Endpoint> {
    await this.refusePrivate(given.url, 'url');
    const webhookId = id ?? `webhook_${randomBytes(16).toString('hex')}`;
    const before = id === undefined ? undefined : await this.get(tenant, id);
    if (before) return before;
    if ((await this.list(tenant)).length >= MAX_ENDPOINTS) throw new FermataError('conflict', `there are ${MAX_ENDPOINTS} webhooks already`);
    const { url, types = ['*'], description = '' } = given;
    const endpoint: Endpoint = { webhookId, tenant, url, types, description, secret: newSecret(), createdAt: this.#now(), disabledReason: null };
    await this.#store.commit([{ documents: [{ row: rowOf(endpoint, 1), expect: 0 }] }]);
    this.#listeners?.set(tenant, true);
    return endpoint;
  }

  async get(tenant: string, webhookId: string): Promise<Endpoint | undefined> {
    const row = await this.#store.document(KIND, tenant, webhookId);
    return row && (JSON.parse(row.body) as Endpoint);
  }

  async list(tenant: string): Promise<Endpoint[]> {
    const { items } = await this.#store.documents({ kind: KIND, tenant, limit: MAX_ENDPOINTS });
    return items.map(({ body }) => JSON.parse(body) as Endpoint);
  }

  /** Those that are to be told of this type. */
  async listening(tenant: string, type: string): Promise<Endpoint[]> {
    const family = `${type.split('.')[0]}.*`;
    return (await this.list(tenant)).filter(
      ({ types, disabledReason }) => disabledReason === null && types.some((wanted) => wanted === '*' || wanted === type || wanted === family),
    );
  }

  async remove(tenant: string, webhookId: string): Promise<void> {
    if (!(await this.get(tenant, webhookId))) throw new FermataError('not_found', `there is no webhook ${webhookId}`);
    await this.#store.commit([{ dropDocuments: [{ kind: KIND, tenant, id: webhookId }] }]);
    this.#listeners?.set(tenant, (await this.list(tenant)).length > 0);
  }

  /** Nothing more is sent there; it says itself that it is gone. */
  async disable(endpoint: Endpoint, reason: string): Promise<void> {
    await this.#store.commit([{ documents: [{ row: rowOf({ ...endpoint, disabledReason: reason }, 2) }] }]);
  }

  /** Signs what the `callback_url` of tasks and batches is told; made at first use. */
  async callbackSecret(tenant: string): Promise<string> {
    const kept = await this.#store.document(SECRET_KIND, tenant, 'callback');
    if (kept) return (JSON.parse(kept.body) as { secret: string }).secret;
    const secret = newSecret();
    const row = { kind: SECRET_KIND, tenant, id: 'callback', version: 1, createdAt: this.#now(), body: JSON.stringify({ secret }) };
    try {
      await this.#store.commit([{ documents: [{ row, expect: 0 }] }]);
      return secret;
    } catch (error) {
      if (error instanceof FermataError && error.code === 'conflict') return this.callbackSecret(tenant);
      throw error;
    }
  }
}

export function showWebhook({ webhookId, url, types, description, createdAt, disabledReason }: Endpoint): WebhookWire {
  return { webhook_id: webhookId, url, types, description, created_at: showTime(createdAt), disabled_reason: disabledReason };
}

export const showNewWebhook = (endpoint: Endpoint): CreatedWebhookWire => ({ ...showWebhook(endpoint), secret: endpoint.secret });

/** In the form of Standard Webhooks. */
const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

function rowOf(endpoint: Endpoint, version: number) {
  const { tenant, webhookId, createdAt } = endpoint;
  return { kind: KIND, tenant, id: webhookId, version, createdAt, body: JSON.stringify(endpoint) };
}
