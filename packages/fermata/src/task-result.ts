/** What a task comes to. */
import type { Call, ErrorCode, MachineUsage, Value } from '@fermata/protocol';

export type TaskStatus = 'pending' | 'running' | TaskResult['status'];

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

/** What is told of a task in every state. */
export interface TaskFacts {
  taskId: string;
  stdout: string;
  stderr: string;
  /** The output was cut at its limit. */
  truncated: boolean;
  waitingFor: WaitingFor[];
  /** Every call in the order of its start. */
  calls: LoggedCall[];
  resourcesUsed: ResourcesUsed;
}

export interface SucceededResult extends TaskFacts {
  status: 'succeeded';
  /** The program's result. */
  output: Value;
  /** What the program left in `/work`. */
  files: { path: string; data: Uint8Array }[];
  error?: undefined;
}
export interface FailedResult extends TaskFacts {
  status: 'failed';
  error: TaskError;
  output: undefined;
  files: [];
}
export interface CancelledResult extends TaskFacts {
  status: 'cancelled';
  output: undefined;
  files: [];
  error?: undefined;
}
/** Of a task that has not ended: it was paused, or waits for somebody (see `waitingFor`). */
export interface StoppedResult extends TaskFacts {
  status: 'paused' | 'waiting';
  output: undefined;
  files: [];
  error?: undefined;
}

export type EndedResult = SucceededResult | FailedResult | CancelledResult;
/** What a task has come to; `status` says which fields hold something. */
export type TaskResult = EndedResult | StoppedResult;

export function resourcesUsed({ calls, ...usage }: MachineUsage, { wallMs, cpuMs }: { wallMs: number; cpuMs: number }): ResourcesUsed {
  return { wallTimeMs: Math.round(wallMs), cpuTimeMs: Math.round(cpuMs * 100) / 100, ...usage, toolCalls: calls };
}
