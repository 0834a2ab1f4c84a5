/**
 * An engine in memory, for tests of what stands on the contract: states, waits, decisions, journals and tenants are as the
 * contract says. A program is JSON: `{"output": 1}`, `{"print": "x"}`, `{"fail": "message"}`, `{"hold": true}` (runs until it is
 * stopped), `{"call": {"tool": "t", "args": {}, "kind": "client_tool"}}` (its result is the call's), `{"sleep": 1}`.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { BatchView, CallView, Decision, Engine, EngineStatus, ProgramVersion, TaskEvent, TaskFilter, TaskView } from '@fermata/engine';
import {
  type CallResult,
  type CheckpointRow,
  ENDED,
  type Entry,
  FermataError,
  type Inspection,
  type TaskRef,
  type TaskRequest,
  type TaskStatus,
  type WaitKind,
} from '@fermata/protocol';

interface Program {
  output?: unknown;
  print?: string;
  fail?: string;
  hold?: boolean;
  call?: { tool: string; args: unknown; kind: WaitKind };
}

interface Kept {
  view: TaskView;
  asked: string;
  entries: Entry[];
  calls: CallView[];
  checkpoints: CheckpointRow[];
  ears: Set<() => void>;
}

export class MemoryEngine implements Engine {
  readonly #tasks = new Map<string, Kept>();
  readonly #batches = new Map<string, { tenant: string; asked: string; view: BatchView }>();
  readonly #files = new Map<string, { name: string; data: Uint8Array }>();
  readonly #sessions = new Set<string>();
  readonly status: EngineStatus = { running: 0, pending: 0, residentMachines: 0, accepting: true };
  closed: { drainMs?: number } | undefined;
  /** Set to have pauses fail. */
  refusePauses = false;
  #count = 0;

  async start(): Promise<void> {}

  async submit(tenant: string, request: TaskRequest, { taskId = `task_${randomUUID()}` }: { taskId?: string } = {}): Promise<TaskView> {
    if (request.instruction !== undefined) throw new FermataError('model_error', 'no model is configured');
    const asked = JSON.stringify(request);
    const before = this.#tasks.get(key(tenant, taskId));
    if (before && before.asked !== asked) throw new FermataError('conflict', `the id ${taskId} is taken by another request`);
    if (before) return before.view;
    if (request.sharedInterpreter && request.sessionId) this.#sessions.add(key(tenant, request.sessionId));
    const kept: Kept = { view: newView(tenant, taskId, request, this.#count++), asked, entries: [], calls: [], checkpoints: [], ears: new Set() };
    this.#tasks.set(key(tenant, taskId), kept);
    this.#note(kept, 'submitted', {});
    queueMicrotask(() => this.#run(kept));
    return { ...kept.view };
  }

  async submitBatch(
    tenant: string,
    requests: readonly { request: TaskRequest; taskId?: string }[],
    options: { batchId?: string; maxConcurrency?: number } = {},
  ): Promise<BatchView> {
    const batchId = options.batchId ?? `batch_${randomUUID()}`;
    const asked = JSON.stringify(requests);
    const before = this.#batches.get(key(tenant, batchId));
    if (before && before.asked !== asked) throw new FermataError('conflict', `the id ${batchId} is taken`);
    if (before) return this.batch(tenant, batchId);
    const tasks = await Promise.all(requests.map(({ request, taskId }) => this.submit(tenant, { ...request, batchId }, taskId === undefined ? {} : { taskId })));
    const view = {
      batchId,
      createdAt: Date.now(),
      counts: {},
      total: tasks.length,
      maxConcurrency: options.maxConcurrency ?? null,
      taskIds: tasks.map(({ taskId }) => taskId),
      endedAt: null,
    };
    this.#batches.set(key(tenant, batchId), { tenant, asked, view });
    return this.batch(tenant, batchId);
  }

  async batch(tenant: string, batchId: string): Promise<BatchView> {
    const batch = this.#batches.get(key(tenant, batchId));
    if (!batch) throw new FermataError('not_found', `there is no batch ${batchId}`);
    const views = batch.view.taskIds.map((taskId) => this.#kept({ tenant, taskId }).view);
    const counts: Record<string, number> = {};
    for (const { status } of views) counts[status] = (counts[status] ?? 0) + 1;
    return { ...batch.view, counts, endedAt: views.every(({ status }) => ENDED.includes(status)) ? Math.max(...views.map(({ endedAt }) => endedAt ?? 0)) : null };
  }

  async cancelBatch(tenant: string, batchId: string): Promise<BatchView> {
    const { taskIds } = await this.batch(tenant, batchId);
    for (const taskId of taskIds) if (!ENDED.includes(this.#kept({ tenant, taskId }).view.status)) await this.cancel({ tenant, taskId });
    return this.batch(tenant, batchId);
  }

  async task(ref: TaskRef): Promise<TaskView> {
    return { ...this.#kept(ref).view };
  }

  async tasks(tenant: string, filter: TaskFilter = {}) {
    const { status, sessionId, batchId, tool, createdAfter = 0, cursor = '0', limit = 50 } = filter;
    const all = [...this.#tasks.values()]
      .filter(({ view, calls }) => view.tenant === tenant && view.createdAt >= createdAfter && (tool === undefined || calls.some((call) => call.tool === tool)))
      .map(({ view }) => view)
      .filter(
        (view) => (!status || status.includes(view.status)) && (sessionId === undefined || view.sessionId === sessionId) && (batchId === undefined || view.batchId === batchId),
      )
      .reverse();
    const from = Number(cursor);
    const items = all.slice(from, from + limit).map((view) => ({ ...view }));
    return from + limit < all.length ? { items, cursor: String(from + limit) } : { items };
  }

  async wait(ref: TaskRef, waitMs: number, signal?: AbortSignal): Promise<TaskView> {
    const kept = this.#kept(ref);
    const rests = () => ENDED.includes(kept.view.status) || kept.view.status === 'paused' || kept.view.status === 'waiting';
    await this.#until(kept, rests, waitMs, signal);
    return { ...kept.view };
  }

  async pause(ref: TaskRef): Promise<TaskView> {
    const kept = this.#unended(ref);
    if (this.refusePauses) throw new FermataError('checkpoint_failed', 'the checkpoint could not be stored; the task goes on');
    if (kept.view.status !== 'paused') this.#become(kept, 'paused', { desired: 'pause', pauseReason: 'user_request', resumable: true });
    return { ...kept.view };
  }

  async resume(ref: TaskRef): Promise<TaskView> {
    const kept = this.#unended(ref);
    if (kept.view.status === 'paused') {
      this.#become(kept, 'pending', { desired: 'run', pauseReason: null, resumable: null });
      queueMicrotask(() => this.#run(kept));
    }
    return { ...kept.view };
  }

  async cancel(ref: TaskRef): Promise<TaskView> {
    const kept = this.#kept(ref);
    if (kept.view.status === 'cancelled') return { ...kept.view };
    this.#unended(ref);
    for (const call of kept.calls) if (call.status === 'waiting') call.status = 'abandoned';
    this.#become(kept, 'cancelled', { desired: 'cancel', endedAt: Date.now(), waitingFor: [] });
    return { ...kept.view };
  }

  async calls(ref: TaskRef): Promise<CallView[]> {
    return this.#kept(ref).calls.map((call) => ({ ...call }));
  }

  async decide(ref: TaskRef, callId: string, decision: Decision, by: string): Promise<CallView> {
    const kept = this.#kept(ref);
    const call = kept.calls.find((candidate) => candidate.callId === callId);
    if (!call) throw new FermataError('not_found', `the task has no call ${callId}`);
    const told = JSON.stringify(decision);
    if (call.status === 'settled') {
      if ((call as CallView & { told?: string }).told === told) return { ...call };
      throw new FermataError('conflict', 'another decision was made before');
    }
    const fits = {
      approve: ['approval', 'review'],
      reject: ['approval', 'review'],
      result: ['client_tool', 'outcome_unknown'],
      error: ['client_tool', 'outcome_unknown'],
      retry: ['outcome_unknown'],
    };
    if (call.status !== 'waiting' || !fits[decision.action].includes(call.waitsFor ?? '')) throw new FermataError('invalid_state', 'the call does not wait for this');
    const result = resultOf(decision, call);
    Object.assign(call, {
      status: 'settled',
      told,
      settledAt: Date.now(),
      by,
      result,
      ...(decision.action === 'approve' && decision.arguments ? { editedArguments: decision.arguments } : {}),
    });
    kept.view.waitingFor = [];
    this.#note(kept, 'call', { callId, ...result });
    if (kept.view.status === 'waiting') this.#run(kept);
    return { ...call };
  }

  async inbox(tenant: string, { kinds = ['approval', 'review', 'outcome_unknown'], limit = 50 }: { kinds?: WaitKind[]; cursor?: string; limit?: number } = {}) {
    const items = [...this.#tasks.values()]
      .filter(({ view }) => view.tenant === tenant)
      .flatMap(({ view, calls }) =>
        calls.filter((call) => call.status === 'waiting' && call.waitsFor && kinds.includes(call.waitsFor)).map((call) => ({ ...call, taskId: view.taskId })),
      );
    return { items: items.slice(0, limit) };
  }

  async *events(ref: TaskRef, { after = 0, signal }: { after?: number; live?: boolean; signal?: AbortSignal } = {}): AsyncGenerator<TaskEvent> {
    const kept = this.#kept(ref);
    for (let next = after; ; ) {
      for (const { seq, at, kind, body } of kept.entries.slice(next)) {
        yield { seq, at, kind, data: JSON.parse(body) };
        next = seq;
      }
      if (signal?.aborted || (ENDED.includes(kept.view.status) && next >= kept.entries.length)) return;
      await this.#until(kept, () => kept.entries.length > next, 60_000, signal);
    }
  }

  async journal(ref: TaskRef, after = 0, limit = 100): Promise<Entry[]> {
    return this.#kept(ref).entries.slice(after, after + limit);
  }

  async programs(ref: TaskRef): Promise<ProgramVersion[]> {
    this.#kept(ref);
    return [];
  }

  async inspect(ref: TaskRef): Promise<Inspection> {
    const kept = this.#kept(ref);
    if (kept.view.status !== 'paused' && kept.view.status !== 'waiting') throw new FermataError('invalid_state', 'the task is not stopped');
    return {
      stack: [{ file: 'main.py', line: 1, function: '<module>', locals: { x: '1' } }],
      pending: [{ id: 1, name: 't', args: { a: 1 } }],
      files: [{ path: '/work/a', bytes: 3 }],
    };
  }

  async checkpoint(ref: TaskRef): Promise<CheckpointRow> {
    const kept = this.#unended(ref);
    const mark = { outputBytes: 0, calls: 0, notes: 0, fuel: 0, wallMs: 0, cpuMs: 0 };
    const row = {
      checkpointId: `ckpt_${randomUUID()}`,
      seq: kept.entries.length,
      hash: '',
      createdAt: Date.now(),
      reason: 'request',
      bytes: 100,
      mark,
    };
    kept.checkpoints.unshift(row);
    kept.view.checkpointId = row.checkpointId;
    return row;
  }

  async checkpoints(ref: TaskRef): Promise<CheckpointRow[]> {
    return this.#kept(ref).checkpoints;
  }

  async fork(ref: TaskRef, options: { checkpointId?: string; answers?: Record<string, CallResult>; taskId?: string } = {}): Promise<TaskView> {
    const kept = this.#kept(ref);
    const known = options.checkpointId === undefined || kept.checkpoints.some(({ checkpointId }) => checkpointId === options.checkpointId);
    if (!known) throw new FermataError('not_found', `there is no checkpoint ${options.checkpointId}`);
    const [answer] = Object.values(options.answers ?? {});
    const code = answer && 'ok' in answer ? JSON.stringify({ output: answer.ok }) : (kept.view.request.code ?? '');
    const forkOf = { taskId: ref.taskId, checkpointId: options.checkpointId ?? null, seq: kept.entries.length };
    return this.submit(ref.tenant, { ...kept.view.request, code, forkOf }, options.taskId === undefined ? {} : { taskId: options.taskId });
  }

  async verify(ref: TaskRef) {
    if (!ENDED.includes(this.#kept(ref).view.status)) throw new FermataError('invalid_state', 'the task has not ended');
    return { verified: true, checkpoints: 0, differences: [] };
  }

  async purge(ref: TaskRef): Promise<void> {
    if (!ENDED.includes(this.#kept(ref).view.status)) throw new FermataError('invalid_state', 'the task has not ended');
    this.#tasks.delete(key(ref.tenant, ref.taskId));
  }

  async sessions(tenant: string) {
    const mine = [...this.#sessions].map((name) => JSON.parse(name) as [string, string]).filter(([of]) => of === tenant);
    return { items: mine.map(([, sessionId]) => ({ sessionId, createdAt: Date.now(), head: 1, language: 'python', bytes: 1 })) };
  }

  async endSession(tenant: string, sessionId: string): Promise<void> {
    if (!this.#sessions.delete(key(tenant, sessionId))) throw new FermataError('not_found', `there is no session ${sessionId}`);
  }

  async putFile(tenant: string, name: string, data: Uint8Array) {
    const fileId = `file_${randomUUID()}`;
    this.#files.set(key(tenant, fileId), { name, data });
    return { fileId, bytes: data.length };
  }

  async file(tenant: string, fileId: string) {
    return this.#files.get(key(tenant, fileId));
  }

  async dropFile(tenant: string, fileId: string) {
    if (!this.#files.delete(key(tenant, fileId))) throw new FermataError('not_found', `there is no file ${fileId}`);
  }

  async close(options: { drainMs?: number } = {}): Promise<void> {
    this.closed = options;
    this.status.accepting = false;
    for (const kept of this.#tasks.values()) if (kept.view.status === 'running') this.#become(kept, 'paused', { pauseReason: 'shutdown', resumable: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #run(kept: Kept): void {
    const { view } = kept;
    if (ENDED.includes(view.status) || view.desired !== 'run') return;
    this.#become(kept, 'running', { attempt: 1, startedAt: view.startedAt ?? Date.now(), worker: 'w1' });
    const program = view.request.toolCall
      ? { call: { tool: view.request.toolCall.name, args: view.request.toolCall.arguments, kind: 'client_tool' as const } }
      : programOf(view.request.code ?? '');
    if (program.print && view.stdout === '') view.stdout = program.print;
    if (program.hold) return;
    if (program.fail) return this.#become(kept, 'failed', { endedAt: Date.now(), error: { code: 'guest_error', name: 'ValueError', message: program.fail, line: 3 } });
    const settled = kept.calls.find(({ status }) => status === 'settled');
    if (program.call && !settled) return this.#park(kept, program.call);
    if (settled?.result && 'error' in settled.result)
      return this.#become(kept, 'failed', { endedAt: Date.now(), error: { code: 'tool_error', message: settled.result.error.message } });
    this.#become(kept, 'succeeded', { endedAt: Date.now(), output: settled?.result && 'output' in settled.result ? settled.result.output : program.output });
  }

  #park(kept: Kept, { tool, args, kind }: NonNullable<Program['call']>): void {
    const createdAt = Date.now();
    const call: CallView = {
      callId: 'call_1',
      tool,
      arguments: args,
      status: 'waiting',
      waitsFor: kind,
      tries: 0,
      delivered: false,
      createdAt,
      settledAt: null,
      expiresAt: null,
      by: null,
    };
    if (kept.calls.length === 0) kept.calls.push(call);
    this.#become(kept, 'waiting', { waitingFor: [{ callId: 'call_1', tool, arguments: args, kind, expiresAt: null, createdAt }] });
  }

  #become(kept: Kept, status: TaskStatus, changes: Partial<TaskView> = {}): void {
    Object.assign(kept.view, changes, { status, updatedAt: Date.now() });
    this.#note(kept, 'state', { status });
  }

  #note(kept: Kept, kind: string, data: unknown): void {
    const before = kept.entries.at(-1)?.hash ?? '';
    const [seq, at, body] = [kept.entries.length + 1, Date.now(), JSON.stringify(data)];
    kept.entries.push({ seq, at, kind, body, hash: createHash('sha256').update(`${before}\n${seq}\n${at}\n${kind}\n${body}\n`).digest('hex') });
    kept.view.seq = seq;
    for (const ear of [...kept.ears]) ear();
  }

  #until(kept: Kept, holds: () => boolean, waitMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!holds() && !signal?.aborted) return;
        done();
      };
      const done = () => {
        clearTimeout(timer);
        kept.ears.delete(look);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, waitMs);
      kept.ears.add(look);
      signal?.addEventListener('abort', done);
      look();
    });
  }

  #kept({ tenant, taskId }: TaskRef): Kept {
    const kept = this.#tasks.get(key(tenant, taskId));
    if (!kept) throw new FermataError('not_found', `there is no task ${taskId}`);
    return kept;
  }

  #unended(ref: TaskRef): Kept {
    const kept = this.#kept(ref);
    if (ENDED.includes(kept.view.status)) throw new FermataError('invalid_state', `the task has ended: it is ${kept.view.status}`);
    return kept;
  }
}

/** What is no JSON is an endless loop, if it looks like one, or a program that does nothing. */
function programOf(code: string): Program {
  if (code.startsWith('while True')) return { hold: true };
  try {
    return JSON.parse(code) as Program;
  } catch {
    return {};
  }
}

const key = (tenant: string, id: string) => JSON.stringify([tenant, id]);

function resultOf(decision: Decision, call: CallView): NonNullable<CallView['result']> {
  if (decision.action === 'result') return { output: decision.output };
  if (decision.action === 'error') return { error: { name: decision.error.name ?? 'ToolError', message: decision.error.message } };
  if (decision.action === 'reject') return { error: { name: 'ApprovalRejected', message: decision.reason ?? 'rejected' } };
  if (decision.action === 'approve') return { output: decision.value ?? decision.arguments ?? call.arguments };
  return { output: 'again' };
}

function newView(tenant: string, taskId: string, request: TaskRequest, count: number): TaskView {
  const usage = { wallMs: 12, cpuMs: 3.4567, memoryBytes: 1024 * 1024, peakMemoryBytes: 2 * 1024 * 1024, diskBytes: 0, outputBytes: 0, toolCalls: 0, fuel: 1 };
  const createdAt = Date.now() + count / 1000;
  return {
    ...{
      tenant,
      taskId,
      status: 'pending',
      desired: 'run',
      seq: 0,
      epoch: 0,
      attempt: 0,
      worker: null,
      notBefore: null,
      parked: false,
      origin: null,
      createdAt,
      updatedAt: createdAt,
      startedAt: null,
      endedAt: null,
      request,
      authored: null,
      answer: null,
      usage,
    },
    ...{
      priority: request.priority ?? 0,
      sessionId: request.sessionId ?? null,
      batchId: request.batchId ?? null,
      dueAt: null,
      timerAt: null,
      step: null,
      progress: null,
      line: null,
    },
    ...{ checkpointId: null, pauseReason: null, output: undefined, files: [], truncated: false, error: null, waitingFor: [], inFlight: [], queuePosition: 0, queueReason: null },
    ...{ resumable: null, resumableReason: null, stdout: '', stderr: '' },
  };
}
