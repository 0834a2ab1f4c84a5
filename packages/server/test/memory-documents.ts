/** Documents and outbox of a store in memory, with the fences that the contract of stores asks for. */
import { type Commit, type DocumentRow, FermataError, type OutboxRow } from '@fermata/protocol';
import type { ServerStore } from '../src/server-options.ts';

export class MemoryDocuments implements ServerStore {
  readonly rows = new Map<string, DocumentRow>();
  readonly outbox = new Map<string, OutboxRow>();

  async commit(commits: readonly Commit[]): Promise<void> {
    for (const { documents = [] } of commits) {
      for (const { row, expect } of documents) {
        if (expect !== undefined && (this.rows.get(keyOf(row))?.version ?? 0) !== expect) throw new FermataError('conflict', `the document ${row.id} has changed`);
      }
    }
    for (const { documents = [], dropDocuments = [], outbox = [], dropOutbox = [] } of commits) {
      for (const { row } of documents) this.rows.set(keyOf(row), row);
      for (const row of dropDocuments) this.rows.delete(keyOf(row));
      for (const id of dropOutbox) this.outbox.delete(id);
      for (const row of outbox) this.outbox.set(row.id, row);
    }
  }

  async document(kind: string, tenant: string, id: string): Promise<DocumentRow | undefined> {
    return this.rows.get(keyOf({ kind, tenant, id }));
  }

  async documents({ kind, tenant, cursor, limit }: { kind: string; tenant: string; cursor?: string; limit: number }) {
    const all = [...this.rows.values()].filter((row) => row.kind === kind && row.tenant === tenant);
    const from = Number(cursor ?? 0);
    const items = all.slice(from, from + limit);
    return from + limit < all.length ? { items, cursor: String(from + limit) } : { items };
  }

  async outboxDue(now: number, limit: number): Promise<OutboxRow[]> {
    const due = [...this.outbox.values()].filter(({ dueAt }) => dueAt !== null && dueAt <= now);
    return due.sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0)).slice(0, limit);
  }

  async blob(): Promise<undefined> {}

  async nextOutboxDue(): Promise<number | undefined> {
    const times = [...this.outbox.values()].flatMap(({ dueAt }) => (dueAt === null ? [] : [dueAt]));
    return times.length > 0 ? Math.min(...times) : undefined;
  }
}

const keyOf = ({ kind, tenant, id }: Pick<DocumentRow, 'kind' | 'tenant' | 'id'>) => JSON.stringify([kind, tenant, id]);
