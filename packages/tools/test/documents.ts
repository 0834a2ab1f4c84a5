/** The documents of a store, in memory. */
import { type Commit, type DocumentRow, FermataError } from '@fermata/protocol';

export function documents() {
  const rows = new Map<string, DocumentRow>();
  const keyOf = ({ kind, tenant, id }: Pick<DocumentRow, 'kind' | 'tenant' | 'id'>) => JSON.stringify([kind, tenant, id]);
  return {
    rows,
    async commit(commits: readonly Commit[]) {
      for (const { documents: put = [], dropDocuments = [] } of commits) {
        for (const { row, expect: version } of put) {
          if (version === 0 && rows.has(keyOf(row))) throw new FermataError('conflict', 'it is there');
          rows.set(keyOf(row), row);
        }
        for (const row of dropDocuments) rows.delete(keyOf(row));
      }
    },
    async document(kind: string, tenant: string, id: string) {
      return rows.get(keyOf({ kind, tenant, id }));
    },
    async documents({ kind, tenant }: { kind: string; tenant?: string }) {
      return { items: [...rows.values()].filter((row) => row.kind === kind && row.tenant === tenant) };
    },
  };
}
