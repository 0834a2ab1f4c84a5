/** What a tool is told of a call, and what it throws. */
import type { CallProgress, Value } from '@fermata/protocol';

export interface ToolCallInfo {
  taskId: string;
  /** Of a durable task it is a text, of one in memory the number that `answer` takes. */
  callId: string | number;
  /** The same for every try of one call. Give it to the service behind the tool, so that a repeat has no second effect. */
  idempotencyKey: string;
  /** Aborted when the task is cancelled or runs out of time, and when the call does. */
  signal: AbortSignal;
  /** Tells how far the call is; it becomes an event of the task. */
  progress?: ((told: CallProgress) => void) | undefined;
  /** Tells what the call takes of the task's account. */
  spent?: ((used: { networkBytes: number }) => void) | undefined;
}

/** What a tool throws to tell the program more than a message. Any other error is passed on by its name and message. */
export class ToolError extends Error {
  override readonly name: string;
  readonly data: Value;
  constructor(message: string, options: { name?: string; data?: Value } = {}) {
    super(message);
    this.name = options.name ?? 'ToolError';
    this.data = options.data;
  }
}
