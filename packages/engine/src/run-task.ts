/**
 * One lease of a task: its machine is opened where the task stands, advanced, and given up when the task ends, parks or stops.
 *
 * The machine never calls out. Every advance ends with an outcome; what came out on the way is written into the journal, calls
 * go to the desk, and the next input is made of what the journal knows: first the deliveries that are recorded after the
 * checkpoint, in their order, then new ones. So running and running again are the same code. Nothing that is emitted again is
 * recorded again: output is known by its offset, calls by their number, notes by their count.
 *
 * What survives a crash: everything that was flushed. The machine itself is only as new as the task's newest checkpoint.
 */
import {
  type Budget,
  type CheckpointRow,
  FermataError,
  type HostedMachine,
  type HostedOutcome,
  type Input,
  imageOfLanguage,
  type Limits,
  type Mark,
  type ProgramRequest,
  type Report,
  type TaskFault,
  type TaskUsage,
  toWire,
  type Wait,
} from '@fermata/protocol';
import { resultOf } from './call-result.ts';
import { tellState } from './endings.ts';
import type { PreparedProgram } from './engine-options.ts';
import { guestFault, limitFault, systemFault } from './fault.ts';
import { KnownCalls } from './known-calls.ts';
import { type Lease, type RunEnd, type RunOptions, takeLease } from './lease.ts';
import type { LiveTask } from './live-task.ts';
import { openTask } from './opening.ts';
import { Recorder } from './recorder.ts';
import type { Delivery } from './replay.ts';
import { checkableTools, knownProgram, withSource } from './task-program.ts';

/** Journal bytes after which a checkpoint is taken. */
const CHECKPOINT_EVERY_BYTES = 4 * 1024 * 1024;
/** After a checkpoint that failed while the task could have parked. */
const PARK_AGAIN_MS = 30_000;

export class RunTask implements Lease {
  readonly live: LiveTask;
  readonly #options: RunOptions;
  readonly #program: ProgramRequest;
  readonly #prepared: PreparedProgram;
  readonly #limits: Limits;
  readonly #known: KnownCalls;
  #machine: HostedMachine | undefined;
  #waits: Wait = { for: 'start' };
  /** Recorded deliveries that this machine has not been given yet. */
  #recorded: Delivery[] = [];
  #recorder: Recorder | undefined;
  #before = { wallMs: 0, cpuMs: 0 };
  #since = performance.now();
  #cpuAtCheckpointMs = 0;
  #bytesAtCheckpoint = 0;
  #checkpointAsked = false;
  #checkpointWaiters: PromiseWithResolvers<CheckpointRow>[] = [];
  #parkAgainAt = 0;
  #woken = Promise.withResolvers<void>();
  #flushing: NodeJS.Timeout | undefined;
  #abandoned = false;

  constructor(options: RunOptions, live: LiveTask) {
    this.#options = options;
    this.live = live;
    this.#program = knownProgram(live.row);
    this.#prepared = options.prepare(this.#program);
    this.#limits = options.limits(live);
    this.#known = new KnownCalls(live);
  }

  get isOpen(): boolean {
    return this.#machine !== undefined;
  }
  get usage(): TaskUsage {
    return this.#machine ? this.#spent(this.#machine.report) : this.live.row.usage;
  }
  get line(): number | null {
    return this.#machine?.report.position?.line ?? this.live.row.line;
  }

  ring(): void {
    this.#woken.resolve();
    if (this.live.row.desired !== 'run') this.#machine?.stop();
  }
  abandon(): void {
    this.#abandoned = true;
    this.#machine?.dispose();
    this.#woken.resolve();
  }
  checkpoint(): Promise<CheckpointRow> {
    const waiter = Promise.withResolvers<CheckpointRow>();
    this.#checkpointWaiters.push(waiter);
    this.#checkpointAsked = true;
    this.#machine?.stop();
    this.#woken.resolve();
    return waiter.promise;
  }

  async drive(): Promise<RunEnd> {
    const { desk } = this.#options;
    try {
      if (this.#prepared.error) return { kind: 'failed', fault: this.#prepared.error, truncated: false };
      const refused = await this.#refused();
      if (refused) return { kind: 'failed', fault: refused, truncated: false };
      await this.#open();
      if (this.#abandoned) return { kind: 'stopped' };
      desk.performReady(this.live);
      for (;;) {
        if (this.live.broken) throw this.live.broken;
        if (this.#abandoned) return { kind: 'stopped' };
        const { desired } = this.live.row;
        if (desired === 'cancel') return { kind: 'cancelled' };
        if (this.#isJournalFull()) return this.#overJournal();
        if (desired === 'pause' && (await this.#paused())) return { kind: 'stopped' };
        if (this.#checkpointAsked) await this.#checkpointed('request');
        const input = await this.#nextInput();
        if (!input) {
          if (this.#budget().wallMs <= 0) return this.#overTime();
          if (this.#mayPark() && (await this.#parked())) return { kind: 'stopped' };
          await this.#heard();
          continue;
        }
        const end = await this.#advanced(input);
        if (end) return end;
      }
    } catch (error) {
      if (this.live.broken) throw this.live.broken;
      if (this.#abandoned) return { kind: 'stopped' };
      return { kind: 'failed', fault: systemFault(error), truncated: false };
    } finally {
      clearTimeout(this.#flushing);
      if (this.#machine) this.live.change({ usage: this.usage, line: this.line });
      this.#machine?.dispose();
      for (const { reject } of this.#checkpointWaiters.splice(0)) reject(new FermataError('invalid_state', 'the task stopped before a checkpoint was taken'));
    }
  }

  /** Why the program is not to be begun; what was found in it is recorded, once. */
  async #refused(): Promise<TaskFault | undefined> {
    const { live } = this;
    const { authored, request, epoch, attempt, tenant, desired } = live.row;
    if (desired !== 'run' || epoch > 0 || attempt > 0 || authored || request.toolCall || request.forkOf) return undefined;
    const checked = await this.#options.check?.(this.#program, () => checkableTools(this.#options.tools, tenant, request));
    for (const finding of checked?.findings ?? []) live.record('finding', finding);
    return checked?.fault;
  }

  /** The machine where the task stands: of its newest checkpoint, else a new one. */
  async #open(): Promise<void> {
    const { live } = this;
    const { row } = live;
    const opened = await openTask(this.#options, live, this.#limits);
    this.#machine = opened.machine;
    this.#waits = opened.waits;
    this.#recorded = opened.recorded;
    this.#recorder = new Recorder(this.#options.desk, live, this.#known, opened.machine, opened.emitted, {
      flushSoon: (ms) => this.#flushSoon(ms),
      tell: (kind, data) => this.#options.tell(live, kind, data),
      askForCheckpoint: () => {
        this.#checkpointAsked = true;
      },
    });
    this.#before = { wallMs: row.usage.wallMs, cpuMs: row.usage.cpuMs };
    this.#since = performance.now();
    if (this.#abandoned || live.row.desired !== 'run') return;
    takeLease(this.#options, live, opened.checkpointId);
    live.change({ dueAt: this.#known.nextExpiry() });
    this.#flushSoon(0);
  }

  /** What the tasks after this one begin from. */
  async #head(): Promise<{ head?: Uint8Array }> {
    const { row } = this.live;
    if (!row.origin) return {};
    const { sessions, sealKey } = this.#options;
    return { head: await (this.#machine as HostedMachine).snapshot(sessions.sealFor(row, row.origin.head, sealKey)) };
  }

  /** The next thing that the machine can be given, or undefined while there is none. */
  async #nextInput(): Promise<Input | undefined> {
    const { live } = this;
    const { now, moment } = this.#options;
    if (this.#waits.for === 'go') return { kind: 'go' };
    if (this.#waits.for === 'start') {
      const begun = this.#recorded[0]?.kind === 'begun' ? this.#recorded.shift() : undefined;
      const nowMs = begun?.nowMs ?? now();
      const program = await this.#options.program(live);
      const { tools = [] } = begun?.kind === 'begun' ? begun : program;
      const image = imageOfLanguage[this.#program.language];
      if (!begun) live.record('begun', { attempt: live.row.attempt, now_ms: nowMs, image, ...(tools.length > 0 ? { tools } : {}) });
      return {
        kind: 'start',
        program: withSource({ ...program, tools }, this.#prepared),
        seed: Buffer.from(live.row.seed, 'hex'),
        nowMs,
        ...(live.row.origin ? { limits: this.#limits } : {}),
      };
    }
    const recorded = this.#recorded.shift();
    if (recorded) {
      if (recorded.kind === 'timer') return { kind: 'timer', nowMs: recorded.nowMs };
      if (recorded.kind === 'delivered') return this.#answer(recorded.n, recorded.nowMs);
      throw new FermataError('replay_diverged', 'the record says that the program began, and it waits for an answer');
    }
    const settled = live.nextAnswer();
    if (settled) {
      moment('deliver.before');
      const nowMs = now();
      live.record('delivered', { n: settled.n, now_ms: nowMs });
      live.changeCall(settled.n, { delivered: true });
      this.#options.desk.performReady(live);
      return this.#answer(settled.n, nowMs);
    }
    const { dueMs } = this.#waits;
    if (dueMs === null || now() < dueMs) return undefined;
    const nowMs = now();
    live.record('timer', { now_ms: nowMs });
    return { kind: 'timer', nowMs };
  }

  #answer(n: number, nowMs: number): Input {
    const call = this.live.call(n);
    if (!call?.result) throw new FermataError('replay_diverged', `the record delivers call ${n}, which has no result`);
    return { kind: 'answer', callId: this.#known.machineIdOf(n), result: resultOf(call), nowMs };
  }

  async #advanced(input: Input): Promise<RunEnd | undefined> {
    const machine = this.#machine as HostedMachine;
    const { checkpointEveryCpuMs, desk, moment } = this.#options;
    let diverged: FermataError | undefined;
    const due = setTimeout(() => machine.stop(), checkpointEveryCpuMs);
    due.unref();
    let outcome: HostedOutcome;
    try {
      const advancing = machine.advance(input, this.#budget(), (emitted) => {
        try {
          if (!diverged && !this.#isJournalFull()) this.#recorder?.take(emitted);
          if (this.#isJournalFull()) machine.stop();
        } catch (error) {
          diverged = error instanceof FermataError ? error : new FermataError('internal', String(error), { cause: error });
          machine.stop();
        }
      });
      if (this.live.row.desired !== 'run' || this.#checkpointAsked) machine.stop();
      outcome = await advancing;
    } finally {
      clearTimeout(due);
    }
    if (diverged) throw diverged;
    if (this.#isJournalFull()) return this.#overJournal();
    if (input.kind === 'answer') moment('deliver.after');
    desk.performReady(this.live);
    switch (outcome.kind) {
      case 'slice-used':
        this.#waits = { for: 'go' };
        await this.#checkpointIfDue();
        return undefined;
      case 'calls':
        this.#waits = { for: 'answer', dueMs: outcome.dueMs };
        await this.#checkpointIfDue();
        return undefined;
      case 'done':
        return this.#done(toWire(outcome.value));
      case 'failed':
        return { kind: 'failed', fault: this.#prepared.explain(guestFault(outcome.error, this.live)), truncated: false, ...(await this.#head()) };
      case 'limit':
        return { kind: 'failed', fault: this.#prepared.explain(limitFault(outcome.limit, outcome.message, outcome.error)), truncated: outcome.limit === 'output' };
    }
  }

  /** The result is a part of the journal, too. */
  async #done(output: unknown): Promise<RunEnd> {
    return this.#isJournalFull(Buffer.byteLength(JSON.stringify(output))) ? this.#overJournal() : this.#succeeded(output);
  }

  /** The program is over; calls that were started are still waited for. */
  async #succeeded(output: unknown): Promise<RunEnd> {
    const machine = this.#machine as HostedMachine;
    const { desk } = this.#options;
    for (;;) {
      // The program takes no answers any more, so that none holds up the calls that wait for their turn.
      while (this.live.nextAnswer());
      desk.performReady(this.live, true);
      if (!this.live.openCalls().some((call) => (call.status === 'started' && desk.isInFlight(call)) || (call.status === 'ready' && call.tries === 0))) break;
      if (this.live.broken) throw this.live.broken;
      if (this.live.row.desired === 'cancel') return { kind: 'cancelled' };
      if (this.#isJournalFull()) return this.#overJournal();
      if (this.#budget().wallMs <= 0) return this.#overTime();
      await this.#heard();
    }
    const files = machine.report.usage.diskBytes > 0 ? await machine.files() : [];
    return { kind: 'succeeded', output, files, ...(await this.#head()) };
  }

  #overTime(): RunEnd {
    const waiting = this.live.openCalls().map(({ tool }) => tool);
    const while_ = waiting.length > 0 ? `, waiting for ${waiting.slice(0, 5).join(', ')}` : '';
    return { kind: 'failed', fault: limitFault('timeout', `the program ran longer than ${this.#limits.timeoutMs} ms${while_}`), truncated: false };
  }

  /** Whether so many bytes do not fit into the journal any more. */
  #isJournalFull(more = 0): boolean {
    return this.live.journalBytes + more > this.#limits.maxJournalBytes;
  }
  #overJournal(): RunEnd {
    const message = `more than ${this.#limits.maxJournalBytes} bytes had to be kept of the task: its output and notes, the arguments and answers of its calls, its result`;
    return { kind: 'failed', fault: limitFault('journal', message), truncated: false };
  }

  /** Only what comes from outside, or a time that is far away, can move the program. */
  #mayPark(): boolean {
    if (this.#waits.for !== 'answer' || this.#recorded.length > 0 || this.live.hasAnswer) return false;
    if (this.#options.now() < this.#parkAgainAt) return false;
    const { dueMs } = this.#waits;
    if (dueMs !== null && dueMs - this.#options.now() <= this.#options.keepForTimerMs) return false;
    return this.live.openCalls().every(({ status }) => status === 'waiting');
  }

  async #parked(): Promise<boolean> {
    const { live } = this;
    const timerAt = this.#waits.for === 'answer' ? this.#waits.dueMs : null;
    const expiry = this.#known.nextExpiry();
    const dueAt = timerAt === null ? expiry : Math.min(timerAt, expiry ?? timerAt);
    return this.#stoppedAt('waiting', (checkpointId) => {
      live.record('waiting', { checkpoint_id: checkpointId, timer_at: timerAt });
      live.change({ status: 'waiting', parked: true, timerAt, dueAt, worker: null, usage: this.usage, line: this.line });
      if (live.openCalls().length > 0) tellState(live, this.#options.now());
    });
  }

  async #paused(): Promise<boolean> {
    const { live } = this;
    const timerAt = this.#waits.for === 'answer' ? this.#waits.dueMs : null;
    const then = (checkpointId: string | null) => {
      const reason = live.row.pauseReason ?? 'user_request';
      live.record('paused', { checkpoint_id: checkpointId, reason });
      live.change({ status: 'paused', pauseReason: reason, parked: this.#mayPark(), timerAt, dueAt: this.#known.nextExpiry(), worker: null, usage: this.usage, line: this.line });
      tellState(live, this.#options.now());
    };
    if (this.#waits.for === 'start' || this.#recorded.length > 0) {
      // What is stored leads to this place and beyond it.
      then(live.row.checkpointId);
      await live.flush();
      return true;
    }
    if (await this.#stoppedAt('pause', then)) return true;
    live.change({ desired: 'run', pauseReason: null });
    await live.flush();
    return false;
  }

  /** False if no checkpoint could be stored; the program can go on then. */
  async #stoppedAt(reason: string, then: (checkpointId: string) => void): Promise<boolean> {
    try {
      await this.#checkpointed(reason, then);
      return true;
    } catch (error) {
      if (this.live.broken || !(error instanceof FermataError) || (error.code !== 'checkpoint_failed' && error.code !== 'checkpoint_too_large')) throw error;
      this.live.record('checkpoint_failed', { message: error.message, code: error.code });
      this.#parkAgainAt = this.#options.now() + PARK_AGAIN_MS;
      this.#flushSoon(0);
      return false;
    }
  }

  async #checkpointed(reason: string, then?: (checkpointId: string) => void): Promise<void> {
    this.#checkpointAsked = false;
    const waiters = this.#checkpointWaiters.splice(0);
    if (this.#recorded.length > 0 || this.#waits.for === 'start') {
      for (const { reject } of waiters) reject(new FermataError('invalid_state', 'the task is on its way back to where it was; ask again'));
      return;
    }
    const machine = this.#machine as HostedMachine;
    const recorder = this.#recorder as Recorder;
    const mark: Mark = { ...recorder.emitted, fuel: machine.report.usage.fuel, wallMs: this.usage.wallMs, cpuMs: this.usage.cpuMs };
    try {
      const row = await this.#options.checkpoints.take(this.live, machine, mark, reason, then);
      this.#cpuAtCheckpointMs = machine.report.cpuMs;
      this.#bytesAtCheckpoint = recorder.bytes;
      for (const { resolve } of waiters) resolve(row);
    } catch (error) {
      for (const { reject } of waiters) reject(error);
      // A checkpoint that only somebody asked for is theirs to miss.
      if (then) throw error;
      if (this.live.broken) throw error;
      this.live.record('checkpoint_failed', { message: (error as Error).message, code: error instanceof FermataError ? error.code : 'internal' });
    }
  }

  async #checkpointIfDue(): Promise<void> {
    const cpuMs = (this.#machine as HostedMachine).report.cpuMs - this.#cpuAtCheckpointMs;
    if (cpuMs < this.#options.checkpointEveryCpuMs && (this.#recorder?.bytes ?? 0) - this.#bytesAtCheckpoint < CHECKPOINT_EVERY_BYTES) return;
    await this.#checkpointed('interval');
  }

  /** Until something changes, a timer of the program is due, or its time is over. */
  async #heard(): Promise<void> {
    const { now } = this.#options;
    const dueMs = this.#waits.for === 'answer' && this.#waits.dueMs !== null ? this.#waits.dueMs - now() : Number.POSITIVE_INFINITY;
    const parkMs = this.#parkAgainAt > now() ? this.#parkAgainAt - now() : Number.POSITIVE_INFINITY;
    const ms = Math.max(0, Math.min(dueMs, parkMs, this.#budget().wallMs, 2 ** 31 - 1));
    const timer = setTimeout(() => this.#woken.resolve(), Math.ceil(ms));
    this.#options.onRest(true);
    await this.#woken.promise;
    this.#options.onRest(false);
    clearTimeout(timer);
    this.#woken = Promise.withResolvers();
  }

  #flushSoon(ms: number): void {
    if (ms === 0) {
      this.live.flush().catch(() => {});
      return;
    }
    this.#flushing ??= setTimeout(() => {
      this.#flushing = undefined;
      this.live.flush().catch(() => {});
    }, ms);
  }

  #budget(): Budget {
    const { wallMs, cpuMs } = this.usage;
    return { wallMs: this.#limits.timeoutMs - wallMs, cpuMs: this.#limits.maxCpuMs - cpuMs };
  }
  #spent({ usage, cpuMs }: Report): TaskUsage {
    const { calls: _, ...rest } = usage;
    const wallMs = this.#before.wallMs + performance.now() - this.#since;
    const { outputBytes = 0, fuel = 0 } = this.live.row.origin ?? {};
    const { toolCalls, networkBytes, modelTokens, modelCost } = this.live.row.usage;
    return {
      ...rest,
      outputBytes: rest.outputBytes - outputBytes,
      fuel: rest.fuel - fuel,
      wallMs,
      cpuMs: this.#before.cpuMs + cpuMs,
      toolCalls,
      journalBytes: this.live.journalBytes,
      ...(networkBytes === undefined ? {} : { networkBytes }),
      ...(modelTokens === undefined ? {} : { modelTokens }),
      ...(modelCost === undefined ? {} : { modelCost }),
    };
  }
}
