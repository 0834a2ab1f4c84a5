/**
 * A task: one program on one machine, advanced step by step or run to its end.
 *
 * It owns the machine, the book of calls and the output, and it is what a snapshot holds. It never starts a call twice
 * by itself: a call whose tool was started before a snapshot and has no answer in it is `outcome_unknown` after a
 * restore, unless the tool is idempotent.
 */
import type { Host, HostedMachine, HostedOutcome, OpenOptions, SealOptions } from '@fermata/machine';
import {
  type Call,
  type CallResult,
  type Emission,
  FermataError,
  type Input,
  type Inspection,
  type Note,
  type Program,
  type ToolFailure,
  type Value,
  type Wait,
} from '@fermata/protocol';
import { CallBook, type CallRecord } from './call-book.ts';
import { crossed, crossedRecord } from './crossing.ts';
import { OutputLog } from './output-log.ts';
import { type PreparedSource, prepareSource } from './source.ts';
import { guestError, limitError, resourcesUsed, type TaskError, type TaskEvent, type TaskResult, type TaskStatus, type WaitingFor } from './task-result.ts';
import { decodeTaskState, encodeTaskState, type TaskState } from './task-state.ts';
import type { Tool } from './tool.ts';
import { type Approver, performCall, type ToolRunnerOptions, whoSettles } from './tool-runner.ts';

/** How a step ended. `stopped`: a pause was asked for. */
export type Step = { kind: 'calls'; calls: Call[]; dueMs: number | null } | { kind: 'stopped' } | { kind: 'ended'; result: TaskResult };

export interface TaskOptions {
  id: string;
  host: Host;
  tools: ReadonlyMap<string, Tool>;
  approve: Approver | undefined;
  onEvent: ((event: TaskEvent) => void) | undefined;
  /** How snapshots of this task are sealed; absent: not sealed. */
  seal: SealOptions | undefined;
  /** Aborted when the task's owner closes; the task is disposed of then. */
  closing: AbortSignal;
}

const WAITS_FOR: Record<WaitingFor['kind'], string> = { approval: 'approval', client_tool: 'an answer', outcome_unknown: 'a decision on its outcome' };

export class Task implements AsyncDisposable {
  readonly id: string;
  readonly program: Program;
  /** Whatever the caller wants kept with the snapshot, e.g. where the tools came from. */
  label: Value;
  readonly #options: TaskOptions;
  readonly #machine: HostedMachine;
  readonly #seed: Uint8Array;
  readonly #source: PreparedSource;
  readonly #abort = new AbortController();
  readonly #calls: CallBook;
  readonly #output: OutputLog;
  #waits: Wait;
  #status: TaskStatus;
  #wallBeforeMs: number;
  /** When the program was last set going; undefined while it is stopped. */
  #goingSince: number | undefined;
  readonly #cpuBeforeMs: number;
  #result: TaskResult | undefined;
  #pauseAsked = false;
  #truncated = false;
  readonly #sleepers = new Set<() => void>();
  #idle: PromiseWithResolvers<void> | undefined;

  private constructor(
    options: TaskOptions,
    machine: HostedMachine,
    waits: Wait,
    saved: Pick<TaskState, 'program' | 'seed' | 'wallMs' | 'cpuMs' | 'label'>,
    calls: CallBook,
    output: OutputLog,
  ) {
    this.id = options.id;
    this.program = saved.program;
    this.#source = prepareSource(saved.program);
    this.label = saved.label;
    this.#options = options;
    this.#machine = machine;
    this.#waits = waits;
    this.#seed = saved.seed;
    this.#calls = calls;
    this.#output = output;
    this.#wallBeforeMs = saved.wallMs;
    this.#cpuBeforeMs = saved.cpuMs;
    this.#status = waits.for === 'start' ? 'pending' : 'paused';
    options.closing.addEventListener('abort', this.#onClosing, { once: true });
  }

  /** A task that has not begun. `seed`: 32 bytes, from which all its randomness comes. */
  static create(options: TaskOptions, machine: HostedMachine, program: Program, seed: Uint8Array): Task {
    return new Task(options, machine, { for: 'start' }, { program, seed, wallMs: 0, cpuMs: 0, label: null }, new CallBook(), new OutputLog());
  }

  /** The task that a snapshot holds, paused; throws `checkpoint_invalid` or `environment_mismatch`. */
  static async restore(options: Omit<TaskOptions, 'id'> & { id?: string }, bytes: Uint8Array, open: OpenOptions): Promise<Task> {
    const { machine, restored } = await options.host.restore(bytes, open);
    try {
      const saved = decodeTaskState(restored.attachment);
      return new Task({ ...options, id: options.id ?? saved.id }, machine, restored.waits, saved, CallBook.load(saved.calls), OutputLog.load(saved.output));
    } catch (error) {
      machine.dispose();
      throw error;
    }
  }

  get status(): TaskStatus {
    return this.#status;
  }
  /** The result, once the task has ended. */
  get result(): TaskResult | undefined {
    return this.#result;
  }
  /** Calls without an answer, in the order of their start. */
  get pending(): Call[] {
    return this.#calls.open().map(({ call }) => call);
  }
  /** Calls that only somebody else can settle: by `answer`, `fail`, `approve` or `retry`. */
  get waitingFor(): WaitingFor[] {
    return this.#calls.open().flatMap((record): WaitingFor[] => {
      const kind = this.#otherSettles(record);
      return kind ? [{ callId: record.call.id, tool: record.call.name, arguments: record.call.args, kind }] : [];
    });
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
    return this.#exclusively(async () => {
      for (;;) {
        for (const record of this.#calls.open()) this.#performIfOurs(record);
        if (this.#waitsForOthers()) return this.#report('waiting');
        const step = await this.#step(true);
        if (step.kind === 'ended') return step.result;
        if (step.kind === 'stopped') return this.#report('paused');
      }
    });
  }

  /**
   * One step, carrying out nothing: until the program waits for calls (answer one of them, then step again), ends, or is
   * paused. Where the program only sleeps, this waits for it.
   */
  next(): Promise<Step> {
    if (this.#result) return Promise.resolve({ kind: 'ended', result: this.#result });
    if (this.#waits.for === 'answer' && this.#waits.dueMs === null && !this.#calls.hasAnswer) {
      return Promise.reject(
        new FermataError('invalid_state', `the task waits for an answer to one of its calls: ${this.pending.map(({ id, name }) => `${id} (${name})`).join(', ')}`),
      );
    }
    return this.#exclusively(async () => {
      const step = await this.#step(false);
      if (step.kind !== 'ended') this.#setStatus(step.kind === 'calls' ? 'waiting' : 'paused');
      return step;
    });
  }

  /** Answers a call in the place of its tool. Throws `invalid_state` if it is not open. */
  answer(callId: number, value: Value): void {
    this.#settle(this.#open(callId), { ok: crossed(value, `answer to call ${callId}`) });
  }
  /** Lets a call fail; the program sees an exception with this message. */
  fail(callId: number, failure: ToolFailure): void {
    const { name, message, data } = failure;
    this.#settle(this.#open(callId), { error: { name: String(name), message: String(message), data: crossed(data, `data of the failure of call ${callId}`) } });
  }
  /** Agrees to a call that waits for approval, if need be with other arguments, and has it carried out. */
  approve(callId: number, edited?: Call['args']): void {
    const record = this.#waiting(callId, 'approval');
    if (edited) record.edited = crossedRecord(edited, `arguments for call ${callId}`);
    this.#perform(record);
  }
  /** Has a call whose outcome is unknown carried out again: its effect may then happen twice. */
  retry(callId: number): void {
    this.#perform(this.#waiting(callId, 'outcome_unknown'));
  }

  /** Stops the program where it is; calls that were started go on, and their answers are kept. Resolves when it is stopped. */
  async pause(): Promise<void> {
    await this.#halt();
    if (this.#result) throw new FermataError('invalid_state', `the task has ${this.#status}`);
    this.#setStatus('paused');
  }

  /** Resolves when no started call is without an answer, or after `graceMs`. */
  async settled(graceMs: number): Promise<void> {
    const end = performance.now() + graceMs;
    while (!this.#result && this.#calls.open().some(({ state }) => state === 'started')) {
      const left = end - performance.now();
      if (left <= 0) return;
      await this.#sleep(left);
    }
  }

  /** The whole task as bytes. It must be stopped and not ended: paused, waiting, or between steps. */
  async snapshot(): Promise<Uint8Array> {
    this.#mustBeStopped();
    if (this.#result) throw new FermataError('invalid_state', `the task has ${this.#status}; there is nothing to go on with`);
    const { seal } = this.#options;
    const attachment = encodeTaskState({
      version: 1,
      id: this.id,
      program: this.program,
      calls: this.#calls.save(),
      output: this.#output.save(),
      wallMs: this.#wallMs,
      cpuMs: this.#cpuMs,
      seed: this.#seed,
      label: this.label,
    });
    return this.#machine.snapshot(seal, attachment);
  }

  /** A second task that goes on from here on its own. Calls that were started and not answered are unknown in it. */
  async fork(id: string): Promise<Task> {
    const { seal } = this.#options;
    const open: OpenOptions = seal ? { keys: [seal.key], ...(seal.boundTo === undefined ? {} : { boundTo: seal.boundTo }) } : { trust: true };
    return Task.restore({ ...this.#options, id }, await this.snapshot(), open);
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
  async cancel(): Promise<TaskResult> {
    if (this.#result) return this.#result;
    this.#abort.abort(new FermataError('invalid_state', 'the task was cancelled'));
    await this.#halt();
    return this.#result ?? this.#end('cancelled', undefined, undefined);
  }

  /** Gives the machine back. The task can do nothing after. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#options.closing.removeEventListener('abort', this.#onClosing);
    this.#abort.abort(new FermataError('invalid_state', 'the task was disposed of'));
    this.#pauseAsked = true;
    this.#wake();
    this.#machine.dispose();
  }
  readonly #onClosing = () => void this[Symbol.asyncDispose]();

  get #wallMs(): number {
    return this.#wallBeforeMs + (this.#goingSince === undefined ? 0 : performance.now() - this.#goingSince);
  }
  get #cpuMs(): number {
    return this.#cpuBeforeMs + this.#machine.report.cpuMs;
  }
  get #runner(): ToolRunnerOptions {
    const { tools, approve } = this.#options;
    return { taskId: this.id, tools, approve, signal: this.#abort.signal };
  }

  #mustBeStopped(): void {
    if (this.#goingSince !== undefined) throw new FermataError('invalid_state', 'the task is running; pause it first');
  }
  async #exclusively<T>(action: () => Promise<T>): Promise<T> {
    this.#mustBeStopped();
    try {
      this.#goingSince = performance.now();
      this.#setStatus('running');
      return await action();
    } finally {
      this.#wallBeforeMs = this.#wallMs;
      this.#goingSince = undefined;
      this.#pauseAsked = false;
      this.#idle?.resolve();
      this.#idle = undefined;
    }
  }

  /** Resolves when nothing of the program is running. */
  async #halt(): Promise<void> {
    if (this.#goingSince === undefined) return;
    this.#pauseAsked = true;
    this.#machine.stop();
    this.#wake();
    this.#idle ??= Promise.withResolvers<void>();
    await this.#idle.promise;
  }

  async #step(performing: boolean): Promise<Step> {
    const deadline = performance.now() + this.#machine.limits.timeoutMs - this.#wallMs;
    if (this.#source.error) return { kind: 'ended', result: await this.#end('failed', undefined, this.#source.error) };
    const input = await this.#nextInput(deadline);
    if (input === 'stopped') return this.#stopped();
    if (input === 'timeout') return this.#overTime();
    const budget = { wallMs: deadline - performance.now(), cpuMs: this.#machine.limits.maxCpuMs - this.#cpuMs };
    let outcome: HostedOutcome;
    try {
      const advancing = this.#machine.advance(input, budget, (emitted) => this.#onEmitted(emitted, performing));
      if (this.#pauseAsked) this.#machine.stop();
      outcome = await advancing;
    } catch (error) {
      if (!(error instanceof FermataError)) throw error;
      if (this.#abort.signal.aborted) return this.#stopped();
      return { kind: 'ended', result: await this.#end('failed', undefined, { code: error.code, message: error.message, ...(error.hint ? { hint: error.hint } : {}) }) };
    }
    return this.#follow(outcome);
  }

  async #follow(outcome: HostedOutcome): Promise<Step> {
    switch (outcome.kind) {
      case 'slice-used':
        this.#waits = { for: 'go' };
        return this.#stopped();
      case 'calls':
        this.#waits = { for: 'answer', dueMs: outcome.dueMs };
        return this.#pauseAsked ? this.#stopped() : { kind: 'calls', calls: this.pending, dueMs: outcome.dueMs };
      case 'done':
        return { kind: 'ended', result: await this.#end('succeeded', outcome.value, undefined) };
      case 'failed':
        return { kind: 'ended', result: await this.#end('failed', undefined, this.#source.explain(this.#classed(guestError(outcome.error)))) };
      case 'limit':
        this.#truncated = outcome.limit === 'output';
        return { kind: 'ended', result: await this.#end('failed', undefined, this.#source.explain(limitError(outcome.limit, outcome.message, outcome.error))) };
    }
  }

  async #stopped(): Promise<Step> {
    return this.#abort.signal.aborted ? { kind: 'ended', result: await this.#end('cancelled', undefined, undefined) } : { kind: 'stopped' };
  }

  /** The next thing to give to the machine, waiting for it if need be. */
  async #nextInput(deadline: number): Promise<Input | 'stopped' | 'timeout'> {
    for (;;) {
      if (this.#pauseAsked) return 'stopped';
      if (performance.now() >= deadline) return 'timeout';
      if (this.#waits.for === 'start') return { kind: 'start', program: { ...this.program, code: this.#source.code }, seed: this.#seed, nowMs: Date.now() };
      if (this.#waits.for === 'go') return { kind: 'go' };
      const answer = this.#calls.nextAnswer();
      if (answer) return { kind: 'answer', ...answer, nowMs: Date.now() };
      const { dueMs } = this.#waits;
      if (dueMs !== null && Date.now() >= dueMs) return { kind: 'timer', nowMs: Date.now() };
      await this.#sleep(Math.min(deadline - performance.now(), dueMs === null ? Number.POSITIVE_INFINITY : dueMs - Date.now()));
    }
  }

  /** Until something happens to this task, or for `ms`. */
  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#sleepers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.max(0, Math.min(Math.ceil(ms), 2 ** 31 - 1)));
      this.#sleepers.add(wake);
    });
  }
  #wake(): void {
    for (const wake of [...this.#sleepers]) wake();
  }

  #onEmitted(emitted: readonly Emission[], performing: boolean): void {
    for (const emission of emitted) {
      if (emission.kind === 'output') {
        const text = this.#output.add(emission.chunk);
        if (text) this.#tell({ type: 'output', stream: emission.chunk.stream, text });
      } else if (emission.kind === 'call') {
        const record = this.#calls.add(emission.call);
        this.#tell({ type: 'call', call: emission.call });
        if (performing) this.#performIfOurs(record);
      } else {
        this.#tellNote(emission.note);
      }
    }
    const { position } = this;
    if (position) this.#tell({ type: 'position', ...position });
  }

  #tellNote(note: Note): void {
    if (note.note === 'step') this.#tell({ type: 'step', name: note.name });
    else if (note.note === 'progress') this.#tell({ type: 'progress', value: note.value });
    else if (note.note === 'checkpoint') this.#tell({ type: 'checkpoint' });
    else if (note.note === 'finding') this.#tell({ type: 'finding', message: note.message, line: note.line });
  }

  #performIfOurs(record: CallRecord): void {
    const repeatable = record.state === 'unknown' && this.#options.tools.get(record.call.name)?.idempotent;
    if ((record.state === 'new' || repeatable) && whoSettles(record.call, this.#runner) === 'runner') this.#perform(record);
  }
  #perform(record: CallRecord): void {
    record.state = 'deciding';
    const agreed = { approve: true as const, arguments: record.edited ?? record.call.args };
    const runner = whoSettles(record.call, this.#runner) === 'approval' ? { ...this.#runner, approve: () => agreed } : this.#runner;
    const handedOver = () => {
      record.state = 'started';
    };
    void performCall(record.call, runner, handedOver).then((result) => {
      if ((record.state === 'deciding' || record.state === 'started') && !this.#result) this.#settle(record, result);
    });
  }
  #settle(record: CallRecord, result: CallResult): void {
    this.#calls.settle(record, result);
    this.#tell({ type: 'call_settled', call: record.call, result });
    this.#wake();
  }
  #open(callId: number): CallRecord {
    const record = this.#calls.get(callId);
    if (!record || record.state === 'settled' || record.state === 'delivered') throw new FermataError('invalid_state', `call ${callId} is not open`);
    return record;
  }
  #waiting(callId: number, kind: WaitingFor['kind']): CallRecord {
    const record = this.#open(callId);
    if (this.#otherSettles(record) !== kind) throw new FermataError('invalid_state', `call ${callId} does not wait for ${WAITS_FOR[kind]}`);
    return record;
  }

  /** True when nothing that this process does will move the task. */
  #waitsForOthers(): boolean {
    if (this.#waits.for !== 'answer' || this.#waits.dueMs !== null || this.#calls.hasAnswer) return false;
    return this.#calls.open().every((record) => this.#otherSettles(record) !== undefined);
  }
  #otherSettles({ call, state }: CallRecord): WaitingFor['kind'] | undefined {
    if (state === 'started' || state === 'deciding') return undefined;
    if (state === 'unknown') return 'outcome_unknown';
    const who = whoSettles(call, this.#runner);
    return who === 'runner' ? undefined : who;
  }

  async #overTime(): Promise<Step> {
    const { timeoutMs } = this.#machine.limits;
    const waiting = this.pending.map(({ name }) => name);
    const while_ = waiting.length > 0 ? `, waiting for ${waiting.slice(0, 5).join(', ')}` : '';
    return { kind: 'ended', result: await this.#end('failed', undefined, limitError('timeout', `the program ran longer than ${timeoutMs} ms${while_}`)) };
  }

  async #end(status: 'succeeded' | 'failed' | 'cancelled', output: Value, error: TaskError | undefined): Promise<TaskResult> {
    const files = status === 'succeeded' && this.#machine.report.usage.diskBytes > 0 ? await this.#machine.files() : [];
    this.#result = { ...this.#report(status), output, files, ...(error ? { error } : {}) };
    this.#abort.abort(new FermataError('invalid_state', `the task has ${status}`));
    this.#wake();
    if (status !== 'succeeded') this.#machine.dispose();
    return this.#result;
  }

  /** A call refused for its arguments is the program's own fault, not the tool's. */
  #classed(error: TaskError): TaskError {
    return error.code === 'tool_error' && this.#calls.refusedArguments(error.message) ? { ...error, code: 'invalid_arguments' } : error;
  }

  #report(status: TaskStatus): TaskResult {
    this.#setStatus(status);
    return {
      taskId: this.id,
      status,
      output: undefined,
      stdout: this.#output.text('stdout'),
      stderr: this.#output.text('stderr'),
      truncated: this.#truncated,
      waitingFor: this.waitingFor,
      calls: this.#calls.log(),
      files: [],
      resourcesUsed: resourcesUsed(this.#machine.report.usage, this.#wallMs, this.#cpuMs),
    };
  }

  #setStatus(status: TaskStatus): void {
    if (this.#status === status) return;
    this.#status = status;
    this.#tell({ type: 'status', status });
  }
  #tell(event: TaskEvent): void {
    try {
      this.#options.onEvent?.(event);
    } catch (error) {
      process.emitWarning(`onEvent failed at a ${event.type}: ${error}`);
    }
  }
}
