/**
 * What bounds the calls of a tool: how long one may take, how often it is tried, how many are under way, and when a tool that
 * fails again and again is left alone for a while.
 *
 * A call that is not over in its time is told so by its signal. A tool that heeds it has failed with `Timeout`, or has answered after
 * all; one that does not is cut off after a grace, and nobody knows what came of the call.
 */
import { type CallResult, FermataError, isCallersFault } from '@fermata/protocol';
import { strictOptions } from '@fermata/protocol/schemas';
import { z } from 'zod';
import { type ToolCallInfo, ToolError } from './tool-error.ts';

export interface ToolLimits {
  /** Of one try. */
  timeoutMs?: number | undefined;
  /** How often a failed call is tried in all, and how long before the second try; doubled for each after it. Of idempotent tools only. */
  retry?: { maxAttempts: number; backoffMs: number } | undefined;
  /** Calls that are under way at the same time, of all tasks; others wait for their turn. */
  maxConcurrent?: number | undefined;
  /** After so many failures in a row calls fail at once, until `resetMs` later one is let through to see. */
  circuitBreaker?: { failures: number; resetMs: number } | undefined;
}

/** Where a call waits until its tool may have it. */
export interface ToolGate {
  /** Resolves with what is to be told of the end of the call. Throws {@link ToolError} `CircuitOpen`, and `Aborted` where the signal is. */
  enter(signal: AbortSignal): Promise<(result: CallResult) => void>;
}

/** Nobody knows what came of a call. `late` is what the tool may answer after all. */
export class OutcomeUnknown extends ToolError {
  readonly outcome = 'unknown';
  readonly late: Promise<unknown>;
  constructor(message: string, late: Promise<unknown>) {
    super(message, { name: 'Timeout' });
    this.late = late;
  }
}

const count = z.int().min(1).max(1_000_000);
const time = z
  .number()
  .positive()
  .max(2 ** 31 - 1);

export const toolLimitsShape = {
  timeoutMs: time.optional(),
  retry: strictOptions({ maxAttempts: count, backoffMs: z.number().min(0).max(3_600_000) }).optional(),
  maxConcurrent: count.optional(),
  circuitBreaker: strictOptions({ failures: count, resetMs: time }).optional(),
};

/** Time that a tool has to heed its signal. */
const GRACE_MS = 1_000;

/** Throws `invalid_request` where a tool is to be repeated that may not be. */
export function checkToolLimits(tool: string, { retry }: ToolLimits, idempotent: boolean): void {
  if (retry && retry.maxAttempts > 1 && !idempotent) {
    throw new FermataError('invalid_request', `tool ${tool}: retry: only an idempotent tool is called again`, {
      hint: 'Say idempotent: true where calling it twice has the effect of calling it once, for one by the idempotency key that each call has.',
    });
  }
}

type Execute = (args: never, info: ToolCallInfo) => unknown;

/** The same, within its time. */
export function withTimeout(tool: string, timeoutMs: number, execute: Execute): Execute {
  return async (args, info) => {
    const over = new AbortController();
    const signal = AbortSignal.any([info.signal, over.signal]);
    const work = (async () => execute(args, { ...info, signal }))();
    work.catch(() => {});
    const late = new ToolError(`${tool}: no answer within ${timeoutMs} ms`, { name: 'Timeout' });
    let timer: NodeJS.Timeout | undefined;
    const cutOff = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        over.abort(late);
        timer = setTimeout(() => reject(new OutcomeUnknown(`${late.message}; whether the call was carried out is not known`, work)), GRACE_MS);
      }, timeoutMs);
    });
    try {
      return await Promise.race([work, cutOff]);
    } catch (error) {
      throw over.signal.aborted && !(error instanceof OutcomeUnknown) ? late : error;
    } finally {
      clearTimeout(timer);
    }
  };
}

/** undefined where nothing is to be waited for. */
export function createToolGate(tool: string, { maxConcurrent, circuitBreaker }: ToolLimits, now: () => number = Date.now): ToolGate | undefined {
  return maxConcurrent === undefined && circuitBreaker === undefined ? undefined : new Gate(tool, maxConcurrent, circuitBreaker, now);
}

class Gate implements ToolGate {
  readonly #tool: string;
  readonly #most: number;
  readonly #breaker: ToolLimits['circuitBreaker'];
  readonly #now: () => number;
  readonly #waiting: (() => void)[] = [];
  #underWay = 0;
  /** In a row. */
  #failures = 0;
  /** Until then calls fail at once. */
  #openUntil = 0;
  /** The one call that is let through to see. */
  #trying = false;

  constructor(tool: string, most = Number.POSITIVE_INFINITY, breaker: ToolLimits['circuitBreaker'], now: () => number) {
    this.#tool = tool;
    this.#most = most;
    this.#breaker = breaker;
    this.#now = now;
  }

  async enter(signal: AbortSignal): Promise<(result: CallResult) => void> {
    while (this.#underWay >= this.#most) await this.#turn(signal);
    const isTrial = this.#passBreaker();
    this.#underWay++;
    return (result) => {
      this.#underWay--;
      if (isTrial) this.#trying = false;
      this.#count(result);
      this.#waiting.shift()?.();
    };
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const next = () => {
        signal.removeEventListener('abort', givenUp);
        resolve();
      };
      const givenUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(next), 1);
        reject(new ToolError(`${this.#tool}: the call was given up`, { name: 'Aborted' }));
      };
      if (signal.aborted) return givenUp();
      signal.addEventListener('abort', givenUp, { once: true });
      this.#waiting.push(next);
    });
  }

  /** Whether this is the call by which it is seen whether the tool works again. */
  #passBreaker(): boolean {
    if (!this.#breaker || this.#failures < this.#breaker.failures) return false;
    const waitMs = this.#openUntil - this.#now();
    if (waitMs <= 0 && !this.#trying) {
      this.#trying = true;
      return true;
    }
    const again = waitMs > 0 ? `is tried again in ${Math.ceil(waitMs / 1000)} s` : 'is being tried again';
    // Whoever waits for a turn is to be told the same.
    this.#waiting.shift()?.();
    throw new ToolError(`${this.#tool} is not called: it has failed ${this.#failures} times in a row, and ${again}`, {
      name: 'CircuitOpen',
      data: { retry_after_seconds: Math.max(0, waitMs) / 1000 },
    });
  }

  #count(result: CallResult): void {
    if (!this.#breaker) return;
    if ('ok' in result) this.#failures = 0;
    else if (!isCallersFault(result.error) && result.error.name !== 'Aborted') {
      this.#failures++;
      if (this.#failures >= this.#breaker.failures) this.#openUntil = this.#now() + this.#breaker.resetMs;
    }
  }
}
