/**
 * The calls of tasks on their way to whoever settles them: their tool, a person, a client. Here each is recorded with what policy
 * says of it, and decisions have their effect; what is ready is carried out by the performer that the desk is.
 *
 * What survives a crash: decisions and results that were committed.
 */
import { createHash } from 'node:crypto';
import { type Call, type CallResult, type CallRow, FermataError, fromWire, type TaskRef, toWire, type ValueRecord } from '@fermata/protocol';
import { builtInNames, builtInResult, REVIEW, reviewedValue } from './built-in-calls.ts';
import { CallPerformer } from './call-performer.ts';
import { described, failed, settleCall } from './call-result.ts';
import type { CallHistory, EngineTool, Verdict } from './engine-options.ts';
import { leftOut } from './left-out.ts';
import type { LiveTask } from './live-task.ts';

/** What becomes of a call at once: settled, waiting, or (neither) ready. */
type Judged = Pick<Verdict, 'rule' | 'reason' | 'keep'> & { result?: CallResult; waitsFor?: 'approval' | 'review' | 'client_tool'; expiresAfterMs?: number };

/** By whom calls are settled that nobody has made. */
const POLICY = 'policy';
const EARLIER = 'an earlier attempt';

/** Unique for a call of a task, and the same whoever computes it. */
export function callIdOf({ tenant, taskId }: TaskRef, n: number): string {
  return `call_${createHash('sha256').update(`${tenant}\n${taskId}\n${n}`).digest('hex').slice(0, 20)}`;
}

/** The task in which a call of a tool that is source code runs. */
export function taskOfCall(callId: string): string {
  return `task_of_${callId}`;
}

export class CallDesk extends CallPerformer {
  /** A call that the program has just made: recorded, judged, and either settled at once, waiting, or ready to be performed. */
  accept(live: LiveTask, call: Call, known?: CallResult): CallRow {
    const { now } = this.options;
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
      return settleCall(live, row.n, known, EARLIER, this.options);
    }
    const verdict = this.#judge(live, call);
    const why = { ...(verdict.rule === undefined ? {} : { rule: verdict.rule }), ...(verdict.reason === undefined ? {} : { reason: verdict.reason }) };
    for (const document of verdict.keep ?? []) live.keep(document);
    if (verdict.result) {
      live.record('call', { ...said, decision: 'error' in verdict.result ? 'deny' : 'known', ...why });
      live.putCall(row);
      return settleCall(live, row.n, verdict.result, POLICY, this.options);
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
   * A call that an engine before this one has started: made again if that does no harm, settled if its tool can say what came
   * of it, else its outcome is unknown.
   */
  async reclaim(live: LiveTask, n: number): Promise<void> {
    const call = live.call(n);
    if (call?.status !== 'started' || this.isInFlight(call)) return;
    const tool = this.tool(live, call.tool);
    if (tool?.idempotent) {
      live.changeCall(n, { status: 'ready' });
      return;
    }
    const told = await this.reconciled(live, tool, call);
    if (live.call(n)?.status !== 'started') return;
    if (told && 'retry' in told) live.changeCall(n, { status: 'ready' });
    else if (told) settleCall(live, n, told, 'reconcile', this.options);
    else {
      live.record('call_unknown', { call_id: call.callId, n });
      live.changeCall(n, { status: 'waiting', waitsFor: 'outcome_unknown', expiresAt: null });
    }
    this.options.onChanged(live);
  }

  /** Throws `invalid_request` for arguments that the tool would not take, `policy_violation` for those that policy denies. */
  checkArguments(live: LiveTask, call: CallRow, given: Record<string, unknown>): void {
    const tool = this.tool(live, call.tool);
    if (!tool) return;
    let args: ValueRecord;
    try {
      args = fromWire(given) as ValueRecord;
      tool.check(args);
    } catch (cause) {
      throw new FermataError('invalid_request', `arguments for ${call.tool}: ${cause instanceof Error ? cause.message : cause}`, { cause });
    }
    const verdict = this.#verdict(live, tool, args, call.n);
    if (verdict.action !== 'deny') return;
    const why = verdict.reason ?? verdict.rule;
    throw new FermataError('policy_violation', `the call of ${call.tool} with these arguments is denied${why ? `: ${why}` : ' by policy'}`, {
      hint: 'Who approves decides within the rules; approve with other arguments, or reject the call.',
    });
  }

  /** Makes a person's decision on the approval of a call, or on a value, true. */
  approve(live: LiveTask, call: CallRow, { arguments: edited, value }: { arguments?: Record<string, unknown>; value?: unknown }, by: string): void {
    if (call.waitsFor === 'review') {
      settleCall(live, call.n, { ok: fromWire(value === undefined ? reviewedValue(call) : value) }, by, this.options);
    } else {
      const editedArgs = edited === undefined ? null : JSON.stringify(edited);
      const tool = this.tool(live, call.tool);
      if (tool && !tool.execute) {
        const expiresAt = tool.timeoutMs === undefined ? null : this.options.now() + tool.timeoutMs;
        // A client asks for its second decision: the result.
        live.changeCall(call.n, { status: 'waiting', waitsFor: 'client_tool', expiresAt, editedArgs, by });
      } else live.changeCall(call.n, { status: 'ready', waitsFor: null, expiresAt: null, editedArgs, by });
      this.performReady(live);
    }
    this.options.onChanged(live);
  }
  reject(live: LiveTask, call: CallRow, reason: string | undefined, by: string): void {
    const what = call.waitsFor === 'review' ? 'the review' : `the call of ${call.tool}`;
    settleCall(live, call.n, failed('ApprovalRejected', `${what} was rejected${reason ? `: ${reason}` : ''}`), by, this.options);
    this.options.onChanged(live);
  }
  answer(live: LiveTask, call: CallRow, result: CallResult, by: string): void {
    settleCall(live, call.n, result, by, this.options);
    this.options.onChanged(live);
  }
  retry(live: LiveTask, call: CallRow, by: string): void {
    live.changeCall(call.n, { status: 'ready', waitsFor: null, by });
    this.performReady(live);
    this.options.onChanged(live);
  }
  expire(live: LiveTask, call: CallRow): void {
    const what = call.waitsFor === 'review' ? 'the review' : `the approval of ${call.tool}`;
    const expired = call.waitsFor === 'client_tool' ? failed('Timeout', `${call.tool} was not answered in time`) : failed('ApprovalExpired', `${what} was not given in time`);
    settleCall(live, call.n, expired, 'expiry', this.options);
    this.options.onChanged(live);
  }

  #judge(live: LiveTask, call: Call): Judged {
    const { tools } = this.options;
    const tool = this.tool(live, call.name);
    if (!tool && call.name === REVIEW) return { waitsFor: 'review', ...(typeof call.args.reason === 'string' ? { reason: call.args.reason } : {}) };
    const result = tool ? undefined : builtInResult(tools, live.ref.tenant, live.row.request.tools, call.name, call.args);
    if (result) return { result };
    if (!tool) return { result: failed('UnknownTool', `there is no tool ${call.name}`), reason: 'there is no such tool' };
    try {
      tool.check(call.args);
    } catch (error) {
      return { result: { error: described(error) }, reason: 'its arguments do not fit' };
    }
    const verdict = this.#verdict(live, tool, call.args);
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

  /** `n`: of a call that was judged before. */
  #verdict(live: LiveTask, tool: EngineTool, args: ValueRecord, n?: number): Verdict {
    const history = { ...this.#historyBefore(live, n), ...(n === undefined ? {} : { isCounted: true }) };
    return this.options.tools.judge(live.ref.tenant, tool, tool.judged?.(args) ?? args, live.row.request.policy ?? [], history);
  }

  #historyBefore(live: LiveTask, n = Number.POSITIVE_INFINITY): CallHistory {
    // Whoever has decided on a call may have any name.
    const counts = (call: CallRow) => call.n < n && (call.decision !== null || (call.by !== POLICY && call.by !== EARLIER));
    const argsOf = ({ tool: name, args }: CallRow) => {
      const made = fromWire(JSON.parse(args)) as ValueRecord;
      try {
        return this.tool(live, name)?.judged?.(made) ?? made;
      } catch {
        // The tool is another one by now, and does not take them.
        return made;
      }
    };
    return {
      now: this.options.now(),
      calls: () =>
        live
          .calls()
          .filter(counts)
          .map((row) => ({ tool: row.tool, at: row.createdAt, args: () => argsOf(row) })),
    };
  }

  /** As JSON. Nobody looks at those for a tool that does not exist. */
  #keptArguments(live: LiveTask, { name, args }: Call): string {
    const json = JSON.stringify(toWire(args));
    const isKnown = this.tool(live, name) !== undefined || builtInNames(this.options.tools).some((builtIn) => builtIn.name === name);
    return isKnown ? json : leftOut(json);
  }
}
