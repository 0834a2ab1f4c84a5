/**
 * The tools that each tenant has: those of the configuration, which all have, those that it has registered, and those of tool
 * sources of both kinds.
 *
 * A registered tool or source is durable when `add` resolves, as a document of the store. A name is taken once; what the
 * configuration has can be neither replaced nor removed. They are read from the store once per tenant: one process owns the store.
 */
import { FermataError, type Store } from '@fermata/protocol';
import type { ToolSourceSpec, ToolSpec } from '@fermata/protocol/wire';
import { type AddressGuardOptions, createAddressGuard } from './net/address-guard.ts';
import { SourceShelf } from './source-shelf.ts';
import { clientTool } from './sources/client.ts';
import { codeTool, type ToolProgram } from './sources/code.ts';
import { httpTool } from './sources/http.ts';
import type { LiveSource } from './sources/live-source.ts';
import { sourceSpecOf, sourceSpecs, type ToolSourcesOptions } from './sources/source-options.ts';
import { type Tool, type ToolDefinition, toolsByName } from './tool.ts';

export type ToolKind = 'function' | 'http' | 'client' | 'code' | 'mcp' | 'openapi';

export interface RegisteredTool {
  tool: Tool;
  kind: ToolKind;
  /** null: part of the configuration. */
  createdAt: number | null;
  /** Of kind `code`: what a call runs. Such a tool has no `execute`, and is not to be taken for a client-side one. */
  program?: ToolProgram;
  /** The tool source that it is from, and what that calls it. */
  source?: string;
  originalName?: string;
}

export interface ToolRegistry extends AsyncDisposable {
  /** By name; the same list as before while nothing has changed. */
  list(tenant: string): Promise<readonly RegisteredTool[]>;
  lookup(tenant: string, name: string): Promise<RegisteredTool | undefined>;
  /** Throws `conflict` for a name that is taken, `invalid_request` for a definition that cannot work. */
  add(tenant: string, spec: ToolSpec): Promise<RegisteredTool>;
  /** Throws `not_found`, and `conflict` for a tool of the configuration or of a tool source. */
  remove(tenant: string, name: string): Promise<void>;
  /** By name. */
  sources(tenant: string): Promise<LiveSource[]>;
  source(tenant: string, name: string): Promise<LiveSource | undefined>;
  /**
   * Connects it first. Throws `source_failed` where that fails, `conflict` for a name that is taken, `invalid_request` for what
   * cannot work, `forbidden` for a command where those are not allowed.
   */
  addSource(tenant: string, spec: ToolSourceSpec): Promise<LiveSource>;
  /** Throws `not_found`, and `conflict` for a source of the configuration. */
  removeSource(tenant: string, name: string): Promise<void>;
  /** Connects the sources of the configuration; resolves when each is connected or failed, or after `waitMs`. */
  connect(waitMs: number): Promise<void>;
  /** Ends the connections of all sources. */
  close(): Promise<void>;
}

export interface ToolRegistryOptions {
  store: Pick<Store, 'document' | 'documents' | 'commit'>;
  /** Tools that every tenant has. */
  tools?: readonly (Tool | ToolDefinition)[];
  /** Tool sources that every tenant has. */
  sources?: ToolSourcesOptions;
  /** Which addresses http tools and tool sources may reach. */
  network?: AddressGuardOptions;
  /** The value of a secret that an http tool or a tool source names. */
  secret?: (tenant: string, name: string) => string | undefined | Promise<string | undefined>;
  /** Tenants may have MCP servers started as processes of this machine. Default: false. */
  allowSourceCommands?: boolean;
  now?: () => number;
}

const KIND = 'tool';
const FORMAT = 1;
/** Built-in tools, and the group of those that network access is; a source of such a name would hide them. */
const BUILT_IN = new Set(['search', 'describe', 'review', 'network']);
type Tools = Map<string, RegisteredTool>;
interface Tenant {
  tools: Tools;
  /** Names of tools that are being added. */
  adding: Set<string>;
  sources: SourceShelf;
}

export function createToolRegistry(options: ToolRegistryOptions): ToolRegistry {
  return new StoredTools(options);
}

class StoredTools implements ToolRegistry {
  readonly #options: ToolRegistryOptions;
  readonly #guard;
  readonly #fixed: Tools;
  readonly #fixedSpecs;
  readonly #fixedSources: SourceShelf;
  readonly #tenants = new Map<string, Promise<Tenant>>();
  /** What `list` and `lookup` tell, until something changes. */
  readonly #views = new Map<string, { list: RegisteredTool[]; byName: Tools }>();

  constructor(options: ToolRegistryOptions) {
    this.#options = options;
    this.#guard = createAddressGuard(options.network);
    const given = [...toolsByName(options.tools ?? [])];
    this.#fixed = new Map(given.map(([name, tool]) => [name, { tool, kind: tool.execute ? 'function' : 'client', createdAt: null }]));
    this.#fixedSpecs = sourceSpecs(options.sources ?? {});
    const clash = this.#fixedSpecs.find(({ name }) => BUILT_IN.has(name) || given.some(([tool]) => rootOf(tool) === name));
    if (clash) throw new FermataError('invalid_request', `a tool source cannot be named ${clash.name}: there is a tool of that name`);
    this.#fixedSources = this.#shelf('', () => this.#views.clear());
  }

  async list(tenant: string): Promise<readonly RegisteredTool[]> {
    return (await this.#view(tenant)).list;
  }

  async lookup(tenant: string, name: string): Promise<RegisteredTool | undefined> {
    return (await this.#view(tenant)).byName.get(name);
  }

  async add(tenant: string, spec: ToolSpec): Promise<RegisteredTool> {
    const createdAt = (this.#options.now ?? Date.now)();
    const made = this.#make(tenant, spec, createdAt);
    const { tools, adding, sources } = await this.#registered(tenant);
    const taken = new FermataError('conflict', `there is a tool ${JSON.stringify(spec.name)} already`, { hint: 'Choose another name, or delete that tool first.' });
    if (this.#fixed.has(spec.name) || tools.has(spec.name)) throw taken;
    const source = rootOf(spec.name);
    if (this.#isFixedSource(source) || sources.get(source)) throw new FermataError('conflict', `${JSON.stringify(source)} is a tool source`, { hint: 'Choose another name.' });
    const row = { kind: KIND, tenant, id: spec.name, version: 1, createdAt, body: JSON.stringify({ format: FORMAT, spec }) };
    adding.add(spec.name);
    try {
      await this.#options.store.commit([{ documents: [{ row, expect: 0 }] }]);
    } catch (error) {
      throw error instanceof FermataError && error.code === 'conflict' ? taken : error;
    } finally {
      adding.delete(spec.name);
    }
    tools.set(spec.name, made);
    this.#views.delete(tenant);
    return made;
  }

  async remove(tenant: string, name: string): Promise<void> {
    if (this.#fixed.has(name)) throw new FermataError('conflict', `the tool ${JSON.stringify(name)} is part of the configuration`);
    const { tools } = await this.#registered(tenant);
    const source = (await this.lookup(tenant, name))?.source;
    if (source !== undefined) throw new FermataError('conflict', `the tool ${JSON.stringify(name)} is of the tool source ${JSON.stringify(source)}`);
    if (!tools.has(name)) throw new FermataError('not_found', `there is no tool ${JSON.stringify(name)}`);
    await this.#options.store.commit([{ dropDocuments: [{ kind: KIND, tenant, id: name }] }]);
    tools.delete(name);
    this.#views.delete(tenant);
  }

  async sources(tenant: string): Promise<LiveSource[]> {
    const all = [...this.#fixedSources.all(), ...this.#own(await this.#registered(tenant))];
    return all.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async source(tenant: string, name: string): Promise<LiveSource | undefined> {
    return (await this.sources(tenant)).find((source) => source.name === name);
  }

  async addSource(tenant: string, given: ToolSourceSpec): Promise<LiveSource> {
    const spec = sourceSpecOf(given);
    const { name } = spec;
    if (spec.kind === 'mcp' && spec.options.command !== undefined && !this.#options.allowSourceCommands) {
      throw new FermataError('forbidden', 'this server starts no MCP servers that are asked for over the wire', {
        hint: 'Give the url of one that runs, or put it into the tools file of the server.',
      });
    }
    const { tools, adding, sources } = await this.#registered(tenant);
    const refuseIfTaken = () => {
      if (this.#isFixedSource(name) || sources.get(name))
        throw new FermataError('conflict', `there is a tool source ${JSON.stringify(name)} already`, { hint: 'Choose another name, or delete it first.' });
      const isTool = BUILT_IN.has(name) || [...this.#fixed.keys(), ...tools.keys(), ...adding].some((tool) => rootOf(tool) === name);
      if (isTool) throw new FermataError('conflict', `there is a tool, or a group of tools, ${JSON.stringify(name)} already`, { hint: 'Choose another name.' });
    };
    refuseIfTaken();
    return sources.add(tenant, spec, refuseIfTaken);
  }

  async removeSource(tenant: string, name: string): Promise<void> {
    if (this.#isFixedSource(name)) throw new FermataError('conflict', `the tool source ${JSON.stringify(name)} is part of the configuration`);
    await (await this.#registered(tenant)).sources.remove(tenant, name);
  }

  connect(waitMs: number): Promise<void> {
    return this.#fixedSources.configure(this.#fixedSpecs, waitMs);
  }

  async close(): Promise<void> {
    const tenants = await Promise.all([...this.#tenants.values()].map((tenant) => tenant.catch(() => undefined)));
    await Promise.all([this.#fixedSources, ...tenants.flatMap((tenant) => tenant?.sources ?? [])].map((shelf) => shelf.close()));
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #view(tenant: string): Promise<{ list: RegisteredTool[]; byName: Tools }> {
    const registered = await this.#registered(tenant);
    const known = this.#views.get(tenant);
    if (known) return known;
    const byName: Tools = new Map(registered.tools);
    for (const source of [...this.#own(registered), ...this.#fixedSources.all()]) {
      const { kind, createdAt, name } = source;
      for (const { tool, originalName } of source.tools) byName.set(tool.name, { tool, kind, createdAt, source: name, originalName });
    }
    for (const [name, tool] of this.#fixed) byName.set(name, tool);
    const list = [...byName.values()].sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1));
    const view = { list, byName };
    this.#views.set(tenant, view);
    return view;
  }

  /** Without those whose name the configuration has by now. */
  #own({ sources }: Tenant): LiveSource[] {
    return sources.all().filter(({ name }) => !this.#isFixedSource(name) && ![...this.#fixed.keys()].some((tool) => rootOf(tool) === name));
  }
  #isFixedSource(name: string): boolean {
    return this.#fixedSpecs.some((spec) => spec.name === name);
  }

  #registered(tenant: string): Promise<Tenant> {
    const known = this.#tenants.get(tenant);
    if (known) return known;
    const loading = this.#load(tenant);
    this.#tenants.set(tenant, loading);
    loading.catch(() => this.#tenants.delete(tenant));
    return loading;
  }

  async #load(tenant: string): Promise<Tenant> {
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
    const sources = this.#shelf(tenant, () => this.#views.delete(tenant));
    await sources.load(tenant);
    return { tools, adding: new Set(), sources };
  }

  #shelf(tenant: string, onChanged: () => void): SourceShelf {
    const { store, network, secret, now = Date.now } = this.#options;
    return new SourceShelf({ store, network, secret: secret && ((name) => secret(tenant, name)), onChanged, now });
  }

  #make(tenant: string, spec: ToolSpec, createdAt: number): RegisteredTool {
    if (spec.kind === 'code') return { ...codeTool(spec), kind: 'code', createdAt };
    if (spec.kind === 'client') return { tool: clientTool(spec), kind: 'client', createdAt };
    const { secret } = this.#options;
    return { tool: httpTool(spec, { guard: this.#guard, ...(secret ? { secret: (name) => secret(tenant, name) } : {}) }), kind: 'http', createdAt };
  }
}

/** The group that a tool is in, or else its name. */
function rootOf(tool: string): string {
  return tool.split('.', 1)[0] as string;
}
