/** Batches: tasks that were submitted together, and are counted, limited and cancelled together. */
import { type DocumentRow, ENDED, type Entry, FermataError, type Store, type TaskRow } from '@fermata/protocol';
import type { BatchView } from './engine-api.ts';
import { sameRequest } from './submission.ts';

interface BatchBody {
  task_ids: string[];
  max_concurrency: number | null;
  callback_url: string | null;
  ended_at: number | null;
}
const KIND = 'batch';

export class Batches {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #listens: (tenant: string) => boolean;
  /** How many tasks of a batch may run at the same time, where that is limited. */
  readonly #widths = new Map<string, number>();

  constructor(store: Store, now: () => number, listens: (tenant: string) => boolean) {
    this.#store = store;
    this.#now = now;
    this.#listens = listens;
  }

  widthOf(tenant: string, batchId: string): number | null {
    return this.#widths.get(`${tenant}/${batchId}`) ?? null;
  }
  async create(
    tenant: string,
    batchId: string,
    rows: readonly { row: TaskRow; entry: Entry }[],
    { maxConcurrency, callbackUrl }: { maxConcurrency?: number; callbackUrl?: string },
  ): Promise<void> {
    const body: BatchBody = {
      task_ids: rows.map(({ row }) => row.taskId),
      max_concurrency: maxConcurrency ?? null,
      callback_url: callbackUrl ?? null,
      ended_at: rows.length === 0 ? this.#now() : null,
    };
    const document: DocumentRow = { kind: KIND, tenant, id: batchId, version: 1, createdAt: this.#now(), body: JSON.stringify(body) };
    if (maxConcurrency !== undefined) this.#widths.set(`${tenant}/${batchId}`, maxConcurrency);
    await this.#store.commit([{ documents: [{ row: document, expect: 0 }] }, ...rows.map(({ row, entry }) => ({ task: { row, expect: 0 }, entries: [entry] }))]);
  }

  /** The batch of this id, if it is there and is of the same tasks. Throws `conflict` if it is of others. */
  async repeated(tenant: string, batchId: string, rows: readonly { row: TaskRow }[]): Promise<BatchView | undefined> {
    const found = await this.#read(tenant, batchId);
    if (!found) return undefined;
    const before = await Promise.all(found.body.task_ids.map((taskId) => this.#store.task({ tenant, taskId })));
    const same = before.length === rows.length && rows.every(({ row }, i) => before[i] !== undefined && sameRequest(row.request, before[i].request));
    if (!same) throw new FermataError('conflict', `there is a batch ${batchId} already, of other tasks`);
    return this.view(tenant, batchId);
  }

  async view(tenant: string, batchId: string): Promise<BatchView> {
    const found = await this.#read(tenant, batchId);
    if (!found) throw new FermataError('not_found', `there is no batch ${batchId}`);
    const { task_ids, max_concurrency, ended_at } = found.body;
    const counts = await this.#store.counts(tenant, batchId);
    return { batchId, createdAt: found.row.createdAt, counts, total: task_ids.length, maxConcurrency: max_concurrency, taskIds: task_ids, endedAt: ended_at };
  }

  /** A task of it has ended, durably: with the last one the batch ends. */
  async onEnded({ tenant, batchId }: Pick<TaskRow, 'tenant' | 'batchId'>): Promise<void> {
    if (batchId === null) return;
    const counts = await this.#store.counts(tenant, batchId);
    if (Object.entries(counts).some(([status, count]) => count > 0 && !(ENDED as readonly string[]).includes(status))) return;
    const found = await this.#read(tenant, batchId);
    if (!found || found.body.ended_at !== null) return;
    const now = this.#now();
    const row: DocumentRow = { ...found.row, version: found.row.version + 1, body: JSON.stringify({ ...found.body, ended_at: now }) };
    const url = found.body.callback_url;
    const message = { type: 'batch.ended', batch_id: batchId };
    const told = [...(url === null ? [] : [{ id: `msg_${batchId}`, body: { url, ...message } }]), ...(this.#listens(tenant) ? [{ id: `msg_${batchId}_all`, body: message }] : [])];
    const outbox = told.map(({ id, body }) => ({ id, tenant, taskId: null, kind: 'webhook', dueAt: now, tries: 0, body: JSON.stringify(body) }));
    try {
      await this.#store.commit([{ documents: [{ row, expect: found.row.version }], outbox }]);
    } catch (error) {
      // Another task of it has ended at the same time, and has done this.
      if (!(error instanceof FermataError) || error.code !== 'conflict') throw error;
    }
    this.#widths.delete(`${tenant}/${batchId}`);
  }

  /** Ends those whose last task ended when there was no time left for it, and learns the widths of the others. */
  async start(): Promise<void> {
    let cursor: string | undefined;
    do {
      const page = await this.#store.documents({ kind: KIND, ...(cursor === undefined ? {} : { cursor }), limit: 500 });
      for (const { tenant, id, body } of page.items) {
        const { ended_at, max_concurrency } = JSON.parse(body) as BatchBody;
        if (ended_at !== null) continue;
        if (max_concurrency !== null) this.#widths.set(`${tenant}/${id}`, max_concurrency);
        await this.onEnded({ tenant, batchId: id });
      }
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  async #read(tenant: string, batchId: string): Promise<{ row: DocumentRow; body: BatchBody } | undefined> {
    const row = await this.#store.document(KIND, tenant, batchId);
    return row && { row, body: JSON.parse(row.body) as BatchBody };
  }
}
