/**
 * An engine of durable tasks with everything that it stands on: a store in a data folder or in memory, a host of machines,
 * tools and their policy.
 *
 * The folder belongs to one engine at a time; see docs/store.md for what lies in it.
 */
import type { Engine, EngineOptions, FolderOwner } from '@fermata/engine';
import { createChildHost, createThreadHost } from '@fermata/machine';
import type { ModelsOptions } from '@fermata/models';
import {
  type ErrorCode,
  FermataError,
  imageOfLanguage,
  type Language,
  type Models,
  type PolicyRule,
  parseOptions,
  programRequest,
  type SealKey,
  type Store,
  type TaskRequest,
} from '@fermata/protocol';
import { strictOptions } from '@fermata/protocol/schemas';
import type { Tool, ToolDefinition } from '@fermata/tools';
import type { Finding } from '@fermata/tools/check';
import type { AddedHeader, PolicyBook, ToolRegistry, ToolRegistryOptions, ToolSourcesOptions } from '@fermata/tools/registry';
import { z } from 'zod';
import { checkableTask, checkInFull, checkTask, prepareCheck } from './check-program.ts';
import type { engineTools } from './engine-tools.ts';
import type { FermataOptions } from './fermata-options.ts';
import { hintOf } from './hints.ts';
import { folderKey } from './seal-key-file.ts';
import { prepareSource } from './source.ts';
import type { TaskError } from './task-result.ts';

type ToolList = readonly (Tool | ToolDefinition)[];

/** What tasks may call, and the rules for it. */
export interface Equipment {
  tools: ToolList;
  sources?: ToolSourcesOptions;
  policy?: readonly PolicyRule[];
}

export interface OpenEngineOptions
  extends Pick<FermataOptions, 'host' | 'threads' | 'jail' | 'maxResidentBytes' | 'cacheDir' | 'limits' | 'oldKeys'>,
    Pick<
      EngineOptions,
      'maxRunning' | 'maxRunningPerTenant' | 'maxQueued' | 'checkpointEveryCpuMs' | 'keepForTimerMs' | 'cancelGraceMs' | 'retentionMs' | 'worker' | 'moment' | 'goesOn'
    > {
  /** The data folder, made if it is missing. Without it everything is kept in memory, and gone with the process. */
  folder?: string;
  /** Tools that all tasks may call. A function is asked once the store is open; it may tell of sources and rules too. */
  tools?: ToolList | ((store: Store) => ToolList | Equipment | Promise<ToolList | Equipment>);
  /**
   * MCP servers and OpenAPI documents whose tools all tasks may call, as `tools.<source>.<tool>`. One that cannot be reached keeps
   * nothing from starting; see `registry.sources`.
   */
  sources?: ToolSourcesOptions;
  /** How long the start waits for sources that connect. Default: 30 s. */
  sourcesWaitMs?: number;
  /** Tenants may have MCP servers started as processes of this machine. Default: false. */
  allowSourceCommands?: boolean;
  /** Rules for all tasks of all tenants, beside their own. */
  policy?: readonly PolicyRule[];
  /** Which addresses http tools, tool sources, and programs whose task has network access, may reach besides public ones. */
  network?: ToolRegistryOptions['network'];
  /** Headers that are added to requests of programs to some hosts; no program sees their values. */
  networkHeaders?: readonly AddedHeader[];
  /** Addresses that a task's network access says, and `localhost`, may be private: for a folder whose tasks are all its owner's. */
  trustHosts?: boolean;
  /** Whether a task may ask for all public hosts (`hosts: true`). Default: it names them. */
  anyHost?: boolean;
  /** The value of a secret that an http tool or a tool source names. */
  secret?: ToolRegistryOptions['secret'];
  /** Who is to be told of all tasks of a tenant; learns it from the store before any task runs. */
  listeners?: { load(store: Store): Promise<void>; has(tenant: string): boolean };
  /** Those that write programs for instructions, or how to reach them. Default: none, and instructions are refused. */
  models?: Models | ModelsOptions;
  /** Seals checkpoints. Default: a key in the data folder, made at first use. */
  sealKey?: SealKey;
}

export interface OpenEngine extends AsyncDisposable {
  engine: Engine;
  store: Store;
  registry: ToolRegistry;
  /** Rules for all tasks, and those of each tenant. */
  policy: PolicyBook;
  /** Those that write programs for instructions; for chats of a server, too. */
  models: Models | undefined;
  /** Who owns the data folder: this process. */
  owner: FolderOwner | undefined;
  /** What is wrong with the program of a task that nobody has submitted; nothing of it runs. */
  check(tenant: string, request: TaskRequest): Promise<Finding[]>;
  /** Starts every thread or child process, and keeps them ready, so that no task waits for one to begin. */
  prepare(languages?: readonly Language[]): Promise<void>;
  close(options?: { drainMs?: number }): Promise<void>;
}

const SOURCES_WAIT_MS = 30_000;

const anything = z.unknown().optional();
const optionsSchema = strictOptions({
  folder: z.string().optional(),
  host: z.enum(['threads', 'processes']).optional(),
  ...{ threads: anything, jail: anything, maxResidentBytes: anything, cacheDir: anything, limits: anything, oldKeys: anything, sealKey: anything },
  ...{ maxRunning: anything, maxRunningPerTenant: anything, maxQueued: anything, checkpointEveryCpuMs: anything },
  ...{ keepForTimerMs: anything, cancelGraceMs: anything, retentionMs: anything, worker: anything, moment: anything, goesOn: anything },
  tools: z.union([z.array(z.unknown()), z.custom<() => unknown>((value) => typeof value === 'function')], 'a list or a function is wanted').optional(),
  ...{ sources: anything, sourcesWaitMs: anything, allowSourceCommands: anything },
  ...{ policy: anything, network: anything, networkHeaders: anything, trustHosts: anything, anyHost: anything, secret: anything, listeners: anything, models: anything },
} satisfies Record<keyof OpenEngineOptions, z.ZodType>);

/** Starts it: tasks that a process before this one has left go on. Throws `store_locked` where another process has the folder. */
export async function openEngine(options: OpenEngineOptions = {}): Promise<OpenEngine> {
  parseOptions(optionsSchema, options, 'openEngine');
  const { folder, host: where = 'threads', threads, jail, cacheDir, maxResidentBytes, policy: given = [], listeners, models: wanted, ...others } = options;
  const { tools = [], sources, sourcesWaitMs = SOURCES_WAIT_MS, allowSourceCommands, network, networkHeaders, trustHosts, anyHost, secret, ...rest } = others;
  // Only who opens an engine needs these, and they are not small.
  const { checkableTools, createEngine, createMemoryStore, createSqliteStore, takeFolder } = await import('@fermata/engine');
  const { createToolRegistry, PolicyBook } = await import('@fermata/tools/registry');
  const { engineTools } = await import('./engine-tools.ts');
  const models = wanted && (await modelsOf(wanted));
  const owner = folder === undefined ? undefined : takeFolder(folder);
  /** Closes what is open, in the reverse order of the opening; all of it, whatever fails. */
  const closers: ((how?: { drainMs?: number }) => unknown)[] = [() => owner?.release()];
  const close = async (how?: { drainMs?: number }) => {
    const failures: unknown[] = [];
    for (const closer of closers.splice(0).reverse()) {
      try {
        await closer(how);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  };
  // Those that were made here.
  if (models && models !== wanted) closers.push(() => (models as Models & AsyncDisposable)[Symbol.asyncDispose]());
  try {
    const store = folder === undefined || owner === undefined ? createMemoryStore() : createSqliteStore({ folder, owner });
    const sealKey = options.sealKey ?? folderKey(folder);
    const size = { cacheDir, maxBytes: maxResidentBytes };
    const host = where === 'threads' ? createThreadHost({ ...size, threads }) : createChildHost({ ...size, children: threads, jail });
    closers.push(
      () => store.close(),
      () => host.close(),
    );
    const told = typeof tools === 'function' ? await tools(store) : tools;
    const equipment: Equipment = 'tools' in told ? told : { tools: told };
    const policy = new PolicyBook({ store, rules: [...given, ...(equipment.policy ?? [])] });
    const registry = createToolRegistry({
      ...{ store, tools: equipment.tools, sources: joined(sources, equipment.sources), allowSourceCommands: allowSourceCommands ?? false },
      ...(network ? { network } : {}),
      ...(secret ? { secret } : {}),
    });
    closers.push(() => registry.close());
    const taskTools = engineTools({ registry, policy, network, networkHeaders, trustHosts, anyHost, runTask: (...task) => runToItsEnd(engine, ...task) });
    const engine: Engine = createEngine({
      ...rest,
      ...(listeners ? { listens: (tenant: string) => listeners.has(tenant) } : {}),
      ...(models ? { models } : {}),
      ...{
        store,
        host,
        sealKey,
        prepare: (({ fileName: file, ...program }) => prepareSource({ ...program, ...(file === undefined ? {} : { file }) })) as EngineOptions['prepare'],
      },
      hint: (fault, language) => hintOf(fault as TaskError & { code: ErrorCode }, 'library', language),
      check: (request, callable) => checkTask(request, callable) as ReturnType<NonNullable<EngineOptions['check']>>,
      tools: taskTools,
    });
    closers.push((how) => engine.close(how));
    await listeners?.load(store);
    await registry.connect(sourcesWaitMs);
    await engine.start();
    const prepare = async (languages: readonly Language[] = ['python', 'javascript']) => {
      await Promise.all([...new Set(languages)].map(prepareCheck));
      for (const name of new Set(languages.map((language) => imageOfLanguage[language]))) await host.prepare(name);
    };
    const check = async (tenant: string, request: TaskRequest) => {
      await taskTools.ready(tenant);
      const program = programRequest({ request, authored: null });
      if (!program) throw new FermataError('invalid_request', 'an instruction has no program yet that could be checked', { hint: 'It is checked when a model has written it.' });
      return checkInFull(host, checkableTask(program), checkableTools(taskTools, tenant, program));
    };
    return { engine, store, registry, policy, models, owner, check, prepare, close, [Symbol.asyncDispose]: () => close() };
  } catch (error) {
    await close({ drainMs: 0 }).catch(() => {});
    throw error;
  }
}

async function modelsOf(wanted: Models | ModelsOptions): Promise<Models> {
  if ('find' in wanted) return wanted;
  const { createModels } = await import('@fermata/models');
  return createModels(wanted);
}

function joined(some: ToolSourcesOptions = {}, more: ToolSourcesOptions = {}): ToolSourcesOptions {
  return { mcp: { ...some.mcp, ...more.mcp }, openapi: { ...some.openapi, ...more.openapi } };
}

async function runToItsEnd(engine: Engine, ...[tenant, taskId, request, signal]: Parameters<Parameters<typeof engineTools>[0]['runTask']>) {
  const ref = { tenant, taskId };
  await engine.submit(tenant, request, { taskId, by: 'a call of its tool' });
  for (;;) {
    const view = await engine.wait(ref, 60_000, signal);
    if (view.endedAt !== null) return view;
    if (signal.aborted) {
      await engine.cancel(ref).catch(() => {});
      throw new FermataError('invalid_state', 'the call was given up');
    }
    // Something waits for a person; so does the call.
    if (view.status !== 'running') await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
