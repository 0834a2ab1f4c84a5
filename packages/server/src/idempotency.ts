/**
 * `Idempotency-Key`: a request that creates something makes it once, however often it is sent.
 *
 * The id of what is made follows from tenant, path and key, so a repeat after a crash finds what the first one made. The engine
 * itself knows a repeat of a task or batch by its id and its request. Of anything else the key is claimed in the store before it
 * is made, with a digest of the request; claims are kept for a day.
 */
import { createHash } from 'node:crypto';
import { FermataError, type Store } from '@fermata/protocol';

export interface Claim {
  /** `suffix` of the id of what is made. */
  token: string;
  /** The same request was here before; it may have made something or not. */
  repeat: boolean;
  /** What the first one told with `settle`. */
  result: unknown;
  /** For what has an id that does not follow from the token. */
  settle(result: unknown): Promise<void>;
}

export interface Idempotency {
  /** The id under which `make` makes a task or batch: `chosen`, or one that follows from the key; undefined without either. */
  once<T>(tenant: string, key: string | undefined, place: { path: string; prefix: string; chosen: string | undefined }, make: (id: string | undefined) => Promise<T>): Promise<T>;
  /** Undefined without a key. Throws `conflict` where the key was used for another request. */
  claim(tenant: string, key: string | undefined, path: string, body: unknown): Promise<Claim | undefined>;
}

const KIND = 'idempotency';
const KEPT_MS = 24 * 3_600_000;
/** Old claims are looked for at every so manieth new one. */
const SWEEP_EVERY = 50;

export function createIdempotency(store: Pick<Store, 'document' | 'documents' | 'commit'>, now: () => number): Idempotency {
  let claims = 0;
  return {
    async once(tenant, key, { path, prefix, chosen }, make) {
      if (chosen !== undefined || key === undefined) return make(chosen);
      const id = `${prefix}_${tokenOf(tenant, path, key)}`;
      try {
        return await make(id);
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
      // Of two at the same moment the slower one finds what the other has made.
      return make(id).catch((error: unknown) => {
        throw isConflict(error) ? usedBefore() : error;
      });
    },
    async claim(tenant, key, path, body) {
      if (key === undefined) return undefined;
      const id = digest(key);
      const asked = digest(`${path}\n${body instanceof Uint8Array ? digest(body) : canonical(body)}`);
      const token = tokenOf(tenant, path, key);
      const row = (version: number, result?: unknown) => ({ kind: KIND, tenant, id, version, createdAt: now(), body: JSON.stringify({ asked, result }) });
      const settle = (result: unknown) => store.commit([{ documents: [{ row: row(2, result) }] }]);
      if (claims++ % SWEEP_EVERY === 0) await sweep(store, tenant, now() - KEPT_MS);
      try {
        await store.commit([{ documents: [{ row: row(1), expect: 0 }] }]);
        return { token, repeat: false, result: undefined, settle };
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
      const before = JSON.parse((await store.document(KIND, tenant, id))?.body ?? '{}') as { asked?: string; result?: unknown };
      if (before.asked !== asked) throw usedBefore();
      return { token, repeat: true, result: before.result, settle };
    },
  };
}

async function sweep(store: Pick<Store, 'documents' | 'commit'>, tenant: string, before: number): Promise<void> {
  const { items } = await store.documents({ kind: KIND, tenant, limit: 200 });
  const old = items.filter(({ createdAt }) => createdAt < before);
  if (old.length > 0) await store.commit([{ dropDocuments: old.map(({ kind, id }) => ({ kind, tenant, id })) }]);
}

/** JSON in which keys are in order, so that the same body has the same text. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}

const tokenOf = (tenant: string, path: string, key: string) => digest(`${tenant}\n${path}\n${key}`).slice(0, 32);
const isConflict = (error: unknown) => error instanceof FermataError && error.code === 'conflict';
const usedBefore = () =>
  new FermataError('conflict', 'this Idempotency-Key was used for another request', { hint: 'Make a new key for each request, and send the same one only to repeat it.' });
const digest = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex');
