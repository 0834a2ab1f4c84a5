/**
 * The tools that each tenant has: those of the configuration, which all have, and those that it has registered.
 *
 * A registered tool is durable when `add` resolves, as a document of the store. A name is taken once; what the configuration
 * has can be neither replaced nor removed. Tools are read from the store once per tenant: one process owns the store.
 */
import { FermataError, type Store } from '@fermata/protocol';
import type { ToolSpec } from '@fermata/protocol/wire';
import { type AddressGuardOptions, createAddressGuard } from './net/address-guard.ts';
import { clientTool } from './sources/client.ts';
import { codeTool, type ToolProgram } from './sources/code.ts';
import { httpTool } from './sources/http.ts';
import { type Tool, type ToolDefinition, toolsByName } from './tool.ts';

export type ToolKind = 'function' | 'http' | 'client' | 'code';

export interface RegisteredTool {
  tool: Tool;
  kind: ToolKind;
  /** null: part of the configuration. */
  createdAt: number | null;
  /** Of kind `code`: what a call runs. Such a tool has no `execute`, and is not to be taken for a client-side one. */
  program?: ToolProgram;
}

export interface ToolRegistry {
  /** By name. */
  list(tenant: string): Promise<RegisteredTool[]>;
  lookup(tenant: string, name: string): Promise<RegisteredTool | undefined>;
  /** Throws `conflict` for a name that is taken, `invalid_request` for a definition that cannot work. */
  add(tenant: string, spec: ToolSpec): Promise<RegisteredTool>;
  /** Throws `not_found`, and `conflict` for a tool of the configuration. */
  remove(tenant: string, name: string): Promise<void>;
}

export interface ToolRegistryOptions {
  store: Pick<Store, 'documents' | 'commit'>;
  /** Tools that every tenant has. */
  tools?: readonly (Tool | ToolDefinition)[];
  /** Which addresses http tools may reach. */
  network?: AddressGuardOptions;
  /** The value of a secret that an http tool names. */
  secret?: (tenant: string, name: string) => string | undefined | Promise<string | undefined>;
  now?: () => number;
}

const KIND = 'tool';
const FORMAT = 1;
type Tools = Map<string, RegisteredTool>;

export function createToolRegistry(options: ToolRegistryOptions): ToolRegistry {
  return new StoredTools(options);
}

class StoredTools implements ToolRegistry {
  readonly #options: ToolRegistryOptions;
  readonly #guard;
  readonly #fixed: Tools;
  readonly #tenants = new Map<string, Promise<Tools>>();

  constructor(options: ToolRegistryOptions) {
    this.#options = options;
    this.#guard = createAddressGuard(options.network);
    const given = [...toolsByName(options.tools ?? [])];
    this.#fixed = new Map(given.map(([name, tool]) => [name, { tool, kind: tool.execute ? 'function' : 'client', createdAt: null }]));
  }

  async list(tenant: string): Promise<RegisteredTool[]> {
    const all = [...this.#fixed.values(), ...(await this.#registered(tenant)).values()];
    return all.sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1));
  }

  async lookup(tenant: string, name: string): Promise<RegisteredTool | undefined> {
    return this.#fixed.get(name) ?? (await this.#registered(tenant)).get(name);
  }

  async add(tenant: string, spec: ToolSpec): Promise<RegisteredTool> {
    const createdAt = (this.#options.now ?? Date.now)();
    const made = this.#make(tenant, spec, createdAt);
    const taken = new FermataError('conflict', `there is a tool ${JSON.stringify(spec.name)} already`, { hint: 'Choose another name, or delete that tool first.' });
    const tools = await this.#registered(tenant);
    if (this.#fixed.has(spec.name) || tools.has(spec.name)) throw taken;
    const row = { kind: KIND, tenant, id: spec.name, version: 1, createdAt, body: JSON.stringify({ format: FORMAT, spec }) };
    await this.#options.store.commit([{ documents: [{ row, expect: 0 }] }]).catch((error: unknown) => {
      throw error instanceof FermataError && error.code === 'conflict' ? taken : error;
    });
    tools.set(spec.name, made);
    return made;
  }

  async remove(tenant: string, name: string): Promise<void> {
    if (this.#fixed.has(name)) throw new FermataError('conflict', `the tool ${JSON.stringify(name)} is part of the configuration`);
    const tools = await this.#registered(tenant);
    if (!tools.has(name)) throw new FermataError('not_found', `there is no tool ${JSON.stringify(name)}`);
    await this.#options.store.commit([{ dropDocuments: [{ kind: KIND, tenant, id: name }] }]);
    tools.delete(name);
  }

  #registered(tenant: string): Promise<Tools> {
    const known = this.#tenants.get(tenant);
    if (known) return known;
    const loading = this.#load(tenant);
    this.#tenants.set(tenant, loading);
    loading.catch(() => this.#tenants.delete(tenant));
    return loading;
  }

  async #load(tenant: string): Promise<Tools> {
    const tools: Tools = new Map();
    let cursor: string | undefined;
    do {
      const page = await this.#options.store.documents({ kind: KIND, tenant, limit: 200, ...(cursor === undefined ? {} : { cursor }) });
      for (const row of page.items) {
        const { format, spec } = JSON.parse(row.body) as { format: number; spec: ToolSpec };
        if (format === FORMAT && !this.#fixed.has(row.id)) tools.set(row.id, this.#make(tenant, spec, row.createdAt));
      }
      cursor = page.cursor;
    } while (cursor !== undefined);
    return tools;
  }

  #make(tenant: string, spec: ToolSpec, createdAt: number): RegisteredTool {
    if (spec.kind === 'code') return { ...codeTool(spec), kind: 'code', createdAt };
    if (spec.kind === 'client') return { tool: clientTool(spec), kind: 'client', createdAt };
    const { secret } = this.#options;
    return { tool: httpTool(spec, { guard: this.#guard, ...(secret ? { secret: (name) => secret(tenant, name) } : {}) }), kind: 'http', createdAt };
  }
}
