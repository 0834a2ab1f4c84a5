/** A durable task: what a user asks for, what is kept of it, and what it is told as. */
import type { LimitsInput } from './limits.ts';
import type { Language } from './machine.ts';
import type { ModelMessage } from './model.ts';
import type { PolicyRule } from './policy.ts';

export type TaskStatus = 'pending' | 'running' | 'waiting' | 'paused' | 'succeeded' | 'failed' | 'cancelled';
export type EndedStatus = Extract<TaskStatus, 'succeeded' | 'failed' | 'cancelled'>;
export const ENDED: readonly TaskStatus[] = ['succeeded', 'failed', 'cancelled'];

/** What was asked for last: it may differ from the status until that has become true. */
export type Desired = 'run' | 'pause' | 'cancel';
export type PauseReason = 'user_request' | 'budget' | 'shutdown';

export interface RetryOptions {
  /** How often the task is attempted in all. */
  maxAttempts: number;
  /** Before the second attempt; doubled for each one after it. */
  backoffMs: number;
}

/** What the program may reach by requests of its own; absent: nothing. */
export interface NetworkAccess {
  /** Host names, `*.` wildcards, addresses and CIDRs, each with an optional port; `true`: all that are public. */
  hosts: string[] | true;
  /** Of one request. */
  timeoutMs?: number;
}

/** A task that is one call of a tool runs this; its `input` is `{ name, arguments }`. */
export const CALL_PROGRAM = 'return await tools[input.name](input.arguments);';

/** How a model is to turn an instruction into a program. */
export interface AuthorOptions {
  /** `<provider>/<model>`. Default: that of the deployment. */
  name?: string;
  /** How often what is wrong with a program goes back to the model. Default: 3. */
  maxRepairs?: number;
  /** Tokens of prompts and replies after which the task pauses. A resume gives it as many again. */
  maxTokens?: number;
  /** A person is shown each program before it runs. */
  approvePlan?: boolean;
}

/** What a task is made of. Values are in their wire form, so that all of it is JSON. */
export interface TaskRequest {
  /** Of `code`; where a model writes the program: the one that it is to be in, absent where the model is to choose. */
  language?: Language;
  /** The program. Absent where a model writes it: exactly one of `code`, `instruction` and `messages` is there. */
  code?: string;
  /** What a program is to be written for. */
  instruction?: string;
  /** A conversation in its place; the last message is the one to be answered. */
  messages?: ModelMessage[];
  model?: AuthorOptions;
  /** Set where the task is one call of this tool, made by a program of ours. */
  toolCall?: { name: string; arguments: unknown };
  input?: unknown;
  /** A text, or bytes in their wire form. */
  stdin?: unknown;
  /** The program's name in its tracebacks (Python). */
  fileName?: string;
  /** Names of blobs in the store, and where the program finds them. */
  files?: { path: string; blob: string }[];
  /** Patterns of names; absent: all tools that the tenant has. */
  tools?: string[];
  allowedLibraries?: string[];
  requiredLibraries?: string[];
  blockedCommands?: string[];
  strict?: boolean;
  network?: NetworkAccess;
  limits?: LimitsInput;
  policy?: PolicyRule[];
  retry?: RetryOptions;
  priority?: number;
  sessionId?: string;
  /** Runs on the interpreter that the session's tasks share, after those before it. */
  sharedInterpreter?: boolean;
  batchId?: string;
  metadata?: Record<string, unknown>;
  callbackUrl?: string;
  /** The task and the place in its journal that this one goes on from. */
  forkOf?: { taskId: string; checkpointId: string | null; seq: number };
}

/** A request whose program is known. */
export interface ProgramRequest extends TaskRequest {
  language: Language;
  code: string;
}

/**
 * How far a program that a model wrote has come: it is `written`, then `checked`, then `ready` to run (a person has agreed, where one is
 * asked), and then either `refused`, for a fault that goes back to the model, or `returned`: it has its result, and an answer is asked for.
 */
export type AuthoredStage = 'written' | 'checked' | 'ready' | 'refused' | 'returned';

/** The newest program of a task whose program a model writes. */
export interface Authored {
  /** From 1. */
  version: number;
  language: Language;
  code: string;
  stage: AuthoredStage;
  /** Who has changed what the model wrote. */
  editedBy?: string;
}

export interface TaskFault {
  code: string;
  message: string;
  name?: string;
  traceback?: string;
  line?: number;
  column?: number;
  hint?: string;
}

/** Spent so far, cumulative. */
export interface TaskUsage {
  wallMs: number;
  cpuMs: number;
  memoryBytes: number;
  peakMemoryBytes: number;
  diskBytes: number;
  outputBytes: number;
  toolCalls: number;
  fuel: number;
  /** Absent in rows of versions that did not count it. */
  journalBytes?: number;
  /** Of requests that the program has made and their answers, bodies only; absent where there were none. */
  networkBytes?: number;
  /** Of prompts and replies, and what they cost in US dollars where a price is known; absent where no model was asked. */
  modelTokens?: number;
  modelCost?: number;
}

/** The row of a task: its state after its newest journal entry. */
export interface TaskRow {
  tenant: string;
  taskId: string;
  status: TaskStatus;
  desired: Desired;
  /** Number and hash of its newest journal entry. */
  seq: number;
  hash: string;
  /** Counts leases; an older one may not start calls or change states. */
  epoch: number;
  /** Counts attempts from 1; 0 before the first. */
  attempt: number;
  /** How often its program was begun anew, from 0: calls are numbered through all rounds. Absent in rows of versions that did not count them. */
  round?: number;
  worker: string | null;
  createdAt: number;
  updatedAt: number;
  startedAt: number | null;
  endedAt: number | null;
  priority: number;
  sessionId: string | null;
  batchId: string | null;
  /** When somebody must look at it again: a timer of the program, an approval that expires, a retry; of an ended task, when it is to be purged. */
  dueAt: number | null;
  /** A timer of the program: when it is due. */
  timerAt: number | null;
  /** Its next attempt begins no sooner. */
  notBefore: number | null;
  /** It stopped where only an answer or a timer can move the program. */
  parked: boolean;
  request: TaskRequest;
  /** Null until a model has written its program, and of a task that has one of its own. */
  authored: Authored | null;
  /** 32 bytes, hex: from them comes all randomness of the program. */
  seed: string;
  /** Of a task that shares an interpreter: the head that it began from, and what the machine had done before it. */
  origin: { head: number; calls: number; outputBytes: number; fuel: number } | null;
  /** What came out of the machine in this attempt so far, and what of it is recorded. */
  mark: { outputBytes: number; calls: number; notes: number };
  usage: TaskUsage;
  step: string | null;
  progress: number | null;
  line: number | null;
  checkpointId: string | null;
  pauseReason: PauseReason | null;
  /** Wire form of the result, where it succeeded. */
  output: unknown;
  /** What the model has answered to the instruction, after a program that succeeded. */
  answer: string | null;
  files: { path: string; bytes: number; blob: string }[];
  truncated: boolean;
  error: TaskFault | null;
}

/** Names a task among those of all tenants. */
export function keyOf({ tenant, taskId }: { tenant: string; taskId: string }): string {
  return `${tenant}/${taskId}`;
}

/** Whether a model writes the program. */
export function isAuthored({ instruction, messages }: TaskRequest): boolean {
  return instruction !== undefined || messages !== undefined;
}

/** The request with the program that the task has, or undefined while none is written. */
export function programRequest({ request, authored }: Pick<TaskRow, 'request' | 'authored'>): ProgramRequest | undefined {
  const { language, code } = authored ?? request;
  return language === undefined || code === undefined ? undefined : { ...request, language, code };
}
