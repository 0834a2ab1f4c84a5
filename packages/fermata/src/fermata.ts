/** Where a program that embeds Fermata begins: one host, the tools that all tasks may have, and the ways to start a task. */
import { randomBytes } from 'node:crypto';
import { createThreadHost, type Host, imageOfLanguage, type SealKey, type SealOptions } from '@fermata/machine';
import { FermataError, type Language, type LimitsInput, limitsSchema, type Program, type Value, type ValueRecord } from '@fermata/protocol';
import { z } from 'zod';
import { crossed } from './crossing.ts';
import { Task, type TaskOptions } from './task.ts';
import type { TaskEvent, TaskResult } from './task-result.ts';
import { TASK_ID } from './task-state.ts';
import { parameterNames, type Tool, type ToolDefinition, toolsByName } from './tool.ts';
import type { Approver } from './tool-runner.ts';

export interface FermataOptions {
  /** Tools that every task may call. */
  tools?: readonly (Tool | ToolDefinition)[];
  /** Limits for tasks that do not say otherwise. */
  limits?: LimitsInput;
  /** Threads for machines, at most. Default: one per core. */
  threads?: number;
  /** Where unpacked images are kept. Default: `FERMATA_CACHE_DIR`, else the user's cache folder. */
  cacheDir?: string;
  /** Seals the snapshots of all tasks. Without it snapshots are not sealed, and restoring one needs `trust`. */
  sealKey?: SealKey;
  /** Keys that sealed snapshots in the past; they only open. */
  oldKeys?: readonly SealKey[];
}

interface CommonTaskOptions {
  /** Default: made up. */
  taskId?: string;
  /** More tools, for this task only. */
  tools?: readonly (Tool | ToolDefinition)[];
  limits?: LimitsInput;
  /** Decides calls of tools that require approval. Without it such calls wait. */
  approve?: Approver;
  onEvent?: (event: TaskEvent) => void;
  /** Kept with snapshots, for the caller. */
  label?: Value;
}

export interface CodeOptions extends CommonTaskOptions {
  language: Language;
  code: string;
  /** What the program sees as `input` (JavaScript) or `fermata.input` (Python). */
  input?: Value;
  stdin?: string;
  files?: readonly { path: string; data: Uint8Array | string }[];
  /** Modules that user code may import (Python). Absent: all of the image. */
  allowedLibraries?: readonly string[];
  /** 32 bytes from which all randomness of the task comes. Default: fresh. */
  seed?: Uint8Array;
}

/** One tool, called as a program would call it: same sandbox, same limits. */
export interface ToolCallOptions extends CommonTaskOptions {
  toolCall: { name: string; arguments?: ValueRecord };
}

export type StartOptions = CodeOptions | ToolCallOptions;

export interface RestoreOptions extends Pick<CommonTaskOptions, 'tools' | 'approve' | 'onEvent'> {
  /** Accept a snapshot that is not sealed. Only for bytes of your own: what it says of its calls is believed. */
  trust?: boolean;
  /** Go on under another id. */
  taskId?: string;
}

export interface Fermata extends AsyncDisposable {
  /**
   * Loads what programs of these languages need, starts the threads and makes machines in advance, so that the first task
   * starts, and the first snapshot continues, as fast as later ones. Nobody has to call it. Default: all languages.
   */
  prepare(languages?: readonly Language[]): Promise<void>;
  /** Runs a program to its end and gives everything back. Never throws for what the program does; see `result.status`. */
  run(options: StartOptions & { signal?: AbortSignal }): Promise<TaskResult>;
  /** A task that has not begun; `task.run()` or `task.next()` sets it going. */
  start(options: StartOptions): Promise<Task>;
  /** The task of a snapshot, paused, here or in another process than the one that made it. */
  restore(snapshot: Uint8Array, options?: RestoreOptions): Promise<Task>;
  close(): Promise<void>;
}

const CALL_PROGRAM = 'return await tools[input.name](input.arguments);';

const startSchema = z
  .looseObject({
    language: z.enum(['python', 'javascript', 'typescript']).optional(),
    code: z.string().optional(),
    taskId: z.string().regex(TASK_ID, 'letters, digits, _, - and . are allowed, 128 at most').optional(),
    toolCall: z.looseObject({ name: z.string() }).optional(),
    seed: z.custom<Uint8Array>((seed) => seed instanceof Uint8Array && seed.length === 32, '32 bytes are wanted').optional(),
    files: z.array(z.object({ path: z.string().regex(/^\/(work|tmp)(\/(?!\.{1,2}(\/|$))[^/\0]+)+$/, 'files go into /work or /tmp') })).optional(),
    limits: z.looseObject({}).optional(),
  })
  .refine((options) => (options.code === undefined) !== (options.toolCall === undefined), 'give either code or toolCall')
  .refine((options) => options.code === undefined || options.language !== undefined, 'code needs a language');

/** Makes a Fermata. Nothing is loaded before the first task. Close it, or use `await using`. */
export function createFermata(options: FermataOptions = {}): Fermata {
  return new LocalFermata(options);
}

class LocalFermata implements Fermata {
  readonly #host: Host;
  readonly #tools: readonly (Tool | ToolDefinition)[];
  readonly #limits: LimitsInput;
  readonly #seal: SealOptions | undefined;
  readonly #keys: readonly SealKey[];
  readonly #closing = new AbortController();

  constructor({ tools = [], limits = {}, threads, cacheDir, sealKey, oldKeys = [] }: FermataOptions) {
    for (const { key } of [...(sealKey ? [sealKey] : []), ...oldKeys]) {
      if (key.length !== 32) throw new FermataError('invalid_request', `a seal key has 32 bytes, not ${key.length}`);
    }
    this.#keys = [...(sealKey ? [sealKey] : []), ...oldKeys];
    this.#host = createThreadHost({ ...(threads === undefined ? {} : { threads }), ...(cacheDir === undefined ? {} : { cacheDir }) });
    this.#tools = tools;
    this.#limits = limits;
    this.#seal = sealKey ? { key: sealKey } : undefined;
    toolsByName(tools);
  }

  async prepare(languages: readonly Language[] = ['python', 'javascript']): Promise<void> {
    for (const name of new Set(languages.map((language) => imageOfLanguage[language]))) await this.#host.prepare(name);
  }

  async run({ signal, ...options }: StartOptions & { signal?: AbortSignal }): Promise<TaskResult> {
    signal?.throwIfAborted();
    const task = await this.start(options as StartOptions);
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
    const checked = startSchema.safeParse(options);
    if (!checked.success) throw invalidRequest(checked.error);
    const limits = limitsSchema.safeParse({ ...this.#limits, ...options.limits });
    if (!limits.success) throw invalidRequest(limits.error, 'limits.');
    const label = requested(() => crossed(options.label ?? null, 'label'));
    const taskOptions = this.#taskOptions(options, options.taskId ?? `task_${randomBytes(8).toString('hex')}`);
    const program = programOf(options, taskOptions.tools);
    const machine = await this.#host.create(imageOfLanguage[program.language], limits.data);
    const seed = 'seed' in options && options.seed ? options.seed : new Uint8Array(randomBytes(32));
    const task = Task.create(taskOptions, machine, program, seed);
    task.label = label;
    return task;
  }

  restore(snapshot: Uint8Array, { taskId, trust = false, ...options }: RestoreOptions = {}): Promise<Task> {
    const { id: _, ...rest } = this.#taskOptions(options, '');
    return Task.restore({ ...rest, ...(taskId === undefined ? {} : { id: taskId }) }, snapshot, { trust, keys: this.#keys });
  }

  close(): Promise<void> {
    this.#closing.abort();
    return this.#host.close();
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #taskOptions({ tools = [], approve, onEvent }: Pick<CommonTaskOptions, 'tools' | 'approve' | 'onEvent'>, id: string): TaskOptions {
    return { id, host: this.#host, tools: toolsByName([...this.#tools, ...tools]), approve, onEvent, seal: this.#seal, closing: this.#closing.signal };
  }
}

function programOf(options: StartOptions, tools: ReadonlyMap<string, Tool>): Program {
  const names = [...tools.values()].map((tool) => ({ name: tool.name, parameters: parameterNames(tool) }));
  if ('toolCall' in options) {
    const { name, arguments: args = {} } = options.toolCall;
    return { language: 'javascript', code: CALL_PROGRAM, input: requested(() => crossed({ name, arguments: args }, 'toolCall')), tools: names };
  }
  const { language, code, input, stdin, files, allowedLibraries } = options;
  return {
    language,
    code,
    input: requested(() => crossed(input, 'input')),
    tools: names,
    ...(stdin === undefined ? {} : { stdin }),
    ...(files === undefined ? {} : { files: files.map(({ path, data }) => ({ path, data: typeof data === 'string' ? Buffer.from(data) : data })) }),
    ...(allowedLibraries === undefined ? {} : { allowedLibraries: [...allowedLibraries] }),
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

function invalidRequest(error: z.ZodError, prefix = ''): FermataError {
  const issue = error.issues[0];
  const path = `${prefix}${issue?.path.join('.') ?? ''}`;
  return new FermataError('invalid_request', `${path ? `${path}: ` : ''}${issue?.message}`);
}
