/**
 * What is known of a task's calls before its program makes them: those that the same attempt made before it was run again, and
 * the results that earlier rounds were given.
 *
 * A machine numbers its calls from 1; in the task they are numbered through all rounds: a round is the program begun from its start.
 */
import { type Call, type CallResult, type CallRow, FermataError, type TaskRow, toWire } from '@fermata/protocol';
import { resultOf } from './call-result.ts';
import { isSameCall } from './left-out.ts';
import type { LiveTask } from './live-task.ts';

/** More calls than a round can make. */
const PER_ROUND = 1_000_000;

/** The number before that of the first call of the present round. */
export function firstCallOf({ round, attempt }: Pick<TaskRow, 'round' | 'attempt'>): number {
  return (round ?? Math.max(1, attempt) - 1) * PER_ROUND;
}

export class KnownCalls {
  readonly #live: LiveTask;
  readonly #base: number;
  /** Results of earlier rounds by tool and arguments, in the order of their calls. */
  readonly #results = new Map<string, CallResult[]>();

  constructor(live: LiveTask) {
    this.#live = live;
    this.#base = firstCallOf(live.row);
    for (const call of live.calls()) {
      if (call.n <= 0 || call.n > this.#base || call.status !== 'settled') continue;
      const result = resultOf(call);
      if (!('ok' in result)) continue;
      const key = `${call.tool}\n${call.args}`;
      this.#results.set(key, [...(this.#results.get(key) ?? []), result]);
    }
  }

  /** Of a machine that has run other programs before. */
  get #origin(): number {
    return this.#live.row.origin?.calls ?? 0;
  }
  machineIdOf(n: number): number {
    return n - this.#base + this.#origin;
  }

  /** A call that the program makes: `create` is asked to take it if it is new. Throws `replay_diverged` where another one was made in its place. */
  accept(call: Call, create: (n: number, known: CallResult | undefined) => CallRow): CallRow | undefined {
    const n = this.#base + call.id - this.#origin;
    const args = JSON.stringify(toWire(call.args));
    const before = this.#live.call(n);
    if (!before) return create(n, this.#results.get(`${call.name}\n${args}`)?.shift());
    if (isSameCall(before, call.name, args)) return undefined;
    throw new FermataError('replay_diverged', `call ${call.id} was ${before.tool}(${before.args.slice(0, 200)}) and is now ${call.name}(${args.slice(0, 200)})`, {
      hint: 'The program does not do the same when it is run again; fork it from a checkpoint, or start it anew.',
    });
  }

  /** When the first of the approvals that are waited for expires. */
  nextExpiry(): number | null {
    const times = this.#live.openCalls().flatMap(({ status, expiresAt }) => (status === 'waiting' && expiresAt !== null ? [expiresAt] : []));
    return times.length > 0 ? Math.min(...times) : null;
  }
}
