/**
 * The calls of a task on their way to whoever settles them: their tool, a person, or the owner of the task.
 *
 * A call is never carried out twice by itself: one whose tool was started before a snapshot and has no answer in it is
 * `outcome_unknown` after a restore, unless the tool is idempotent.
 */
import { type Call, type CallResult, FermataError, HELD_ANSWER_BYTES, parseOptions, type ToolFailure, type Value } from '@fermata/protocol';
import { strictOptions } from '@fermata/protocol/schemas';
import { z } from 'zod';
import type { CallBook, CallRecord } from './call-book.ts';
import { crossed, crossedRecord } from './crossing.ts';
import type { WaitingFor } from './task-result.ts';
import { performCall, type ToolRunnerOptions, whoSettles } from './tool-runner.ts';

const WAITS_FOR: Record<WaitingFor['kind'], string> = { approval: 'approval', client_tool: 'an answer', outcome_unknown: 'a decision on its outcome' };

const failureSchema = strictOptions({ name: z.string(), message: z.string(), data: z.unknown().optional() });

export class TaskCalls {
  readonly book: CallBook;
  readonly #runner: ToolRunnerOptions;
  readonly #onSettled: (call: Call, result: CallResult) => void;
  /** Told when a call waits for something else than before. */
  readonly #onChanged: () => void;
  readonly #maxAtOnce: number;
  #performing = false;
  #closed = false;

  /** `maxAtOnce`: how many calls are carried out at the same time. */
  constructor(book: CallBook, runner: ToolRunnerOptions, maxAtOnce: number, onSettled: (call: Call, result: CallResult) => void, onChanged: () => void) {
    this.book = book;
    this.#runner = runner;
    this.#maxAtOnce = maxAtOnce;
    this.#onSettled = onSettled;
    this.#onChanged = onChanged;
  }

  /** Calls without an answer, in the order of their start. */
  get pending(): Call[] {
    return this.book.open().map(({ call }) => call);
  }
  /** Calls that only somebody else can settle. */
  get waitingFor(): WaitingFor[] {
    return this.book.open().flatMap((record): WaitingFor[] => {
      const kind = this.#otherSettles(record);
      return kind ? [{ callId: record.call.id, tool: record.call.name, arguments: record.call.args, kind }] : [];
    });
  }
  /** True when nothing that this process does will settle any of them. */
  get areForOthers(): boolean {
    return this.book.open().every((record) => this.#otherSettles(record) !== undefined);
  }
  /** Whether a tool has been handed a call and has not answered yet. */
  get underWay(): boolean {
    return !this.#closed && this.book.open().some(({ state }) => state === 'started');
  }

  /** Whether calls wait for their turn to be carried out. */
  get areQueued(): boolean {
    return this.#performing && this.book.open().some((record) => this.#isOurs(record));
  }

  /** While `action` goes on, calls are carried out that need nobody else. */
  async performing<T>(action: () => Promise<T>): Promise<T> {
    this.#performing = true;
    this.performOurs();
    try {
      return await action();
    } finally {
      this.#performing = false;
    }
  }
  /**
   * Has calls carried out that were not begun, or may be repeated, in their order: not too many at once, and none while the
   * program has not taken many bytes of answers.
   */
  performOurs(): void {
    if (!this.#performing || this.#closed) return;
    const open = this.book.open();
    let atOnce = open.filter(({ state }) => state === 'deciding' || state === 'started').length;
    for (const record of open) {
      if (atOnce >= this.#maxAtOnce || this.book.answerBytes > HELD_ANSWER_BYTES) return;
      if (!this.#isOurs(record)) continue;
      this.#perform(record);
      atOnce++;
    }
  }
  #isOurs({ call, state }: CallRecord): boolean {
    const repeatable = state === 'unknown' && this.#runner.tools.get(call.name)?.idempotent;
    return (state === 'new' || repeatable === true) && whoSettles(call, this.#runner) === 'runner';
  }

  answer(callId: number, value: Value): void {
    this.#settle(this.#open(callId), { ok: crossed(value, `answer to call ${callId}`) });
  }
  fail(callId: number, failure: ToolFailure): void {
    const record = this.#open(callId);
    const { name, message, data } = parseOptions(failureSchema, failure, `failure of call ${callId}`);
    this.#settle(record, { error: { name, message, data: crossed(data, `data of the failure of call ${callId}`) } });
  }
  approve(callId: number, edited?: Call['args']): void {
    const record = this.#waiting(callId, 'approval');
    if (edited) record.edited = crossedRecord(edited, `arguments for call ${callId}`);
    this.#perform(record);
  }
  retry(callId: number): void {
    this.#perform(this.#waiting(callId, 'outcome_unknown'));
  }
  /** The task has ended: what tools still answer is not heard. */
  close(): void {
    this.#closed = true;
  }

  #perform(record: CallRecord): void {
    record.state = 'deciding';
    const agreed = { approve: true as const, arguments: record.edited ?? record.call.args };
    const runner = whoSettles(record.call, this.#runner) === 'approval' ? { ...this.#runner, approve: () => agreed } : this.#runner;
    const handedOver = () => {
      record.state = 'started';
    };
    void performCall(record.call, runner, handedOver).then(({ result, late }) => {
      if (this.#closed || (record.state !== 'deciding' && record.state !== 'started')) return;
      if (!late) return this.#settle(record, result);
      record.state = 'unknown';
      this.#onChanged();
      // A result is a fact, also where nobody waited for it any more.
      void late.then((after) => {
        if (record.state === 'unknown' && !this.#closed) this.#settle(record, after);
      });
    });
  }
  #settle(record: CallRecord, result: CallResult): void {
    this.book.settle(record, result);
    this.#onSettled(record.call, result);
    this.performOurs();
  }
  #open(callId: number): CallRecord {
    const record = this.book.get(callId);
    if (!record || record.state === 'settled' || record.state === 'delivered') throw new FermataError('invalid_state', `call ${callId} is not open`);
    return record;
  }
  #waiting(callId: number, kind: WaitingFor['kind']): CallRecord {
    const record = this.#open(callId);
    if (this.#otherSettles(record) !== kind) throw new FermataError('invalid_state', `call ${callId} does not wait for ${WAITS_FOR[kind]}`);
    return record;
  }
  #otherSettles({ call, state }: CallRecord): WaitingFor['kind'] | undefined {
    if (state === 'started' || state === 'deciding') return undefined;
    if (state === 'unknown') return 'outcome_unknown';
    const who = whoSettles(call, this.#runner);
    return who === 'runner' ? undefined : who;
  }
}
