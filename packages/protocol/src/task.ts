/** A durable task: what a user asks for, what is kept of it, and what it is told as. */
import type { LimitsInput } from './limits.ts';
import type { Language } from './machine.ts';
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

/** A tool that a task brings along: its client carries out the calls, which wait for it. */
export interface ClientTool {
  /** As the program calls it. */
  name: string;
  /** As its client calls it, where programs cannot call it so. */
  originalName?: string;
  description?: string;
  /** JSON Schema of its arguments, an object; absent: it takes none that are known. */
  parameters?: Record<string, unknown>;
}

/** What a task is made of. Values are in their wire form, so that all of it is JSON. */
export interface TaskRequest {
  language: Language;
  code: string;
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
  /** Besides those; one of the same name takes the place of the tenant's. */
  clientTools?: ClientTool[];
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
  files: { path: string; bytes: number; blob: string }[];
  truncated: boolean;
  error: TaskFault | null;
}

/** Names a task among those of all tenants. */
export function keyOf({ tenant, taskId }: { tenant: string; taskId: string }): string {
  return `${tenant}/${taskId}`;
}
