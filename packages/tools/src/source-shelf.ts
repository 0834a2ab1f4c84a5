/**
 * The tool sources of one owner: a tenant, or the configuration. A tenant's source is durable when `add` resolves, with what it
 * told of its tools; of the configuration's only the latter is kept. So tools are known before their source can be reached again.
 */
import { createHash } from 'node:crypto';
import { FermataError, type Store } from '@fermata/protocol';
import { type AddressGuardOptions, createAddressGuard } from './net/address-guard.ts';
import { LiveSource } from './sources/live-source.ts';
import { type SourceOpener, sourceOpener } from './sources/open-source.ts';
import type { SecretLookup } from './sources/secret-headers.ts';
import type { SourceSpec } from './sources/source-options.ts';

export interface SourceShelfOptions {
  store: Pick<Store, 'documents' | 'document' | 'commit'>;
  network?: AddressGuardOptions | undefined;
  secret?: SecretLookup | undefined;
  /** Its tools may be others than before. */
  onChanged: () => void;
  now: () => number;
}

const KIND = 'tool_source';
const LISTING = 'tool_source_listing';
const FORMAT = 1;
/** The owner of what is kept of the configuration's sources. */
const CONFIGURATION = '';

interface Kept {
  format: number;
  spec: SourceSpec;
  listing: unknown;
}

export class SourceShelf {
  readonly #options: SourceShelfOptions;
  readonly #sources = new Map<string, LiveSource>();

  constructor(options: SourceShelfOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#sources.size;
  }
  /** By name. */
  all(): LiveSource[] {
    return [...this.#sources.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }
  get(name: string): LiveSource | undefined {
    return this.#sources.get(name);
  }

  /** Those that a tenant has added, in this process or before. They connect in the background. */
  async load(tenant: string): Promise<void> {
    let cursor: string | undefined;
    do {
      const page = await this.#options.store.documents({ kind: KIND, tenant, limit: 50, ...(cursor === undefined ? {} : { cursor }) });
      for (const { body, createdAt } of page.items) {
        const { format, spec, listing } = JSON.parse(body) as Kept;
        if (format !== FORMAT) continue;
        const source = this.#made(await sourceOpener(), spec, { createdAt, listing, save: (next) => this.#keep(tenant, spec, next, createdAt) });
        this.#sources.set(spec.name, source);
        if (source.isStale) void source.connect();
      }
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  /** Connects first. `refuseIfTaken` is asked before it is kept. Throws `source_failed`, `invalid_request`, and what that throws. */
  async add(tenant: string, spec: SourceSpec, refuseIfTaken: () => void): Promise<LiveSource> {
    const createdAt = this.#options.now();
    let listing: unknown;
    const source = this.#made(await sourceOpener(), spec, {
      createdAt,
      save: async (next) => {
        listing = next;
        if (this.#sources.get(spec.name) === source) await this.#keep(tenant, spec, next, createdAt);
      },
    });
    try {
      await source.ask();
      refuseIfTaken();
      this.#sources.set(spec.name, source);
      await this.#keep(tenant, spec, listing, createdAt, 0);
    } catch (error) {
      if (this.#sources.get(spec.name) === source) this.#sources.delete(spec.name);
      await source.close();
      throw error;
    }
    this.#options.onChanged();
    return source;
  }

  async remove(tenant: string, name: string): Promise<void> {
    const source = this.#sources.get(name);
    if (!source) throw new FermataError('not_found', `there is no tool source ${JSON.stringify(name)}`);
    await this.#options.store.commit([{ dropDocuments: [{ kind: KIND, tenant, id: name }] }]);
    this.#sources.delete(name);
    this.#options.onChanged();
    await source.close();
  }

  /** Those of the configuration; resolves when each is connected or failed, or after `waitMs`. One that fails has the tools that it was known to have. */
  async configure(specs: readonly SourceSpec[], waitMs: number): Promise<void> {
    if (specs.length === 0) return;
    const open = await sourceOpener();
    const connecting = specs.map(async (spec) => {
      const digest = createHash('sha256').update(JSON.stringify(spec)).digest('hex');
      const before = await this.#options.store.document(LISTING, CONFIGURATION, spec.name);
      const kept = before ? (JSON.parse(before.body) as { format: number; digest: string; listing: unknown }) : undefined;
      const isKnown = kept?.format === FORMAT && kept.digest === digest;
      const save = async (listing: unknown) => {
        const row = { kind: LISTING, tenant: CONFIGURATION, id: spec.name, version: 1, createdAt: this.#options.now(), body: JSON.stringify({ format: FORMAT, digest, listing }) };
        await this.#options.store.commit([{ documents: [{ row }] }]);
      };
      const source = this.#made(open, spec, { createdAt: null, save, ...(isKnown ? { listing: kept.listing } : {}) });
      this.#sources.set(spec.name, source);
      await source.connect();
    });
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs);
    });
    await Promise.race([Promise.all(connecting), patience]);
    clearTimeout(timer);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sources.values()].map((source) => source.close()));
  }

  #made(
    open: SourceOpener,
    spec: SourceSpec,
    { createdAt, listing, save }: { createdAt: number | null; listing?: unknown; save: (listing: unknown) => Promise<void> },
  ): LiveSource {
    const { network, secret, onChanged } = this.#options;
    const guard = createAddressGuard(createdAt === null ? alsoConfigured(spec, network) : network);
    return new LiveSource({
      ...{ name: spec.name, createdAt, listing },
      open: (told) => open(spec, { guard, secret, ...told }),
      onListing: (next) => {
        onChanged();
        // What is kept is a help for the next start; without it the source is asked.
        void save(next).catch(() => {});
      },
    });
  }

  async #keep(tenant: string, spec: SourceSpec, listing: unknown, createdAt: number, expect?: 0): Promise<void> {
    const { document: _taken, ...options } = spec.options as { document?: unknown };
    const body = JSON.stringify({ format: FORMAT, spec: { ...spec, options }, listing });
    const row = { kind: KIND, tenant, id: spec.name, version: 1, createdAt, body };
    await this.#options.store.commit([{ documents: [{ row, ...(expect === undefined ? {} : { expect }) }] }]);
  }
}

/** Where the configuration itself names an address, that may be a private one. */
function alsoConfigured({ options }: SourceSpec, network: AddressGuardOptions = {}): AddressGuardOptions {
  const { allowPrivate = [] } = network;
  if (typeof allowPrivate === 'boolean' && allowPrivate) return network;
  const urls = [options.url, 'baseUrl' in options ? options.baseUrl : undefined, 'oauth' in options ? options.oauth?.issuer : undefined].filter((url) => url !== undefined);
  const hosts = urls.map((url) => new URL(url).hostname.replace(/^\[|\]$/g, ''));
  return { ...network, allowPrivate: [...(Array.isArray(allowPrivate) ? allowPrivate : []), ...hosts] };
}
