/** What an engine is made of, and what of it can be set. */
import type {
  CallProgress,
  CallResult,
  DocumentRow,
  Host,
  Language,
  LimitsInput,
  Models,
  OpenOptions,
  PolicyRule,
  ProgramRequest,
  SealKey,
  Store,
  TaskFault,
  TaskRequest,
  TaskRow,
  ToolName,
  ValueRecord,
} from '@fermata/protocol';

export interface EngineToolCall {
  taskId: string;
  callId: string;
  /** The same for every try of one call. */
  idempotencyKey: string;
  /** Aborted when the task is cancelled or runs out of time. */
  signal: AbortSignal;
  /** Tells how far the call is. */
  progress?: (told: CallProgress) => void;
  /** Tells what the call takes of the task's account. */
  spent?: (used: { networkBytes: number }) => void;
}

/** A tool as the engine uses it. */
export interface EngineTool {
  readonly name: string;
  readonly idempotent: boolean;
  readonly requiresApproval: boolean;
  /** How often a failed call is tried in all, and how long before the second try; doubled for each after it. */
  readonly retry?: { maxAttempts: number; backoffMs: number } | undefined;
  /** Of a call that waits for a client: how long it is waited for. */
  readonly timeoutMs?: number | undefined;
  /** Passed before each call; the result is told to what it resolves with. */
  readonly gate?: { enter(signal: AbortSignal): Promise<(result: CallResult) => void> } | undefined;
  /** Checks arguments; returns them as the tool takes them, or throws. */
  readonly check: (args: ValueRecord) => unknown;
  /** The arguments as policy is to see them, where that is not as they are. */
  readonly judged?: ((args: ValueRecord) => ValueRecord) | undefined;
  /** Absent for a client-side tool. An error whose `outcome` is `unknown` says so; its `late` is what may be answered after all. */
  readonly execute: ((args: never, call: EngineToolCall) => unknown) | undefined;
  /** Asked about a call whose outcome was lost: what came of it, or undefined where that cannot be said. */
  readonly reconcile?: ((args: never, call: EngineToolCall) => Promise<{ output: unknown } | { retry: true } | undefined>) | undefined;
}

export type Verdict = {
  /** The rule that has decided, in words. */
  rule?: string;
  reason?: string;
  /** To be durable with the call. */
  keep?: readonly (() => DocumentRow)[];
} & ({ action: 'allow' | 'deny' } | { action: 'require_approval'; expiresAfterMs?: number } | { action: 'rate_limited'; retryAfterMs: number });

/** What policy may know besides the call itself. */
export interface CallHistory {
  now: number;
  /** The call itself was judged before, with other arguments, and counts for its rates already. */
  isCounted?: boolean;
  /** Calls of tools that the task has made before and policy has not refused, in the order of their start. */
  calls(): readonly { tool: string; at: number; args: () => ValueRecord }[];
}

/** Where the engine finds tools, and what it may do with them. */
export interface EngineTools {
  /** The others are asked of a tenant only after this has resolved for it; it learns what is new. */
  ready(tenant: string): Promise<void>;
  /** What programs of this tenant may know of; `patterns`: only names that fit one. The same list as before while it is the same. */
  names(tenant: string, patterns?: readonly string[]): readonly ToolName[];
  /** The same, with what they do, take and, where that is known, return (JSON Schemas). */
  describe(tenant: string, patterns?: readonly string[]): { name: string; description: string; parameters: unknown; result?: unknown }[];
  /** Calls by which a program finds its tools. They are answered at once, and policy is not asked: they tell what `describe` tells. */
  readonly finding: readonly ToolName[];
  /** What one of them answers; throws what the program is to see. */
  found(tenant: string, patterns: readonly string[] | undefined, name: string, args: ValueRecord): unknown;
  /** Throws `invalid_request` where a request asks for what cannot be served. */
  checkRequest(request: TaskRequest): void;
  /** What a task calls by this name; `request`: its own. */
  find(tenant: string, name: string, request: Pick<TaskRequest, 'tools' | 'network'>): EngineTool | undefined;
  /** `rules`: of the task. */
  judge(tenant: string, tool: EngineTool, args: ValueRecord, rules: readonly PolicyRule[], history: CallHistory): Verdict;
}

export interface PreparedProgram {
  code: string;
  /** In the place of the program's own. */
  allowedLibraries?: string[];
  /** Set where the program cannot even be prepared; it is not started then. */
  error?: TaskFault;
  /** An error of the prepared code, told in places of the user's own source. */
  explain(error: TaskFault): TaskFault;
}

/** A tool as the check of a program looks at it. */
export interface CheckableTool {
  name: string;
  /** Names of its arguments in order, or null. */
  names: readonly string[] | null;
  parameters?: Readonly<Record<string, unknown>>;
  check?: (args: never) => unknown;
}

export interface CheckFinding {
  rule: string;
  severity: 'error' | 'warning';
  line: number;
  column: number;
  message: string;
}

/** What is found in a program before it begins. */
export interface CheckedProgram {
  findings: readonly CheckFinding[];
  /** Set where the program is not to be run. */
  fault?: TaskFault;
}

/** Names of moments at which a crash must lose nothing; see `EngineOptions.moment`. */
export type Moment =
  | 'commit.before'
  | 'commit.after'
  | 'checkpoint.before'
  | 'checkpoint.after'
  | 'tool.before'
  | 'tool.after'
  | 'settle.after'
  | 'deliver.before'
  | 'deliver.after'
  | 'model.before'
  | 'model.after';

export interface EngineOptions {
  store: Store;
  host: Host;
  tools: EngineTools;
  /** Turns what a user wrote into what a machine takes. */
  prepare: (program: Pick<ProgramRequest, 'language' | 'code' | 'allowedLibraries' | 'strict' | 'fileName'>) => PreparedProgram;
  /** Looks at a program before it begins; undefined where nothing could be found. `tools`: those that it can call. */
  check?: (request: ProgramRequest, tools: () => CheckableTool[]) => Promise<CheckedProgram> | undefined;
  /** What to do about a fault, in one sentence. */
  hint?: (fault: TaskFault, language: Language | undefined) => string | undefined;
  /** Those that write programs for instructions. Default: none, and instructions are refused. */
  models?: Models;
  /** Seals checkpoints; `oldKeys` only open them. */
  sealKey: SealKey;
  oldKeys?: readonly SealKey[];
  /** This engine's name in journals. Default: made up. */
  worker?: string;
  /** For tasks that do not say otherwise. */
  limits?: LimitsInput;
  /** Tasks that run at the same time: of all tenants (default 64), and of each (default: no less). */
  maxRunning?: number;
  maxRunningPerTenant?: number;
  /** Programs that have just begun and do not wait for results of their calls, at the same time. Default: two for each core. */
  maxBusy?: number;
  /** Tasks that may wait in the queue; more are refused. Default 100,000. */
  maxQueued?: number;
  /** Of one tenant. Default: no less. */
  maxQueuedPerTenant?: number;
  /** Processor time after which a running task is checkpointed. Default 5 s. */
  checkpointEveryCpuMs?: number;
  /** A program that sleeps no longer keeps its machine. Default 250 ms. */
  keepForTimerMs?: number;
  /** How long the calls of a cancelled task have to end. Default 1 s. */
  cancelGraceMs?: number;
  /**
   * Whether to go on with a task that an engine before this one has left; where not, it is paused until somebody resumes it.
   * Default: with all of them.
   */
  goesOn?: (row: TaskRow) => boolean;
  /** Ended tasks are purged after so long. Default: never. */
  retentionMs?: number;
  /** Whether somebody is to be told of all tasks and batches of a tenant; the outbox then has rows without an address, too. */
  listens?: (tenant: string) => boolean;
  /** The clock; for tests. */
  now?: () => number;
  /** Told at each moment of {@link Moment}; for tests that crash there. */
  moment?: (moment: Moment) => void;
}

/** With what checkpoints are opened, besides what they are bound to. */
export function openingKeys({ sealKey, oldKeys = [] }: Pick<EngineOptions, 'sealKey' | 'oldKeys'>): OpenOptions {
  return { keys: [sealKey, ...oldKeys] };
}
