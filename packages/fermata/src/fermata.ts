/** Where a program that embeds Fermata begins: one host, the tools that all tasks may have, and the ways to start a task. */

import { randomBytes } from 'node:crypto';
import { toolsInCode } from '@fermata/engine/tools-in-code';
import { createChildHost, createThreadHost } from '@fermata/machine';
import {
  CALL_PROGRAM,
  FermataError,
  type Host,
  imageOfLanguage,
  type Language,
  type LimitsInput,
  type MachineOptions,
  type NetworkAccess,
  type Program,
  parseOptions,
  type SealKey,
  type ToolName,
} from '@fermata/protocol';
import { limitsSchema } from '@fermata/protocol/schemas';
import { findingTools, isWorthChecking, parameterNames, type Tool, type ToolDefinition, toolsByName } from '@fermata/tools';
import type { Finding } from '@fermata/tools/check';
import { checkable, checkInFull, prepareCheck, reportOf } from './check-program.ts';
import { crossed } from './crossing.ts';
import {
  type CodeOptions,
  checkFermataOptions,
  checkRestoreOptions,
  checkSealKey,
  checkStartOptions,
  type FermataOptions,
  type RestoreOptions,
  type StartOptions,
} from './fermata-options.ts';
import { Task, type TaskOptions } from './task.ts';
import { guarded } from './task-event.ts';
import type { TaskResult } from './task-result.ts';
import type { KeySource } from './task-snapshot.ts';

export interface FermataUsage {
  /** Threads, or child processes. */
  threads: number;
  /** Machines of tasks, and how many of them have a place on a thread; the others are hibernated. */
  machines: number;
  residentMachines: number;
}

export interface Fermata extends AsyncDisposable {
  readonly usage: FermataUsage;
  /**
   * Loads what programs of these languages need, starts the threads and makes machines in advance, so that the first task
   * starts, and the first snapshot continues, as fast as later ones. Nobody has to call it. Default: all languages.
   */
  prepare(languages?: readonly Language[]): Promise<void>;
  /**
   * What is wrong with a program, from its text alone; nothing of it runs. `run` and `start` make this check by themselves.
   * Where there are no tools at all, and `tools` is not given as an empty list, calls of tools are not looked at.
   */
  check(options: CheckProgramOptions): Promise<CheckReport>;
  /** Runs a program to its end and gives everything back. Never throws for what the program does; see `result.status`. */
  run(options: StartOptions & { signal?: AbortSignal }): Promise<TaskResult>;
  /** A task that has not begun; `task.run()` or `task.next()` sets it going. */
  start(options: StartOptions): Promise<Task>;
  /**
   * The task of a snapshot, paused, here or in another process than the one that made it. Throws `tools_missing` where
   * its program was given tools that are not here.
   */
  restore(snapshot: Uint8Array, options?: RestoreOptions): Promise<Task>;
  close(): Promise<void>;
}

/** The program to check, and what it is to have and to keep to when it runs. */
export type CheckProgramOptions = Pick<CodeOptions, 'language' | 'code' | 'tools' | 'files' | 'allowedLibraries' | 'requiredLibraries' | 'blockedCommands' | 'strict'> & {
  /** What it may reach. */
  network?: NetworkAccess;
};

export interface CheckReport {
  /** Whether it would be run: there is no error among the findings. */
  ok: boolean;
  findings: Finding[];
}

/** Throws `invalid_request` for a host that cannot be understood. */
async function checkNetwork({ hosts }: NetworkAccess): Promise<void> {
  const { networkTools } = await import('@fermata/tools/registry');
  networkTools({ hosts });
}

/** Makes a Fermata. Nothing is loaded before the first task. Close it, or use `await using`. */
export function createFermata(options: FermataOptions = {}): Fermata {
  checkFermataOptions(options);
  return new LocalFermata(options);
}

class LocalFermata implements Fermata {
  readonly #host: Host;
  readonly #given: readonly Tool[];
  /** The same, and what finds them. */
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #names: readonly ToolName[];
  readonly #limits: LimitsInput;
  readonly #sealKey: KeySource | undefined;
  readonly #oldKeys: readonly SealKey[];
  readonly #closing = new AbortController();

  constructor({ tools = [], limits = {}, host = 'threads', threads, jail, maxResidentBytes, cacheDir, sealKey, oldKeys = [] }: FermataOptions) {
    const size = { cacheDir, maxBytes: maxResidentBytes };
    this.#host = host === 'threads' ? createThreadHost({ ...size, threads }) : createChildHost({ ...size, children: threads, jail });
    this.#given = [...toolsByName(tools).values()];
    this.#tools = withFinding(this.#given);
    this.#names = namesOf(this.#tools);
    this.#limits = limits;
    this.#sealKey = sealKey && (() => (typeof sealKey === 'function' ? checked(sealKey()) : sealKey));
    this.#oldKeys = oldKeys;
  }

  get usage(): FermataUsage {
    return this.#host.usage;
  }

  async prepare(languages: readonly Language[] = ['python', 'javascript']): Promise<void> {
    await Promise.all([...new Set(languages)].map(prepareCheck));
    // The host comes last: rehearsing takes machines that were made in advance.
    for (const language of new Set(languages)) await this.#rehearse(language);
    for (const name of new Set(languages.map((language) => imageOfLanguage[language]))) await this.#host.prepare(name);
  }

  /** A task that waits, moves to another machine and goes on, so that all code on that way has run once. */
  async #rehearse(language: Language): Promise<void> {
    const tools = [{ name: 'rehearsed' }];
    await using task = await this.#start({ language, code: language === 'python' ? 'tools.rehearsed()' : 'await tools.rehearsed({})', tools });
    await task.run();
    await using moved = await this.restore(await task.snapshot(), { trust: true, tools });
    moved.answer(1, null);
    await moved.run();
  }

  async check(options: CheckProgramOptions): Promise<CheckReport> {
    const { network, ...program } = options;
    checkStartOptions('start', program);
    if (network) await checkNetwork(network);
    const tools = [...withFinding([...this.#given, ...(options.tools ?? [])]).values()].map(checkable);
    return reportOf(await checkInFull(this.#host, options, options.tools || tools.length > 0 ? tools : undefined));
  }

  async run(options: StartOptions & { signal?: AbortSignal }): Promise<TaskResult> {
    checkStartOptions('run', options);
    const { signal } = options;
    signal?.throwIfAborted();
    const task = await this.#start(options);
    const cancel = () => void task.cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    try {
      return await task.run();
    } finally {
      signal?.removeEventListener('abort', cancel);
      await task[Symbol.asyncDispose]();
    }
  }

  async start(options: StartOptions): Promise<Task> {
    checkStartOptions('start', options);
    return this.#start(options);
  }

  async restore(snapshot: Uint8Array, options: RestoreOptions = {}): Promise<Task> {
    checkRestoreOptions(snapshot, options);
    const { trust = false, boundTo, taskId, tools } = options;
    const keys = [...(this.#sealKey ? [await this.#sealKey()] : []), ...this.#oldKeys];
    const open = { trust, keys, ...(boundTo === undefined ? {} : { boundTo }) };
    return Task.restore(this.#host, snapshot, open, placed(options), async ({ id, label }) => {
      const given = typeof tools === 'function' ? await tools(label) : tools;
      return this.#taskOptions(taskId ?? id, given, options);
    });
  }

  close(): Promise<void> {
    this.#closing.abort();
    return this.#host.close();
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #start(options: StartOptions): Promise<Task> {
    const limits = parseOptions(limitsSchema, { ...this.#limits, ...given(options.limits) }, 'limits');
    const label = requested(() => crossed(options.label ?? null, 'label'));
    const taskOptions = this.#taskOptions(options.taskId ?? `task_${randomBytes(8).toString('hex')}`, options.tools, options);
    const program = programOf(options, taskOptions.tools === this.#tools ? this.#names : namesOf(taskOptions.tools));
    // While the machine is made.
    if (isWorthChecking(program.code, program)) void prepareCheck(program.language).catch(() => {});
    const machine = await this.#host.create(imageOfLanguage[program.language], limits, taskOptions.place);
    const seed = 'seed' in options && options.seed ? options.seed : new Uint8Array(randomBytes(32));
    return Task.create(taskOptions, machine, program, seed, label);
  }

  #taskOptions(id: string, tools: StartOptions['tools'] = [], given: Pick<StartOptions, 'approve' | 'onEvent' | 'tenant'>): TaskOptions {
    const { approve, onEvent } = given;
    return {
      id,
      host: this.#host,
      place: placed(given),
      tools: tools.length === 0 ? this.#tools : withFinding([...this.#given, ...tools]),
      approve,
      onEvent,
      sealKey: this.#sealKey,
      closing: this.#closing.signal,
    };
  }
}

/** For whom a machine gets its place, and who hears that it has to wait for one. */
function placed({ tenant, onEvent }: Pick<StartOptions, 'tenant' | 'onEvent'>): MachineOptions {
  const tell = guarded(onEvent);
  return { tenant, onQueued: (reason) => tell({ type: 'queued', reason }) };
}

function checked(key: SealKey | Promise<SealKey>): SealKey | Promise<SealKey> {
  return key instanceof Promise ? key.then(checkSealKey) : checkSealKey(key);
}

/** Without what is undefined, so that it does not hide what stands below. */
function given(limits: LimitsInput = {}): LimitsInput {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}

/** What a program can call: its tools, and where there are any, what finds them. */
function withFinding(given: readonly (Tool | ToolDefinition)[]): ReadonlyMap<string, Tool> {
  const tools = toolsByName(given);
  const own = [...tools.values()];
  if (own.length > 0) for (const tool of findingTools(() => own)) if (!tools.has(tool.name)) tools.set(tool.name, tool);
  return tools;
}

function namesOf(tools: ReadonlyMap<string, Tool>): ToolName[] {
  return [...tools.values()].map((tool) => ({ name: tool.name, parameters: parameterNames(tool) }));
}

function programOf(options: StartOptions, names: readonly ToolName[]): Program {
  if ('toolCall' in options && options.toolCall) {
    const { name, arguments: args = {} } = options.toolCall;
    const called = names.filter((tool) => tool.name === name);
    return { language: 'javascript', code: CALL_PROGRAM, input: requested(() => crossed({ name, arguments: args }, 'toolCall')), tools: called.length > 0 ? called : [...names] };
  }
  const { language, code, input, stdin, file, files, allowedLibraries, requiredLibraries, blockedCommands, strict } = options as Exclude<StartOptions, { toolCall: unknown }>;
  return {
    language,
    code,
    input: requested(() => crossed(input, 'input')),
    // Files hold code that is not seen here.
    tools: [...(files?.length ? names : toolsInCode(code, names))],
    ...(stdin === undefined ? {} : { stdin }),
    ...(file === undefined ? {} : { file }),
    ...(files === undefined ? {} : { files: files.map(({ path, data }) => ({ path, data: typeof data === 'string' ? Buffer.from(data) : data })) }),
    ...(allowedLibraries === undefined ? {} : { allowedLibraries: [...allowedLibraries] }),
    ...(requiredLibraries?.length ? { requiredLibraries: [...requiredLibraries] } : {}),
    ...(blockedCommands?.length ? { blockedCommands: [...blockedCommands] } : {}),
    ...(strict ? { strict } : {}),
  };
}

/** What the caller gives and cannot cross is the caller's fault. */
function requested<T>(make: () => T): T {
  try {
    return make();
  } catch (cause) {
    throw new FermataError('invalid_request', (cause as Error).message, { cause });
  }
}
