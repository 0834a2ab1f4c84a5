/** What was told to whom and how it went: one document for each delivery, kept for a week after its end. */
import { type DocumentRow, FermataError, type Store } from '@fermata/protocol';
import type { DeliveryPageWire, DeliveryWire } from '@fermata/protocol/wire';
import { showMaybeTime, showTime } from '../show/time.ts';

/** Body of an outbox row of kind `webhook`. With neither `url` nor `webhook_id` it is for all endpoints that want its type. */
export interface WebhookBody {
  url?: string;
  webhook_id?: string;
  type: string;
  task_id?: string;
  batch_id?: string;
}

export interface Delivery extends WebhookBody {
  id: string;
  url: string;
  status: 'pending' | 'delivered' | 'failed';
  createdAt: number;
  nextAt: number | null;
  tries: number;
  /** The last ones. */
  attempts: { at: number; status: number | null; error: string | null; durationMs: number }[];
}

const KIND = 'webhook_delivery';
const KEPT_MS = 7 * 24 * 3_600_000;
const ATTEMPTS_KEPT = 20;
const SWEEP_LIMIT = 20;

export class DeliveryLog {
  readonly #store: Pick<Store, 'document' | 'documents' | 'commit'>;

  constructor(store: Pick<Store, 'document' | 'documents' | 'commit'>) {
    this.#store = store;
  }

  async get(tenant: string, id: string): Promise<Delivery> {
    const found = await this.find(tenant, id);
    if (!found) throw new FermataError('not_found', `there is no delivery ${id}`);
    return found;
  }

  async find(tenant: string, id: string): Promise<Delivery | undefined> {
    const row = await this.#store.document(KIND, tenant, id);
    return row && (JSON.parse(row.body) as Delivery);
  }

  /** Oldest first. */
  async list(tenant: string, query: { cursor?: string | undefined; limit: number }): Promise<DeliveryPageWire> {
    const page = await this.#store.documents({ kind: KIND, tenant, limit: query.limit, ...(query.cursor === undefined ? {} : { cursor: query.cursor }) });
    const items = page.items.map(({ body }) => showDelivery(JSON.parse(body) as Delivery));
    return { items, ...(page.cursor === undefined ? {} : { cursor: page.cursor }) };
  }

  /** The documents that a commit puts and drops so that this is logged, and old ones go. */
  async entry(tenant: string, delivery: Delivery, now: number): Promise<{ documents: { row: DocumentRow }[]; dropDocuments: Pick<DocumentRow, 'kind' | 'tenant' | 'id'>[] }> {
    const body = JSON.stringify({ ...delivery, attempts: delivery.attempts.slice(-ATTEMPTS_KEPT) });
    const row = { kind: KIND, tenant, id: delivery.id, version: delivery.tries + 1, createdAt: delivery.createdAt, body };
    const { items } = await this.#store.documents({ kind: KIND, tenant, limit: SWEEP_LIMIT });
    const old = items.filter(({ id, createdAt, body: text }) => id !== delivery.id && createdAt < now - KEPT_MS && (JSON.parse(text) as Delivery).status !== 'pending');
    return { documents: [{ row }], dropDocuments: old.map(({ id }) => ({ kind: KIND, tenant, id })) };
  }
}

export function showDelivery(delivery: Delivery): DeliveryWire {
  return {
    delivery_id: delivery.id,
    webhook_id: delivery.webhook_id ?? null,
    url: delivery.url,
    type: delivery.type,
    task_id: delivery.task_id ?? null,
    batch_id: delivery.batch_id ?? null,
    status: delivery.status,
    created_at: showTime(delivery.createdAt),
    next_at: showMaybeTime(delivery.nextAt),
    tries: delivery.tries,
    attempts: delivery.attempts.map(({ at, status, error, durationMs }) => ({ at: showTime(at), status, error, duration_ms: durationMs })),
  };
}
