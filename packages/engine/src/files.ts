/** Files that tenants have put in for their tasks. Each is a blob, and a document that holds its name. */
import { randomBytes } from 'node:crypto';
import { FermataError, type Store } from '@fermata/protocol';

const KIND = 'file';

/** The blob of a file that a tenant has put in; the `files` of a request name it. */
export function fileBlob(tenant: string, fileId: string): string {
  return `file_${tenant}_${fileId}`;
}

export class Files {
  readonly #store: Store;
  readonly #now: () => number;

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  async put(tenant: string, name: string, data: Uint8Array): Promise<{ fileId: string; bytes: number }> {
    const fileId = `file_${randomBytes(10).toString('hex')}`;
    await this.#store.putBlob(fileBlob(tenant, fileId), data);
    const body = JSON.stringify({ name, bytes: data.length });
    await this.#store.commit([{ documents: [{ row: { kind: KIND, tenant, id: fileId, version: 1, createdAt: this.#now(), body }, expect: 0 }] }]);
    return { fileId, bytes: data.length };
  }

  async get(tenant: string, fileId: string): Promise<{ name: string; data: Uint8Array } | undefined> {
    const row = await this.#store.document(KIND, tenant, fileId);
    const data = row && (await this.#store.blob(fileBlob(tenant, fileId)));
    return row && data ? { name: (JSON.parse(row.body) as { name: string }).name, data } : undefined;
  }

  async drop(tenant: string, fileId: string): Promise<void> {
    if (!(await this.#store.document(KIND, tenant, fileId))) throw new FermataError('not_found', `there is no file ${fileId}`);
    await this.#store.dropBlob(fileBlob(tenant, fileId));
    await this.#store.commit([{ dropDocuments: [{ kind: KIND, tenant, id: fileId }] }]);
  }
}
