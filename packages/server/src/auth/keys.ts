/**
 * API keys: 256 random bits each, of which only the SHA-256 is kept, as a document of the store.
 *
 * A key belongs to one tenant. It is found by the first part of its hash and compared whole, in constant time. A revoked key
 * does not work from the moment at which `revoke` has resolved.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { FermataError, type Store } from '@fermata/protocol';
import type { Caller, Scope } from './caller.ts';

export interface KeyInfo {
  keyId: string;
  tenant: string;
  name: string;
  scopes: Scope[];
  createdAt: number;
  expiresAt: number | null;
}

export interface NewKey {
  tenant: string;
  scopes: readonly Scope[];
  name?: string;
  expiresAt?: number;
}

export interface KeyStore {
  /** The key itself is told here and never again. */
  create(key: NewKey): Promise<KeyInfo & { key: string }>;
  /** All, or those of one tenant. */
  list(tenant?: string): Promise<KeyInfo[]>;
  /** Throws `not_found`. */
  revoke(keyId: string): Promise<void>;
  /** Whose key it is, if it is one. */
  caller(key: string): Promise<Caller | undefined>;
}

const KIND = 'api_key';
/** Keys are looked up before their tenant is known, so they all lie under one that no key can have. */
const SHELF = '';
const FORM = /^fm_[A-Za-z0-9_-]{43}$/;

interface Kept extends KeyInfo {
  hash: string;
}

export function createKeyStore(store: Pick<Store, 'document' | 'documents' | 'commit'>, now: () => number = Date.now): KeyStore {
  return {
    async create({ tenant, scopes, name = '', expiresAt }) {
      if (tenant === '') throw new FermataError('invalid_request', 'a key needs a tenant');
      const key = newKey();
      const hash = hashOf(key);
      const info = { keyId: idOf(hash), tenant, name, scopes: [...scopes], createdAt: now(), expiresAt: expiresAt ?? null };
      const row = { kind: KIND, tenant: SHELF, id: info.keyId, version: 1, createdAt: info.createdAt, body: JSON.stringify({ ...info, hash } satisfies Kept) };
      await store.commit([{ documents: [{ row, expect: 0 }] }]);
      return { ...info, key };
    },
    async list(tenant) {
      const all: KeyInfo[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.documents({ kind: KIND, tenant: SHELF, limit: 200, ...(cursor === undefined ? {} : { cursor }) });
        all.push(...page.items.map(({ body }) => withoutHash(JSON.parse(body) as Kept)));
        cursor = page.cursor;
      } while (cursor !== undefined);
      return tenant === undefined ? all : all.filter((info) => info.tenant === tenant);
    },
    async revoke(keyId) {
      if (!(await store.document(KIND, SHELF, keyId))) throw new FermataError('not_found', `there is no key ${keyId}`);
      await store.commit([{ dropDocuments: [{ kind: KIND, tenant: SHELF, id: keyId }] }]);
    },
    async caller(key) {
      if (!FORM.test(key)) return undefined;
      const hash = hashOf(key);
      const row = await store.document(KIND, SHELF, idOf(hash));
      if (!row) return undefined;
      const kept = JSON.parse(row.body) as Kept;
      if (!sameText(kept.hash, hash) || (kept.expiresAt !== null && kept.expiresAt <= now())) return undefined;
      return { tenant: kept.tenant, scopes: kept.scopes, by: kept.name || `key ${kept.keyId}` };
    },
  };
}

export const newKey = () => `fm_${randomBytes(32).toString('base64url')}`;
export const hashOf = (key: string) => createHash('sha256').update(key).digest('hex');
/** In a time that does not depend on where they differ. */
export const sameText = (a: string, b: string) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

const idOf = (hash: string) => hash.slice(0, 16);
const withoutHash = ({ hash: _hash, ...info }: Kept): KeyInfo => info;
