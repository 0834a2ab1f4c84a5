/** What a task comes to, and what it tells on the way. */
import type { Call, CallResult, ErrorCode, GuestError, LimitKind, MachineUsage, Value } from '@fermata/protocol';

export type TaskStatus = 'pending' | 'running' | 'waiting' | 'paused' | 'succeeded' | 'failed' | 'cancelled';

export interface TaskError {
  code: ErrorCode;
  message: string;
  /** The error's own name in the program, e.g. `ValueError`. */
  name?: string;
  traceback?: string;
  line?: number;
  column?: number;
  hint?: string;
}

export interface ResourcesUsed {
  wallTimeMs: number;
  cpuTimeMs: number;
  memoryBytes: number;
  peakMemoryBytes: number;
  diskBytes: number;
  outputBytes: number;
  toolCalls: number;
  fuel: number;
}

/** A call that somebody must settle before the task can go on. */
export interface WaitingFor {
  callId: number;
  tool: string;
  arguments: Call['args'];
  kind: 'approval' | 'client_tool' | 'outcome_unknown';
}

export interface LoggedCall {
  callId: number;
  tool: string;
  arguments: Call['args'];
  status: 'pending' | 'ok' | 'error';
  error?: string;
}

export interface TaskResult {
  taskId: string;
  status: TaskStatus;
  /** The program's result, of a task that succeeded. */
  output: Value;
  stdout: string;
  stderr: string;
  /** The output was cut at its limit. */
  truncated: boolean;
  error?: TaskError;
  waitingFor: WaitingFor[];
  /** Every call in the order of its start. */
  calls: LoggedCall[];
  /** What the program left in `/work`, of a task that succeeded. */
  files: { path: string; data: Uint8Array }[];
  resourcesUsed: ResourcesUsed;
}

export type TaskEvent =
  | { type: 'status'; status: TaskStatus }
  | { type: 'output'; stream: 'stdout' | 'stderr'; text: string }
  | { type: 'call'; call: Call }
  | { type: 'call_settled'; call: Call; result: CallResult }
  | { type: 'step'; name: string }
  | { type: 'progress'; value: number }
  | { type: 'checkpoint' }
  | { type: 'finding'; message: string; line: number | null }
  | { type: 'position'; line: number; column: number };

export function resourcesUsed({ calls, ...usage }: MachineUsage, wallMs: number, cpuMs: number): ResourcesUsed {
  return { wallTimeMs: Math.round(wallMs), cpuTimeMs: Math.round(cpuMs), ...usage, toolCalls: calls };
}

const LIMIT_CODES: Record<LimitKind, ErrorCode> = {
  timeout: 'timeout',
  cpu: 'cpu_limit',
  memory: 'memory_limit',
  output: 'output_limit',
  disk: 'disk_limit',
  tool_calls: 'tool_call_limit',
};

const LIMIT_HINTS: Record<LimitKind, string> = {
  timeout: 'Give it more time (timeoutMs), or let it do less.',
  cpu: 'Give it more processor time (maxCpuMs), or use a better algorithm.',
  memory: 'Give it more memory (maxMemoryBytes), or work on the data in parts.',
  output: 'Print less, or raise maxOutputBytes.',
  disk: 'Write less to files, or raise maxDiskBytes.',
  tool_calls: 'Start fewer calls, or raise maxToolCalls.',
};

export function limitError(limit: LimitKind, message: string, error?: GuestError): TaskError {
  return { ...(error ? guestError(error) : {}), code: LIMIT_CODES[limit], message, hint: LIMIT_HINTS[limit] };
}

export function guestError({ name, message, traceback, line, column, kind }: GuestError): TaskError {
  return {
    code: kind ?? 'guest_error',
    name,
    message: message ? `${name}: ${message}` : name,
    traceback,
    ...(line === null ? {} : { line }),
    ...(column === null ? {} : { column }),
  };
}
