/**
 * The calls of tasks on their way to whoever settles them: their tool, a person, a client.
 *
 * What it guarantees: a tool that is not idempotent is called only after the intent is durable, and once such an intent is
 * durable and has no result, the call is never made again by itself. A result is a fact: it is recorded whoever runs the task
 * by then, unless the call has been settled before. What survives a crash: decisions and results that were committed; a call
 * that was started and has no result becomes `outcome_unknown`, or is made again where its tool is idempotent.
 */
import { createHash } from 'node:crypto';
import {
  type Call,
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
  type ToolFailure,
  toWire,
  type Value,
  type ValueRecord,
} from '@fermata/protocol';
import { BUILT_IN, builtInResult, REVIEW, reviewedValue } from './built-in-calls.ts';
import type { CallHistory, EngineTool, EngineToolCall, EngineTools, Moment, Verdict } from './engine-options.ts';
import { leftOut } from './left-out.ts';
import type { LiveTask } from './live-task.ts';
import type { LiveTasks } from './live-tasks.ts';

export interface CallDeskOptions {
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

/** What becomes of a call at once: settled, waiting, or (neither) ready. */
type Judged = Pick<Verdict, 'rule' | 'reason' | 'keep'> & { result?: CallResult; waitsFor?: 'approval' | 'review' | 'client_tool'; expiresAfterMs?: number };

/** Unique for a call of a task, and the same whoever computes it. */
export function callIdOf({ tenant, taskId }: TaskRef, n: number): string {
  return `call_${createHash('sha256').update(`${tenant}\n${taskId}\n${n}`).digest('hex').slice(0, 20)}`;
}

/** The task in which a call of a tool that is source code runs. */
export function taskOfCall(callId: string): string {
  return `task_of_${callId}`;
}

export class CallDesk {
  readonly #options: CallDeskOptions;
  /** Calls that were handed to their tools by this process, and what ends them early. */
  readonly #inFlight = new Map<string, Flight>();
  /** How many of them each task has. */
  readonly #perTask = new Map<string, number>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #closed = false;

  constructor(options: CallDeskOptions) {
    this.#options = options;
  }

  /** A call that the program has just made: recorded, judged, and either settled at once, waiting, or ready to be performed. */
  accept(live: LiveTask, call: Call, known?: CallResult): CallRow {
    const { now } = this.#options;
    const callId = callIdOf(live.ref, call.id);
    const args = this.#keptArguments(live, call);
    const row: CallRow = {
      ...{ n: call.id, callId, tool: call.name, args, editedArgs: null, status: 'ready', waitsFor: null, expiresAt: null, notBefore: null },
      ...{ tries: 0, result: null, delivered: false, createdAt: now(), settledAt: null, by: null, decision: null },
    };
    const said = { call_id: callId, n: call.id, tool: call.name, arguments: JSON.parse(args) };
    live.change({ usage: { ...live.row.usage, toolCalls: live.row.usage.toolCalls + 1 } });
    if (known) {
      live.record('call', { ...said, decision: 'known' });
      live.putCall(row);
      return this.#settle(live, row.n, known, 'an earlier attempt');
    }
    const verdict = this.#judge(live, call);
    const why = { ...(verdict.rule === undefined ? {} : { rule: verdict.rule }), ...(verdict.reason === undefined ? {} : { reason: verdict.reason }) };
    for (const document of verdict.keep ?? []) live.keep(document);
    if (verdict.result) {
      live.record('call', { ...said, decision: 'error' in verdict.result ? 'deny' : 'known', ...why });
      live.putCall(row);
      return this.#settle(live, row.n, verdict.result, 'policy');
    }
    if (verdict.waitsFor) {
      const expiresAt = verdict.expiresAfterMs === undefined ? null : now() + verdict.expiresAfterMs;
      live.record('call', {
        ...said,
        decision: 'wait',
        waits_for: verdict.waitsFor,
        ...why,
        ...(expiresAt === null ? {} : { expires_at: expiresAt }),
      });
      return live.putCall({ ...row, status: 'waiting', waitsFor: verdict.waitsFor, expiresAt });
    }
    live.record('call', { ...said, decision: 'allow', ...why });
    return live.putCall(row);
  }

  /**
   * Has what is ready carried out, if the task may run: in the order of the calls, not too many at once, and none while the
   * program has not taken many bytes of answers. `isOver`: the program has ended, so that a pause stops nothing of it.
   */
  performReady(live: LiveTask, isOver = false): void {
    if ((live.row.desired !== 'run' && !isOver) || live.ended || live.broken || this.#closed) return;
    const ready = live.openCalls().filter((call) => call.status === 'ready' && !this.isInFlight(call));
    if (ready.length === 0) return;
    const { maxCallsAtOnce } = this.#options.limits(live);
    const isHeld = live.answerBytes > HELD_ANSWER_BYTES;
    for (const call of ready) {
      const waitMs = (call.notBefore ?? 0) - this.#options.now();
      if (waitMs > 0) this.#later(live.ref, waitMs);
      else if (!isHeld && this.#atOnce(live) < maxCallsAtOnce) this.#perform(live, call);
    }
  }

  isInFlight(call: CallRow): boolean {
    return this.#inFlight.has(call.callId);
  }

  /**
   * A call that an engine before this one has started: made again if that does no harm, settled if its tool can say what came
   * of it, else its outcome is unknown.
   */
  async reclaim(live: LiveTask, n: number): Promise<void> {
    const call = live.call(n);
    if (call?.status !== 'started' || this.isInFlight(call)) return;
    const tool = this.#tool(live, call.tool);
    if (tool?.idempotent) {
      live.changeCall(n, { status: 'ready' });
      return;
    }
    const told = await this.#reconciled(live, tool, call);
    if (live.call(n)?.status !== 'started') return;
    if (told && 'retry' in told) live.changeCall(n, { status: 'ready' });
    else if (told) this.#settle(live, n, told, 'reconcile');
    else {
      live.record('call_unknown', { call_id: call.callId, n });
      live.changeCall(n, { status: 'waiting', waitsFor: 'outcome_unknown', expiresAt: null });
    }
    this.#options.onChanged(live);
  }

  /** Throws `invalid_request` for arguments that the tool would not take. */
  checkArguments(live: LiveTask, call: CallRow, args: Record<string, unknown>): void {
    try {
      this.#tool(live, call.tool)?.check(fromWire(args) as ValueRecord);
    } catch (cause) {
      throw new FermataError('invalid_request', `arguments for ${call.tool}: ${cause instanceof Error ? cause.message : cause}`, { cause });
    }
  }

  /** Makes a person's decision on the approval of a call, or on a value, true. */
  approve(live: LiveTask, call: CallRow, { arguments: edited, value }: { arguments?: Record<string, unknown>; value?: unknown }, by: string): void {
    if (call.waitsFor === 'review') {
      this.#settle(live, call.n, { ok: fromWire(value === undefined ? reviewedValue(call) : value) }, by);
    } else {
      const editedArgs = edited === undefined ? null : JSON.stringify(edited);
      const tool = this.#tool(live, call.tool);
      if (tool && !tool.execute) {
        const expiresAt = tool.timeoutMs === undefined ? null : this.#options.now() + tool.timeoutMs;
        // A client asks for its second decision: the result.
        live.changeCall(call.n, { status: 'waiting', waitsFor: 'client_tool', expiresAt, editedArgs, by });
      } else live.changeCall(call.n, { status: 'ready', waitsFor: null, expiresAt: null, editedArgs, by });
      this.performReady(live);
    }
    this.#options.onChanged(live);
  }
  reject(live: LiveTask, call: CallRow, reason: string | undefined, by: string): void {
    const what = call.waitsFor === 'review' ? 'the review' : `the call of ${call.tool}`;
    this.#settle(live, call.n, failed('ApprovalRejected', `${what} was rejected${reason ? `: ${reason}` : ''}`), by);
    this.#options.onChanged(live);
  }
  answer(live: LiveTask, call: CallRow, result: CallResult, by: string): void {
    this.#settle(live, call.n, result, by);
    this.#options.onChanged(live);
  }
  retry(live: LiveTask, call: CallRow, by: string): void {
    live.changeCall(call.n, { status: 'ready', waitsFor: null, by });
    this.performReady(live);
    this.#options.onChanged(live);
  }
  expire(live: LiveTask, call: CallRow): void {
    const what = call.waitsFor === 'review' ? 'the review' : `the approval of ${call.tool}`;
    const expired = call.waitsFor === 'client_tool' ? failed('Timeout', `${call.tool} was not answered in time`) : failed('ApprovalExpired', `${what} was not given in time`);
    this.#settle(live, call.n, expired, 'expiry');
    this.#options.onChanged(live);
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

  #judge(live: LiveTask, call: Call): Judged {
    const { tools } = this.#options;
    const tool = this.#tool(live, call.name);
    if (!tool && call.name === REVIEW) return { waitsFor: 'review', ...(typeof call.args.reason === 'string' ? { reason: call.args.reason } : {}) };
    const result = tool ? undefined : builtInResult(tools, live.ref.tenant, live.row.request, call.name, call.args);
    if (result) return { result };
    if (!tool) return { result: failed('UnknownTool', `there is no tool ${call.name}`), reason: 'there is no such tool' };
    try {
      tool.check(call.args);
    } catch (error) {
      return { result: { error: described(error) }, reason: 'its arguments do not fit' };
    }
    const verdict = tools.judge(live.ref.tenant, tool, tool.judged?.(call.args) ?? call.args, live.row.request.policy ?? [], this.#historyOf(live));
    if (verdict.action === 'deny')
      return { ...verdict, result: failed('PolicyViolation', `the call of ${call.name} is denied${verdict.reason ? `: ${verdict.reason}` : ' by policy'}`) };
    if (verdict.action === 'rate_limited') {
      const seconds = Math.ceil(verdict.retryAfterMs / 1000);
      const message = `${call.name} was called too often${verdict.reason ? `: ${verdict.reason}` : ''}; it can be called again in ${seconds} s`;
      return { ...verdict, result: { error: { name: 'RateLimited', message, data: { retry_after_seconds: verdict.retryAfterMs / 1000 } } } };
    }
    if (verdict.action === 'require_approval') return { ...verdict, waitsFor: 'approval' };
    return tool.execute ? verdict : { ...verdict, waitsFor: 'client_tool', ...(tool.timeoutMs === undefined ? {} : { expiresAfterMs: tool.timeoutMs }) };
  }

  #historyOf(live: LiveTask): CallHistory {
    const counts = ({ by }: CallRow) => by !== 'policy' && by !== 'an earlier attempt';
    const argsOf = ({ tool, args }: CallRow) => {
      const made = fromWire(JSON.parse(args)) as ValueRecord;
      return this.#tool(live, tool)?.judged?.(made) ?? made;
    };
    return {
      now: this.#options.now(),
      calls: () =>
        live
          .calls()
          .filter(counts)
          .map((row) => ({ tool: row.tool, at: row.createdAt, args: () => argsOf(row) })),
    };
  }

  #tool(live: LiveTask, name: string): EngineTool | undefined {
    return this.#options.tools.find(live.ref.tenant, name, live.row.request);
  }

  /** As JSON. Nobody looks at those for a tool that does not exist. */
  #keptArguments(live: LiveTask, { name, args }: Call): string {
    const json = JSON.stringify(toWire(args));
    const isKnown = this.#tool(live, name) !== undefined || BUILT_IN.some((builtIn) => builtIn.name === name);
    return isKnown ? json : leftOut(json);
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
    const tool = this.#tool(live, call.tool);
    const controller = new AbortController();
    const key = call.callId;
    const taskId = keyOf(live.ref);
    const release = this.#options.tasks.hold(live);
    const repeatable = !tool || tool.idempotent || tool.gate !== undefined;
    const flight = { controller, taskId, repeatable, done: Promise.resolve() };
    this.#count(taskId, 1);
    flight.done = this.#gated(live, tool, call, flight).finally(() => {
      this.#inFlight.delete(key);
      this.#count(taskId, -1);
      // There is room for another; and this one may be ready again, and its time may have come, while it still counted.
      const now = this.#options.tasks.peek(live.ref);
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
    const { moment } = this.#options;
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
    const { tasks, now, onChanged } = this.#options;
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
          } else this.#settle(live, n, result, 'tool');
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

  #settle(live: LiveTask, n: number, result: CallResult, by: string): CallRow {
    const call = live.call(n) as CallRow;
    const wire = 'ok' in result ? { ok: toWire(result.ok) } : { error: { ...result.error, ...(result.error.data === undefined ? {} : { data: toWire(result.error.data) }) } };
    live.record('call_settled', { call_id: call.callId, n, result: wire, by });
    const settled = live.changeCall(n, { status: 'settled', waitsFor: null, expiresAt: null, notBefore: null, result: JSON.stringify(wire), settledAt: this.#options.now(), by });
    this.#options.moment('settle.after');
    return settled;
  }

  async #reconciled(live: LiveTask, tool: EngineTool | undefined, call: CallRow): Promise<CallResult | { retry: true } | undefined> {
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
    const progress = (told: CallProgress) => this.#options.onProgress(ref, call, told);
    const spent = ({ networkBytes }: { networkBytes: number }) => {
      const live = this.#options.tasks.peek(ref);
      live?.change({ usage: { ...live.row.usage, networkBytes: (live.row.usage.networkBytes ?? 0) + networkBytes } });
    };
    return { taskId: ref.taskId, callId, idempotencyKey: `${ref.tenant}:${ref.taskId}:${n}`, signal, progress, spent };
  }

  #later(ref: TaskRef, ms: number): void {
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        void this.#options.tasks.use(ref, async (live) => this.performReady(live)).catch(() => {});
      },
      Math.min(ms, 2 ** 31 - 1),
    );
    timer.unref();
    this.#timers.add(timer);
  }
}

/** The result that a settled call has. */
export function resultOf(call: CallRow): CallResult {
  const wire = JSON.parse(call.result as string) as { ok: unknown } | { error: ToolFailure };
  if ('ok' in wire) return { ok: fromWire(wire.ok) };
  const { data, ...rest } = wire.error;
  return { error: { ...rest, ...(data === undefined ? {} : { data: fromWire(data) }) } };
}

function failed(name: string, message: string): CallResult {
  return { error: { name, message } };
}

/** What was thrown may be anything, and may itself throw when it is looked at. */
function described(error: unknown): ToolFailure {
  try {
    if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
    const told = { name: String(error.name), message: String(error.message) };
    const data = (error as { data?: Value }).data;
    return data === undefined ? told : { ...told, data: fromWire(toWire(data)) };
  } catch {
    return { name: 'Error', message: 'the tool failed with something that cannot be shown' };
  }
}
