/**
 * Advances a task's program: makes the machine's next input of what is known (a start, an answer, a time that has come),
 * and of its outcome the end of a step.
 */
import type { Emission, HostedMachine, HostedOutcome, Input, Program, Value, Wait } from '@fermata/protocol';
import type { Tool } from '@fermata/tools';
import type { Bell } from './bell.ts';
import { checkable, checkTask } from './check-program.ts';
import { withHint } from './hints.ts';
import type { OutputLog } from './output-log.ts';
import { type PreparedSource, prepareSource, withSource } from './source.ts';
import type { SpentTime } from './spent-time.ts';
import type { TaskCalls } from './task-calls.ts';
import { guestError, limitError, systemError } from './task-error.ts';
import { eventOfNote, type TaskEvent } from './task-event.ts';
import type { TaskError } from './task-result.ts';

export type Ending = { status: 'succeeded'; output: Value } | { status: 'failed'; error: TaskError };
/** `stopped`: a pause was asked for. */
export type StepEnd = { kind: 'calls'; dueMs: number | null } | { kind: 'stopped' } | { kind: 'ended'; ending: Ending };

export interface StepperOptions {
  machine: HostedMachine;
  program: Program;
  tools: ReadonlyMap<string, Tool>;
  /** 32 bytes, from which all randomness of the program comes. */
  seed: Uint8Array;
  calls: TaskCalls;
  output: OutputLog;
  time: SpentTime;
  /** Rung when an answer has come or a stop was asked for. */
  bell: Bell;
  /** Aborted when the task is given up; what the machine then says is no failure. */
  signal: AbortSignal;
  tell: (event: TaskEvent) => void;
}

export class Stepper {
  readonly #options: StepperOptions;
  readonly #source: PreparedSource;
  #waits: Wait;
  #stopAsked = false;
  #truncated = false;
  /** Of whoever waits for the end of {@link going}. */
  #stopped: PromiseWithResolvers<void> | undefined;

  constructor(options: StepperOptions, waits: Wait) {
    this.#options = options;
    this.#waits = waits;
    this.#source = prepareSource(options.program);
  }

  /** The program's output was cut at its limit. */
  get truncated(): boolean {
    return this.#truncated;
  }
  /** True when only an answer can move the program, and none is there. */
  get wantsAnswer(): boolean {
    return this.#waits.for === 'answer' && this.#waits.dueMs === null && !this.#options.calls.book.hasAnswer;
  }

  /** Takes steps: the program's time runs until `action` is over. */
  async going<T>(action: () => Promise<T>): Promise<T> {
    const { time } = this.#options;
    try {
      time.start();
      return await action();
    } finally {
      time.stop();
      this.#stopAsked = false;
      this.#stopped?.resolve();
      this.#stopped = undefined;
    }
  }
  /** Ends the step that is being taken, and those that would follow it, as `stopped`. */
  stop(): void {
    this.#stopAsked = true;
    this.#options.machine.stop();
    this.#options.bell.ring();
  }
  /** The same; resolves when nothing of the program is running. */
  async halt(): Promise<void> {
    if (!this.#options.time.goes) return;
    this.stop();
    this.#stopped ??= Promise.withResolvers<void>();
    await this.#stopped.promise;
  }

  /** Until the program waits for calls, ends or is stopped. */
  async step(): Promise<StepEnd> {
    const refused = this.#waits.for === 'start' ? (this.#source.error ?? (await this.#refused())) : undefined;
    if (refused) return this.#failed(refused);
    const input = await this.#nextInput();
    if (input === 'stopped') return { kind: 'stopped' };
    if (input === 'calls') return { kind: 'calls', dueMs: null };
    if (input === 'timeout') return this.#failed(this.#overTime());
    const { machine, time, signal } = this.#options;
    try {
      const advancing = machine.advance(input, time.budget, (emitted) => this.#onEmitted(emitted));
      if (this.#stopAsked) machine.stop();
      return this.#follow(await advancing);
    } catch (error) {
      const failed = systemError(error);
      return signal.aborted ? { kind: 'stopped' } : this.#failed(failed);
    }
  }

  /** Until all calls of a program that has ended were begun, or its time is over. It takes no answers any more, so that none holds them up. */
  async begun(): Promise<void> {
    const { calls, time, bell } = this.#options;
    for (;;) {
      while (calls.book.nextAnswer());
      calls.performOurs();
      if (!calls.areQueued || this.#stopAsked || time.budget.wallMs <= 0) return;
      await bell.heard(time.budget.wallMs);
    }
  }

  /** Why the program is not to be begun; what is found in it is told. */
  async #refused(): Promise<TaskError | undefined> {
    const { program, tools, tell } = this.#options;
    const checked = await checkTask(program, () => [...tools.values()].map(checkable));
    for (const finding of checked?.findings ?? []) tell({ type: 'finding', ...finding });
    return checked?.fault;
  }

  #follow(outcome: HostedOutcome): StepEnd {
    switch (outcome.kind) {
      case 'slice-used':
        this.#waits = { for: 'go' };
        return { kind: 'stopped' };
      case 'calls':
        this.#waits = { for: 'answer', dueMs: outcome.dueMs };
        return this.#stopAsked ? { kind: 'stopped' } : { kind: 'calls', dueMs: outcome.dueMs };
      case 'done':
        return { kind: 'ended', ending: { status: 'succeeded', output: outcome.value } };
      case 'failed':
        return this.#failed(this.#source.explain(this.#classed(guestError(outcome.error))));
      case 'limit':
        this.#truncated = outcome.limit === 'output';
        return this.#failed(this.#source.explain(limitError(outcome.limit, outcome.message, outcome.error)));
    }
  }
  #failed(error: TaskError): StepEnd {
    return { kind: 'ended', ending: { status: 'failed', error: withHint(error, 'library', this.#options.program.language) } };
  }
  /** A call refused for its arguments is the program's own fault, not the tool's. */
  #classed(error: TaskError): TaskError {
    return error.code === 'tool_error' && this.#options.calls.book.refusedArguments(error.message) ? { ...error, code: 'invalid_arguments' } : error;
  }
  #overTime(): TaskError {
    const { machine, calls } = this.#options;
    const waiting = calls.pending.map(({ name }) => name);
    const while_ = waiting.length > 0 ? `, waiting for ${waiting.slice(0, 5).join(', ')}` : '';
    return limitError('timeout', `the program ran longer than ${machine.limits.timeoutMs} ms${while_}`);
  }

  /** The next thing to give to the machine, waiting for it if need be; `calls` where only somebody else can answer by now. */
  async #nextInput(): Promise<Input | 'stopped' | 'timeout' | 'calls'> {
    const { program, seed, calls, time, bell } = this.#options;
    for (;;) {
      if (this.#stopAsked) return 'stopped';
      if (time.budget.wallMs <= 0) return 'timeout';
      if (this.#waits.for === 'start') return { kind: 'start', program: withSource(program, this.#source), seed, nowMs: Date.now() };
      if (this.#waits.for === 'go') return { kind: 'go' };
      const answer = calls.book.nextAnswer();
      if (answer) {
        calls.performOurs();
        return { kind: 'answer', ...answer, nowMs: Date.now() };
      }
      const { dueMs } = this.#waits;
      if (dueMs === null && calls.areForOthers) return 'calls';
      if (dueMs !== null && Date.now() >= dueMs) return { kind: 'timer', nowMs: Date.now() };
      await bell.heard(Math.min(time.budget.wallMs, dueMs === null ? Number.POSITIVE_INFINITY : dueMs - Date.now()));
    }
  }

  #onEmitted(emitted: readonly Emission[]): void {
    const { machine, calls, output, tell } = this.#options;
    for (const emission of emitted) {
      if (emission.kind === 'output') {
        const text = output.add(emission.chunk);
        if (text) tell({ type: 'output', stream: emission.chunk.stream, text });
      } else if (emission.kind === 'call') {
        calls.book.add(emission.call);
        tell({ type: 'call', call: emission.call });
      } else {
        const event = eventOfNote(emission.note);
        if (event) tell(event);
      }
    }
    calls.performOurs();
    const { position } = machine.report;
    if (position) tell({ type: 'position', ...position });
  }
}
