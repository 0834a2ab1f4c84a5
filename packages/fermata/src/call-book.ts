/**
 * The calls of one task: which were started, which have an answer, and in which order answers are to be delivered.
 *
 * It is part of a task's snapshot, so a restored task knows what it must not repeat: a call that was handed to its tool
 * and has no recorded answer is `unknown` after a restore.
 */
import { encodeValue, MAX_CARRIER_DEPTH } from '@fermata/machine';
import { type Call, type CallResult, roughBytes, type Value } from '@fermata/protocol';
import type { LoggedCall } from './task-result.ts';
import type { SavedCalls } from './task-state.ts';

/** `deciding`: somebody is asked for approval; `started`: handed to its tool. */
export type CallState = 'new' | 'deciding' | 'started' | 'unknown' | 'settled' | 'delivered';

export interface CallRecord {
  call: Call;
  state: CallState;
  /** What a person who agreed to the call put in the place of its arguments. */
  edited?: Call['args'];
  result?: CallResult;
  /** What the result takes. */
  resultBytes?: number;
}

/**
 * Arguments of up to so many bytes stay in the log of calls after the answer, and so many of all calls together: the log is
 * a part of every snapshot.
 */
const LOGGED_BYTES = 16 * 1024;
const ALL_LOGGED_BYTES = 1024 * 1024;

export class CallBook {
  readonly #records = new Map<number, CallRecord>();
  /** Settled and not delivered, in the order in which they settled. */
  readonly #answers: number[] = [];
  #loggedBytes = 0;
  /** What the answers take that were not delivered. */
  #answerBytes = 0;

  add(call: Call): CallRecord {
    const record: CallRecord = { call, state: 'new' };
    this.#records.set(call.id, record);
    return record;
  }
  get(id: number): CallRecord | undefined {
    return this.#records.get(id);
  }
  /** Calls that are not settled, in the order of their start. */
  open(): CallRecord[] {
    return [...this.#records.values()].filter(({ state }) => state !== 'settled' && state !== 'delivered');
  }

  settle(record: CallRecord, result: CallResult): void {
    record.state = 'settled';
    record.result = result;
    this.#queue(record);
  }
  #queue(record: CallRecord): void {
    const { call, result } = record;
    record.resultBytes = roughBytes(result && 'ok' in result ? result.ok : { ...result?.error });
    this.#answers.push(call.id);
    this.#answerBytes += record.resultBytes;
  }
  /** The next answer to deliver, which counts as delivered from now on. */
  nextAnswer(): { callId: number; result: CallResult } | undefined {
    const callId = this.#answers.shift();
    const record = callId === undefined ? undefined : this.#records.get(callId);
    if (!record?.result) return undefined;
    const { result } = record;
    record.state = 'delivered';
    this.#answerBytes -= record.resultBytes ?? 0;
    this.#forget(record);
    return { callId: record.call.id, result };
  }
  /** What the answers take that the program has not been given yet. */
  get answerBytes(): number {
    return this.#answerBytes;
  }
  get hasAnswer(): boolean {
    return this.#answers.length > 0;
  }

  /** The program has the answer now; of a settled call only what the log shows is kept. */
  #forget(record: CallRecord): void {
    const { call, result } = record;
    const bytes = encodedBytes(call.args);
    if (bytes > LOGGED_BYTES || this.#loggedBytes + bytes > ALL_LOGGED_BYTES) record.call = { ...call, args: { '(left out)': `${bytes} bytes` } };
    else this.#loggedBytes += bytes;
    if (result && 'ok' in result) record.result = { ok: null };
    delete record.edited;
  }

  /** Whether an error's message is that of a call which was refused for its arguments. */
  refusedArguments(message: string): boolean {
    return [...this.#records.values()].some(({ result }) => result && 'error' in result && result.error.name === 'InvalidArguments' && message.endsWith(result.error.message));
  }

  log(): LoggedCall[] {
    return [...this.#records.values()].map(({ call, result }) => ({
      callId: call.id,
      tool: call.name,
      arguments: call.args,
      status: !result ? 'pending' : 'ok' in result ? 'ok' : 'error',
      ...(result && 'error' in result ? { error: result.error.message } : {}),
    }));
  }

  save(): SavedCalls {
    const records = [...this.#records.values()].map(({ call, state, edited, result }) => ({
      ...call,
      state: state === 'deciding' ? ('new' as const) : state,
      ...(edited ? { edited } : {}),
      ...(result ? { result } : {}),
    }));
    return { answers: [...this.#answers], records };
  }
  static load({ answers, records }: SavedCalls): CallBook {
    const book = new CallBook();
    for (const { id, name, args, state, edited, result } of records) {
      const record = book.add({ id, name, args });
      record.state = state === 'started' ? 'unknown' : state;
      if (edited) record.edited = edited;
      if (result) record.result = result as CallResult;
      if (state === 'delivered') book.#loggedBytes += encodedBytes(args);
    }
    for (const id of answers) {
      const record = book.get(id);
      if (record) book.#queue(record);
    }
    return book;
  }
}

function encodedBytes(value: Value): number {
  return encodeValue(value, 'value', MAX_CARRIER_DEPTH).length;
}
