/**
 * Carries out the calls of tasks: so many at once as the task may, each through the gate of its tool, and again where that is
 * worth it.
 *
 * What it guarantees: a tool that is not idempotent is called only after the intent is durable, and once such an intent is
 * durable and has no result, the call is never made again by itself. A result is a fact: it is recorded whoever runs the task
 * by then, unless the call has been settled before. What survives a crash: results that were committed; a call that was started
 * and has no result becomes `outcome_unknown`, or is made again where its tool is idempotent.
 */
import {
  type CallProgress,
  type CallResult,
  type CallRow,
  FermataError,
  fromWire,
  HELD_ANSWER_BYTES,
  isWorthRetrying,
  keyOf,
  type Limits,
  type TaskRef,
  toWire,
  type ValueRecord,
} from '@fermata/protocol';
import { described, failed, settleCall } from './call-result.ts';
import type { EngineTool, EngineToolCall, EngineTools, Moment } from './engine-options.ts';
import type { LiveTask } from './live-task.ts';
import type { LiveTasks } from './live-tasks.ts';

export interface CallPerformerOptions {
  tools: EngineTools;
  now: () => number;
  moment: (moment: Moment) => void;
  tasks: LiveTasks;
  limits: (live: LiveTask) => Limits;
  /** Told when a call of a task has got its result, or waits for something else than before. */
  onChanged: (live: LiveTask) => void;
  /** Told how far a call is; it passes, and is not kept. */
  onProgress: (ref: TaskRef, call: CallRow, told: CallProgress) => void;
}

/** A call that was handed to its tool, or waits at its gate. `repeatable`: it may be lost without harm. */
interface Flight {
  controller: AbortController;
  taskId: string;
  repeatable: boolean;
  done: Promise<void>;
}
/** `late`: the tool was cut off, and this is what it may say after all. */
interface Called {
  result: CallResult;
  late?: Promise<CallResult>;
}

export class CallPerformer {
  protected readonly options: CallPerformerOptions;
  /** Calls that were handed to their tools by this process, and what ends them early. */
  readonly #inFlight = new Map<string, Flight>();
  /** How many of them each task has. */
  readonly #perTask = new Map<string, number>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #closed = false;

  constructor(options: CallPerformerOptions) {
    this.options = options;
  }

  protected tool(live: LiveTask, name: string): EngineTool | undefined {
    return this.options.tools.find(live.ref.tenant, name, live.row.request);
  }

  /**
   * Has what is ready carried out, if the task may run: in the order of the calls, not too many at once, and none while the
   * program has not taken many bytes of answers. `isOver`: the program has ended, so that a pause stops nothing of it.
   */
  performReady(live: LiveTask, isOver = false): void {
    if ((live.row.desired !== 'run' && !isOver) || live.ended || live.broken || this.#closed) return;
    const ready = live.openCalls().filter((call) => call.status === 'ready' && !this.isInFlight(call));
    if (ready.length === 0) return;
    const { maxCallsAtOnce } = this.options.limits(live);
    const isHeld = live.answerBytes > HELD_ANSWER_BYTES;
    for (const call of ready) {
      const waitMs = (call.notBefore ?? 0) - this.options.now();
      if (waitMs > 0) this.#later(live.ref, waitMs);
      else if (!isHeld && this.#atOnce(live) < maxCallsAtOnce) this.#perform(live, call);
    }
  }

  isInFlight(call: CallRow): boolean {
    return this.#inFlight.has(call.callId);
  }

  /** Tells the tools of a task that nobody waits for them any more; resolves when they have ended, or after `graceMs`. */
  async abort(live: LiveTask, why: string, graceMs: number): Promise<void> {
    const own = [...this.#inFlight.values()].filter(({ taskId }) => taskId === keyOf(live.ref));
    for (const { controller } of own) controller.abort(new FermataError('invalid_state', why));
    if (own.length === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([Promise.all(own.map(({ done }) => done)), grace]);
    clearTimeout(timer);
  }

  /** Until no tool has a call whose outcome would be unknown without its answer. */
  async idle(): Promise<void> {
    await Promise.all([...this.#inFlight.values()].map(({ repeatable, done }) => (repeatable ? undefined : done)));
  }
  /** Starts no more calls. */
  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** How many calls of the task are being carried out. */
  #atOnce(live: LiveTask): number {
    return this.#perTask.get(keyOf(live.ref)) ?? 0;
  }
  #count(key: string, more: 1 | -1): void {
    const count = (this.#perTask.get(key) ?? 0) + more;
    if (count > 0) this.#perTask.set(key, count);
    else this.#perTask.delete(key);
  }

  #perform(live: LiveTask, call: CallRow): void {
    const tool = this.tool(live, call.tool);
    const controller = new AbortController();
    const key = call.callId;
    const taskId = keyOf(live.ref);
    const release = this.options.tasks.hold(live);
    const repeatable = !tool || tool.idempotent || tool.gate !== undefined;
    const flight = { controller, taskId, repeatable, done: Promise.resolve() };
    this.#count(taskId, 1);
    flight.done = this.#gated(live, tool, call, flight).finally(() => {
      this.#inFlight.delete(key);
      this.#count(taskId, -1);
      // There is room for another; and this one may be ready again, and its time may have come, while it still counted.
      const now = this.options.tasks.peek(live.ref);
      if (now) this.performReady(now);
      release();
    });
    this.#inFlight.set(key, flight);
  }

  /** Nothing has begun while a call waits at the gate of its tool. */
  async #gated(live: LiveTask, tool: EngineTool | undefined, call: CallRow, flight: Flight): Promise<void> {
    const { signal } = flight.controller;
    if (!tool?.gate) {
      await this.#performed(live, tool, this.#started(live, call), signal);
      return;
    }
    let leave: (result: CallResult) => void;
    try {
      leave = await tool.gate.enter(signal);
    } catch (error) {
      return this.#report(live.ref, call, tool, { result: { error: described(error) } });
    }
    if (this.#closed || live.broken || live.row.desired !== 'run' || live.call(call.n)?.status !== 'ready') return leave(failed('Aborted', 'the call was not made'));
    flight.repeatable = tool.idempotent;
    leave((await this.#performed(live, tool, this.#started(live, call), signal)) ?? failed('Aborted', 'the call was not made'));
  }

  #started(live: LiveTask, { n, tries }: CallRow): CallRow {
    return live.changeCall(n, { status: 'started', tries: tries + 1, notBefore: null });
  }

  /** What came of it, unless it was not begun. */
  async #performed(live: LiveTask, tool: EngineTool | undefined, call: CallRow, signal: AbortSignal): Promise<CallResult | undefined> {
    const { moment } = this.options;
    if (tool && !tool.idempotent) {
      live.record('call_started', { call_id: call.callId, n: call.n, try: call.tries });
      try {
        await live.flush();
      } catch {
        // It was not begun; what is durable decides how the task goes on.
        return undefined;
      }
    }
    let called: Called;
    if (!tool?.execute) called = { result: failed('UnknownTool', `there is no tool ${call.tool} any more`) };
    else {
      moment('tool.before');
      called = await this.#called(tool, call, this.#callOf(live, call, signal));
      moment('tool.after');
    }
    await this.#report(live.ref, call, tool, called);
    void called.late?.then((result) => this.#report(live.ref, call, tool, { result }));
    return called.result;
  }

  async #called(tool: EngineTool, call: CallRow, told: EngineToolCall): Promise<Called> {
    const valued = (value: unknown): CallResult => ({ ok: fromWire(toWire(value, `result of ${tool.name}`)) });
    const thrown = (error: unknown): CallResult => ({ error: described(error) });
    try {
      const args = tool.check(fromWire(JSON.parse(call.editedArgs ?? call.args)) as ValueRecord);
      return { result: valued(await tool.execute?.(args as never, told)) };
    } catch (error) {
      const { outcome, late } = (error ?? {}) as { outcome?: unknown; late?: Promise<unknown> };
      return outcome === 'unknown' ? { result: thrown(error), late: Promise.resolve(late).then(valued).catch(thrown) } : { result: thrown(error) };
    }
  }

  /** What a tool has answered is recorded, whoever has the task by now, and also where nobody waited for it any more. */
  async #report(ref: TaskRef, { n, callId, tries, status }: CallRow, tool: EngineTool | undefined, { result, late }: Called): Promise<void> {
    const { tasks, now, onChanged } = this.options;
    for (let attempt = 0; attempt < 5; attempt++) {
      try {
        await tasks.use(ref, async (live) => {
          const call = live.call(n);
          if (live.ended || call?.tries !== tries || (call.status !== status && call.waitsFor !== 'outcome_unknown')) return;
          const { maxAttempts = 1, backoffMs = 1000 } = tool?.retry ?? {};
          if (late && !tool?.idempotent) {
            live.record('call_unknown', { call_id: callId, n });
            live.changeCall(n, { status: 'waiting', waitsFor: 'outcome_unknown', expiresAt: null });
          } else if ('error' in result && tries < maxAttempts && tool?.idempotent && isWorthRetrying(result.error)) {
            const notBefore = now() + backoffMs * 2 ** (tries - 1);
            live.record('call_retry', { call_id: callId, n, error: result.error, not_before: notBefore });
            live.changeCall(n, { status: 'ready', notBefore });
            this.#later(ref, notBefore - now());
          } else settleCall(live, n, result, 'tool', this.options);
          onChanged(live);
          await live.flush();
        });
        return;
      } catch {
        // The store failed; the result is not lost while we are here.
        await new Promise((resolve) => setTimeout(resolve, 200 * 2 ** attempt).unref());
      }
    }
  }

  /** What its tool says of a call whose outcome was lost. */
  protected async reconciled(live: LiveTask, tool: EngineTool | undefined, call: CallRow): Promise<CallResult | { retry: true } | undefined> {
    if (!tool?.reconcile) return undefined;
    try {
      const args = tool.check(fromWire(JSON.parse(call.editedArgs ?? call.args)) as ValueRecord);
      const told = await tool.reconcile(args as never, this.#callOf(live, call, new AbortController().signal));
      return told && 'output' in told ? { ok: fromWire(toWire(told.output)) } : told;
    } catch {
      return undefined;
    }
  }

  #callOf({ ref }: LiveTask, call: CallRow, signal: AbortSignal): EngineToolCall {
    const { callId, n } = call;
    const progress = (told: CallProgress) => this.options.onProgress(ref, call, told);
    const spent = ({ networkBytes }: { networkBytes: number }) => {
      const live = this.options.tasks.peek(ref);
      live?.change({ usage: { ...live.row.usage, networkBytes: (live.row.usage.networkBytes ?? 0) + networkBytes } });
    };
    return { taskId: ref.taskId, callId, idempotencyKey: `${ref.tenant}:${ref.taskId}:${n}`, signal, progress, spent };
  }

  #later(ref: TaskRef, ms: number): void {
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        void this.options.tasks.use(ref, async (live) => this.performReady(live)).catch(() => {});
      },
      Math.min(ms, 2 ** 31 - 1),
    );
    timer.unref();
    this.#timers.add(timer);
  }
}
