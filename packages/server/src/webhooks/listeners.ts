/**
 * Which tenants have standing endpoints, known without asking the store: an engine asks at the end of every task, and puts a
 * message for all endpoints into the outbox only where there are some. Loaded before the engine starts, so that none is missed.
 */
import type { Store } from '@fermata/protocol';

export const WEBHOOK_KIND = 'webhook';

export interface WebhookListeners {
  load(store: Pick<Store, 'documents'>): Promise<void>;
  has(tenant: string): boolean;
  set(tenant: string, some: boolean): void;
}

export function createWebhookListeners(): WebhookListeners {
  const tenants = new Set<string>();
  return {
    async load(store) {
      let cursor: string | undefined;
      do {
        const page = await store.documents({ kind: WEBHOOK_KIND, limit: 500, ...(cursor === undefined ? {} : { cursor }) });
        for (const { tenant } of page.items) tenants.add(tenant);
        cursor = page.cursor;
      } while (cursor !== undefined);
    },
    has: (tenant) => tenants.has(tenant),
    set(tenant, some) {
      if (some) tenants.add(tenant);
      else tenants.delete(tenant);
    },
  };
}
