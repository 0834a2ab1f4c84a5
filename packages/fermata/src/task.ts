/**
 * A task: one program on one machine, advanced step by step or run to its end.
 *
 * It owns the machine, the book of calls and the output, and it is what a snapshot holds. What the program does never
 * throws from here; what cannot be done with a task in its state does, as `invalid_state`.
 */

import {
  type Call,
  type CallResult,
  FermataError,
  type Host,
  type HostedMachine,
  type Inspection,
  type MachineOptions,
  type OpenOptions,
  type Program,
  type ToolFailure,
  type Value,
  type Wait,
} from '@fermata/protocol';
import type { Tool } from '@fermata/tools';
import { Bell } from './bell.ts';
import { CallBook } from './call-book.ts';
import type { SnapshotOptions } from './fermata-options.ts';
import { OutputLog } from './output-log.ts';
import { SpentTime } from './spent-time.ts';
import { type Ending, Stepper } from './stepper.ts';
import { TaskCalls } from './task-calls.ts';
import { guarded, type TaskEvent } from './task-event.ts';
import { type EndedResult, resourcesUsed, type StoppedResult, type TaskFacts, type TaskResult, type TaskStatus, type WaitingFor } from './task-result.ts';
import { type KeySource, openSnapshot, writeSnapshot } from './task-snapshot.ts';
import type { TaskState } from './task-state.ts';
import type { Approver, ToolRunnerOptions } from './tool-runner.ts';

/** How a step ended. `stopped`: a pause was asked for. */
export type Step = { kind: 'calls'; calls: Call[]; dueMs: number | null } | { kind: 'stopped' } | { kind: 'ended'; result: EndedResult };

/** @internal */
export interface TaskOptions {
  id: string;
  host: Host;
  /** For whom its machine gets a place. */
  place: MachineOptions;
  tools: ReadonlyMap<string, Tool>;
  approve: Approver | undefined;
  onEvent: ((event: TaskEvent) => void) | undefined;
  /** Seals snapshots of this task; without it they are not sealed. */
  sealKey: KeySource | undefined;
  /** Aborted when the task's owner closes; the task is disposed of then. */
  closing: AbortSignal;
}

export class Task implements AsyncDisposable {
  readonly id: string;
  readonly program: Program;
  /** Whatever the caller wants kept with the snapshot, e.g. where the tools came from. */
  label: Value;
  readonly #options: TaskOptions;
  readonly #machine: HostedMachine;
  readonly #seed: Uint8Array;
  readonly #abort = new AbortController();
  readonly #bell = new Bell();
  readonly #calls: TaskCalls;
  readonly #output: OutputLog;
  readonly #time: SpentTime;
  readonly #stepper: Stepper;
  readonly #tell: (event: TaskEvent) => void;
  #status: TaskStatus;
  #result: EndedResult | undefined;

  private constructor(
    options: TaskOptions,
    machine: HostedMachine,
    waits: Wait,
    saved: Pick<TaskState, 'program' | 'seed' | 'wallMs' | 'cpuMs' | 'label'>,
    book: CallBook,
    output: OutputLog,
  ) {
    this.id = options.id;
    this.program = saved.program;
    this.label = saved.label;
    this.#options = options;
    this.#machine = machine;
    this.#seed = saved.seed;
    this.#output = output;
    this.#status = waits.for === 'start' ? 'pending' : 'paused';
    this.#tell = guarded(options.onEvent);
    this.#time = new SpentTime(machine, saved);
    const { signal } = this.#abort;
    const onSettled = (call: Call, result: CallResult) => {
      this.#tell({ type: 'call_settled', call, result });
      this.#bell.ring();
    };
    const onProgress: ToolRunnerOptions['onProgress'] = (call, told) => this.#tell({ type: 'call_progress', call, ...told });
    this.#calls = new TaskCalls(book, { taskId: this.id, tools: options.tools, approve: options.approve, signal, onProgress }, machine.limits.maxCallsAtOnce, onSettled, () =>
      this.#bell.ring(),
    );
    const { program, seed } = saved;
    this.#stepper = new Stepper({ machine, program, tools: options.tools, seed, calls: this.#calls, output, time: this.#time, bell: this.#bell, signal, tell: this.#tell }, waits);
    options.closing.addEventListener('abort', this.#onClosing, { once: true });
  }

  /** @internal A task that has not begun. `seed`: 32 bytes, from which all its randomness comes. */
  static create(options: TaskOptions, machine: HostedMachine, program: Program, seed: Uint8Array, label: Value): Task {
    return new Task(options, machine, { for: 'start' }, { program, seed, wallMs: 0, cpuMs: 0, label }, new CallBook(), new OutputLog());
  }

  /** @internal The task that a snapshot holds, paused; `complete` and errors are those of {@link openSnapshot}. */
  static async restore(host: Host, bytes: Uint8Array, open: OpenOptions, place: MachineOptions, complete: (saved: TaskState) => TaskOptions | Promise<TaskOptions>): Promise<Task> {
    const { machine, waits, saved, options } = await openSnapshot(host, bytes, open, place, complete);
    return new Task(options, machine, waits, saved, CallBook.load(saved.calls), OutputLog.load(saved.output));
  }

  get status(): TaskStatus {
    return this.#status;
  }
  /** The result, once the task has ended. */
  get result(): EndedResult | undefined {
    return this.#result;
  }
  /** Calls without an answer, in the order of their start. */
  get pending(): Call[] {
    return this.#calls.pending;
  }
  /** Calls that only somebody else can settle: by `answer`, `fail`, `approve` or `retry`. */
  get waitingFor(): WaitingFor[] {
    return this.#calls.waitingFor;
  }
  /** Line and column of the user's code at the last stop. */
  get position(): { line: number; column: number } | null {
    return this.#machine.report.position;
  }

  /**
   * Runs to the end, carrying out the calls of its tools. Resolves with status `paused` if a pause was asked for, and
   * with `waiting` if only somebody else can settle what is left (see `waitingFor`); then `run` goes on from there.
   */
  async run(): Promise<TaskResult> {
    if (this.#result) return this.#result;
    return this.#going(() => this.#calls.performing(() => this.#ran()));
  }

  /**
   * One step, carrying out nothing: until the program waits for calls (answer one of them, then step again), ends, or is
   * paused. Where the program only sleeps, this waits for it.
   */
  async next(): Promise<Step> {
    if (this.#result) return { kind: 'ended', result: this.#result };
    if (this.#stepper.wantsAnswer) {
      const calls = this.pending.map(({ id, name }) => `${id} (${name})`).join(', ');
      throw new FermataError('invalid_state', `the task waits for an answer to one of its calls: ${calls}`);
    }
    return this.#going(async () => {
      const step = await this.#step();
      if (step.kind !== 'ended') this.#setStatus(step.kind === 'calls' ? 'waiting' : 'paused');
      return step;
    });
  }

  /** Answers a call in the place of its tool. Throws `invalid_state` if it is not open. */
  answer(callId: number, value: Value): void {
    this.#calls.answer(callId, value);
  }
  /** Lets a call fail; the program sees an exception with this message. */
  fail(callId: number, failure: ToolFailure): void {
    this.#calls.fail(callId, failure);
  }
  /** Agrees to a call that waits for approval, if need be with other arguments, and has it carried out. */
  approve(callId: number, edited?: Call['args']): void {
    this.#calls.approve(callId, edited);
  }
  /** Has a call whose outcome is unknown carried out again: its effect may then happen twice. */
  retry(callId: number): void {
    this.#calls.retry(callId);
  }

  /** Stops the program where it is; calls that were started go on, and their answers are kept. Resolves when it is stopped. */
  async pause(): Promise<void> {
    await this.#stepper.halt();
    if (this.#result) throw new FermataError('invalid_state', `the task has ${this.#status}`);
    this.#setStatus('paused');
  }

  /** Resolves when no started call is without an answer, or after `graceMs`. */
  async settled(graceMs: number): Promise<void> {
    const end = performance.now() + graceMs;
    for (let left = graceMs; left > 0 && this.#calls.underWay; left = end - performance.now()) await this.#bell.heard(left);
  }

  /** The whole task as bytes. It must be stopped and not ended: paused, waiting, or between steps. */
  async snapshot(options: SnapshotOptions = {}): Promise<Uint8Array> {
    this.#mustBeStopped();
    if (this.#result) throw new FermataError('invalid_state', `the task has ${this.#status}; there is nothing to go on with`);
    const { wallMs, cpuMs } = this.#time;
    const [id, program, seed, label] = [this.id, this.program, this.#seed, this.label];
    const state = { version: 1 as const, id, program, calls: this.#calls.book.save(), output: this.#output.save(), wallMs, cpuMs, seed, label };
    return writeSnapshot(this.#machine, state, this.#options.sealKey, options);
  }

  /** A second task that goes on from here on its own. Calls that were started and not answered are unknown in it. */
  async fork(id: string): Promise<Task> {
    const { host, place, sealKey } = this.#options;
    const bytes = await this.snapshot();
    return Task.restore(host, bytes, sealKey ? { keys: [await sealKey()] } : { trust: true }, place, () => ({ ...this.#options, id }));
  }

  /** Stack, locals, pending calls and files of a stopped task, seen on a copy. */
  async inspect(): Promise<Inspection> {
    this.#mustBeStopped();
    return this.#machine.inspect();
  }
  /** A fingerprint of everything that decides how the program goes on; equal for equal states. */
  async stateHash(): Promise<string> {
    this.#mustBeStopped();
    return this.#machine.hash();
  }
  /** A file of the program's in `/work` or `/tmp`, or undefined. */
  readFile(path: string): Promise<Uint8Array | undefined> {
    return this.#machine.readFile(path);
  }

  /** Ends the task; no code of the program runs any more, and the tools' signals are aborted. */
  async cancel(): Promise<EndedResult> {
    if (this.#result) return this.#result;
    this.#abort.abort(new FermataError('invalid_state', 'the task was cancelled'));
    await this.#stepper.halt();
    return this.#result ?? this.#end({ status: 'cancelled' });
  }

  /** Gives the machine back. The task can do nothing after. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#options.closing.removeEventListener('abort', this.#onClosing);
    this.#abort.abort(new FermataError('invalid_state', 'the task was disposed of'));
    this.#stepper.stop();
    this.#machine.dispose();
  }
  readonly #onClosing = () => void this[Symbol.asyncDispose]();

  #mustBeStopped(): void {
    if (this.#time.goes) throw new FermataError('invalid_state', 'the task is running; pause it first');
  }
  #going<T>(action: () => Promise<T>): Promise<T> {
    this.#mustBeStopped();
    return this.#stepper.going(() => {
      this.#setStatus('running');
      return action();
    });
  }

  async #ran(): Promise<TaskResult> {
    for (;;) {
      if (this.#stepper.wantsAnswer && this.#calls.areForOthers) return this.#stopped('waiting');
      const step = await this.#step();
      if (step.kind === 'ended') return step.result;
      if (step.kind === 'stopped') return this.#stopped('paused');
    }
  }
  async #step(): Promise<Step> {
    const end = await this.#stepper.step();
    if (end.kind === 'ended' && end.ending.status === 'succeeded') await this.#stepper.begun();
    if (end.kind === 'ended') return { kind: 'ended', result: await this.#end(end.ending) };
    if (end.kind === 'calls') return { kind: 'calls', calls: this.pending, dueMs: end.dueMs };
    return this.#abort.signal.aborted ? { kind: 'ended', result: await this.#end({ status: 'cancelled' }) } : { kind: 'stopped' };
  }
  async #end(ending: Ending | { status: 'cancelled' }): Promise<EndedResult> {
    const succeeded = ending.status === 'succeeded';
    const files = succeeded && this.#machine.report.usage.diskBytes > 0 ? await this.#machine.files() : [];
    this.#setStatus(ending.status);
    const facts = this.#facts();
    if (succeeded) this.#result = { ...facts, ...ending, files };
    else this.#result = { ...facts, output: undefined, files: [], ...ending };
    this.#abort.abort(new FermataError('invalid_state', `the task has ${ending.status}`));
    this.#calls.close();
    this.#bell.ring();
    if (!succeeded) this.#machine.dispose();
    return this.#result;
  }
  #stopped(status: StoppedResult['status']): StoppedResult {
    this.#setStatus(status);
    return { ...this.#facts(), status, output: undefined, files: [] };
  }
  #facts(): TaskFacts {
    return {
      taskId: this.id,
      stdout: this.#output.text('stdout'),
      stderr: this.#output.text('stderr'),
      truncated: this.#stepper.truncated,
      waitingFor: this.waitingFor,
      calls: this.#calls.book.log(),
      resourcesUsed: resourcesUsed(this.#machine.report.usage, this.#time),
    };
  }
  #setStatus(status: TaskStatus): void {
    if (this.#status === status) return;
    this.#status = status;
    this.#tell({ type: 'status', status });
  }
}
