/**
 * The engine: durable tasks over a store, a host of machines and tools.
 *
 * It owns every unended task of its store. What it tells is durable. What survives a crash: everything that a call of its own
 * has resolved for; tasks that ran go on from their newest checkpoint and the answers recorded after it.
 */
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import {
  type CheckpointRow,
  ENDED,
  type Entry,
  FermataError,
  type Inspection,
  isAuthored,
  keyOf,
  LIMITS,
  type Limits,
  type Page,
  parseOptions,
  programRequest,
  QuotaExceeded,
  type Store,
  type TaskRef,
  type TaskRequest,
  type TaskRow,
} from '@fermata/protocol';
import { limitsSchema } from '@fermata/protocol/schemas';
import { Alarm } from './alarm.ts';
import { ModelDesk } from './author/model-desk.ts';
import { programsOf } from './author/programs.ts';
import { Batches } from './batches.ts';
import { CallDesk } from './call-desk.ts';
import type { CallPerformerOptions } from './call-performer.ts';
import { Checkpoints } from './checkpoints.ts';
import { Control } from './control.ts';
import { decideCall } from './decisions.ts';
import { DueTasks } from './due-tasks.ts';
import type { BatchView, CallView, Decision, Engine, EngineStatus, ProgramVersion, SessionView, SubmitOptions, TaskEvent, TaskFilter, TaskView } from './engine-api.ts';
import type { EngineOptions } from './engine-options.ts';
import { EventHub } from './event-hub.ts';
import { eventOf, taskEvents } from './events.ts';
import { Files } from './files.ts';
import type { LiveTask } from './live-task.ts';
import { LiveTasks } from './live-tasks.ts';
import { purgeTask } from './purge.ts';
import { type Gate, Queue } from './queue.ts';
import { Replayer } from './replayer.ts';
import { checkRef, checkRequest } from './request-check.ts';
import { Sessions } from './sessions.ts';
import { newTask, sameRequest } from './submission.ts';
import { programOf } from './task-program.ts';
import { callView, readOutput, taskView, type ViewSources } from './task-view.ts';
import { isAtRest, watchTask } from './watch-task.ts';
import { Worker } from './worker.ts';

const NO_OUTPUT = { stdout: '', stderr: '' };
const PERSONS = ['approval', 'review', 'outcome_unknown'] as const;

export function createEngine(options: EngineOptions): Engine {
  return new DurableEngine(options);
}

class DurableEngine implements Engine {
  readonly #options: EngineOptions;
  readonly #store: Store;
  readonly #now: () => number;
  readonly #tasks: LiveTasks;
  readonly #desk: CallDesk;
  readonly #models: ModelDesk;
  readonly #queue: Queue;
  readonly #checkpoints: Checkpoints;
  readonly #worker: Worker;
  readonly #control: Control;
  readonly #hub = new EventHub();
  readonly #alarm: Alarm;
  readonly #due: DueTasks;
  readonly #batches: Batches;
  readonly #sessions: Sessions;
  readonly #files: Files;
  readonly #replayer: Replayer;
  readonly #view: ViewSources;
  #accepting = false;
  readonly #limitsOf = new WeakMap<TaskRequest, Limits>();
  #closed = false;

  constructor(options: EngineOptions) {
    const { store, host, tools, prepare, worker = `engine_${randomBytes(6).toString('hex')}`, now = Date.now, moment = () => {}, listens = () => false } = options;
    this.#options = options;
    this.#store = store;
    this.#now = now;
    this.#alarm = new Alarm(now, () => void this.#due.look());
    this.#tasks = new LiveTasks(store, (tenant) => tools.ready(tenant), {
      ...{ now, moment, listens },
      onCommitted: (live, entries) => {
        this.#alarm.set(live.row.dueAt);
        this.#hub.tell(live.ref, () => entries.map(eventOf));
      },
      onBroken: (live) => this.#onBroken(live),
    });
    const onProgress: CallPerformerOptions['onProgress'] = (ref, { callId, n, tool }, { progress, total, message }) => {
      const data = { call_id: callId, n, tool, progress, ...(total === undefined ? {} : { total }), ...(message === undefined ? {} : { message }) };
      this.#hub.tell(ref, () => [{ seq: null, at: now(), kind: 'call_progress', data }]);
    };
    const limits = (live: LiveTask) => this.#limits(live.row.request);
    this.#desk = new CallDesk({ tools, now, moment, tasks: this.#tasks, limits, onChanged: (live) => this.#control.wake(live), onProgress });
    const tell = (ref: TaskRef, kind: string, data: unknown) => this.#hub.tell(ref, () => [{ seq: null, at: now(), kind, data }]);
    this.#models = new ModelDesk({ models: options.models, tasks: this.#tasks, moment, tell });
    const { maxRunning = 64 } = options;
    this.#queue = new Queue({ maxRunning, maxBusy: options.maxBusy ?? 2 * availableParallelism(), maxRunningPerTenant: options.maxRunningPerTenant ?? maxRunning });
    this.#checkpoints = new Checkpoints({ ...options, limits, now });
    this.#batches = new Batches(store, now, listens);
    this.#sessions = new Sessions(store, now);
    this.#files = new Files(store, now);
    this.#worker = new Worker({
      ...{ queue: this.#queue, tasks: this.#tasks, desk: this.#desk, now, cancelGraceMs: options.cancelGraceMs ?? 1_000, retentionMs: options.retentionMs },
      run: {
        ...{ store, host, tools, prepare, worker, now, moment, sealKey: options.sealKey },
        ...{ checkpoints: this.#checkpoints, desk: this.#desk, models: this.#models, sessions: this.#sessions },
        ...(options.check ? { check: options.check } : {}),
        ...(options.oldKeys ? { oldKeys: options.oldKeys } : {}),
        keepForTimerMs: options.keepForTimerMs ?? 250,
        checkpointEveryCpuMs: options.checkpointEveryCpuMs ?? 5_000,
        program: (live) => programOf(store, tools, live.row),
        limits: (live) => this.#limits(live.row.request),
        tell: (live, kind, data) => tell(live.ref, kind, data),
        hint: (fault, row) => options.hint?.(fault, programRequest(row)?.language),
      },
      gatesOf: (row) => this.#gatesOf(row),
      sessions: this.#sessions,
      onStopped: (live) => this.#control.stopped(live),
      onEnded: (live) => this.#onEnded(live.row),
    });
    this.#control = new Control({ desk: this.#desk, queue: this.#queue, worker: this.#worker, now });
    this.#due = new DueTasks({
      store,
      tasks: this.#tasks,
      desk: this.#desk,
      worker: this.#worker,
      control: this.#control,
      alarm: this.#alarm,
      now,
      purge: (ref) => this.purge(ref, 'retention'),
    });
    this.#replayer = new Replayer({
      store,
      host,
      checkpoints: this.#checkpoints,
      prepare,
      program: (row) => programOf(store, tools, row),
      limits: (row) => this.#limits(row.request),
      sealKey: options.sealKey,
    });
    this.#view = { queue: this.#queue, runOf: (row) => this.#worker.runOf(row), heldUpBy: (row) => this.#heldUpBy(row) };
  }

  get status(): EngineStatus {
    return { running: this.#queue.running, pending: this.#queue.size, residentMachines: this.#options.host.usage.residentMachines, accepting: this.#accepting };
  }

  async start(): Promise<void> {
    await this.#batches.start();
    const { goesOn = () => true } = this.#options;
    const again: TaskRef[] = [];
    const held = new Set<string>();
    for await (const row of this.#store.unended()) {
      const { status, desired, pauseReason } = row;
      await this.#sessions.join(row);
      if (desired !== 'cancel' && !goesOn(row)) {
        held.add(keyOf(row));
        await this.#tasks.use(row, async (live) => this.#control.putDown(live));
      } else if (status === 'paused' && pauseReason === 'shutdown') again.push(row);
      else if (status === 'running' || status === 'pending' || desired !== (status === 'paused' ? 'pause' : 'run')) await this.#worker.recover(row);
    }
    for (const { n: _, ...ref } of await this.#store.openCalls()) if (!held.has(keyOf(ref))) await this.#worker.recover(ref);
    for (const ref of again) await this.#tasks.use(ref, async (live) => this.#control.resume(live, 'the engine'));
    this.#alarm.set(await this.#store.nextDue());
    this.#accepting = true;
    this.#worker.start();
  }

  async submit(tenant: string, request: TaskRequest, { taskId, by }: SubmitOptions = {}): Promise<TaskView> {
    const arrived = this.#accept(tenant, 1);
    try {
      return await this.#submitted({ tenant, taskId: taskId ?? newId('task') }, request, taskId !== undefined, by);
    } finally {
      arrived();
    }
  }
  async #submitted(ref: TaskRef, request: TaskRequest, named: boolean, by: string | undefined): Promise<TaskView> {
    checkRef(ref);
    this.#checked(request);
    const repeated = named ? await this.#repeated(ref, request) : undefined;
    if (repeated) return repeated;
    await this.#options.tools.ready(ref.tenant);
    const { live, release } = this.#add(ref, request, by);
    try {
      await this.#sessions.join(live.row);
      await live.flush();
    } catch (error) {
      const repeated = error instanceof FermataError && error.code === 'conflict' ? await this.#repeated(ref, request) : undefined;
      if (repeated) return repeated;
      throw error;
    } finally {
      release();
    }
    this.#worker.add(live.row);
    return taskView(live.row, [], NO_OUTPUT, this.#view);
  }

  async submitBatch(
    tenant: string,
    requests: readonly { request: TaskRequest; taskId?: string }[],
    options: { batchId?: string; maxConcurrency?: number; callbackUrl?: string; by?: string } = {},
  ): Promise<BatchView> {
    const arrived = this.#accept(tenant, requests.length);
    try {
      return await this.#batched(tenant, requests, options);
    } finally {
      arrived();
    }
  }
  async #batched(
    tenant: string,
    requests: readonly { request: TaskRequest; taskId?: string }[],
    options: { batchId?: string; maxConcurrency?: number; callbackUrl?: string; by?: string },
  ): Promise<BatchView> {
    const batchId = options.batchId ?? newId('batch');
    const rows = requests.map(({ request, taskId }) => {
      this.#checked(request);
      return newTask({ tenant, taskId: taskId ?? newId('task') }, { ...request, batchId }, this.#now(), options.by ?? null);
    });
    const before = await this.#batches.repeated(tenant, batchId, rows);
    if (before) return before;
    await this.#batches.create(tenant, batchId, rows, options);
    for (const { row } of rows) {
      await this.#sessions.join(row);
      this.#worker.add(row);
    }
    return this.#batches.view(tenant, batchId);
  }
  batch(tenant: string, batchId: string): Promise<BatchView> {
    return this.#batches.view(tenant, batchId);
  }
  async cancelBatch(tenant: string, batchId: string, by?: string): Promise<BatchView> {
    const { taskIds } = await this.#batches.view(tenant, batchId);
    await Promise.all(
      taskIds.map((taskId) =>
        this.cancel({ tenant, taskId }, by === undefined ? {} : { by }).catch((error: unknown) => {
          // It has ended in the meantime.
          if (!(error instanceof FermataError) || error.code !== 'invalid_state') throw error;
        }),
      ),
    );
    return this.#batches.view(tenant, batchId);
  }

  async task(ref: TaskRef): Promise<TaskView> {
    const row = await this.#row(ref);
    return taskView(row, await this.#store.calls(ref), await readOutput(this.#store, row), this.#view);
  }
  async tasks(tenant: string, { limit = 50, ...filter }: TaskFilter = {}): Promise<Page<TaskView>> {
    const { items, ...page } = await this.#store.tasks({ tenant, ...filter, limit: Math.min(limit, 500) });
    return { ...page, items: items.map((row) => taskView(row, [], NO_OUTPUT, this.#view)) };
  }
  async wait(ref: TaskRef, waitMs: number, signal?: AbortSignal): Promise<TaskView> {
    checkRef(ref);
    await watchTask(this.#store, this.#hub, ref, waitMs, signal, (row) => isAtRest(this.#store, row));
    return this.task(ref);
  }

  async pause(
    ref: TaskRef,
    { waitMs = 60_000, by, reason = 'user_request' }: { waitMs?: number; by?: string; reason?: 'user_request' | 'budget' | 'shutdown' } = {},
  ): Promise<TaskView> {
    let failure: FermataError | undefined;
    const unlisten = this.#hub.listen(ref, (events) => {
      for (const { kind, data } of events) if (kind === 'checkpoint_failed') failure ??= failureOf(data);
    });
    try {
      await this.#tasks.use(ref, async (live) => this.#control.pause(live, reason, by ?? null));
      await watchTask(this.#store, this.#hub, ref, waitMs, undefined, ({ status, desired }) => status === 'paused' || desired !== 'pause' || ENDED.includes(status));
    } finally {
      unlisten();
    }
    const view = await this.task(ref);
    if (view.status !== 'paused' && view.desired === 'run' && failure) throw failure;
    if (ENDED.includes(view.status)) throw new FermataError('invalid_state', `the task has ${view.status} before it could be paused`);
    return view;
  }
  async resume(ref: TaskRef, { by }: { by?: string } = {}): Promise<TaskView> {
    await this.#tasks.use(ref, async (live) => {
      // Of a task that this engine has not gone on with, calls may stand as an engine before it has left them.
      if (live.row.status === 'paused') for (const { n } of live.openCalls()) await this.#desk.reclaim(live, n);
      this.#control.resume(live, by ?? null);
    });
    return this.task(ref);
  }
  async cancel(ref: TaskRef, { waitMs = 60_000, by }: { waitMs?: number; by?: string } = {}): Promise<TaskView> {
    await this.#tasks.use(ref, async (live) => {
      const left = this.#control.cancel(live, by ?? null);
      await live.flush();
      if (left === 'end it') await this.#worker.cancel(live, by ?? null);
    });
    await watchTask(this.#store, this.#hub, ref, waitMs, undefined, ({ status }) => ENDED.includes(status));
    return this.task(ref);
  }

  async calls(ref: TaskRef): Promise<CallView[]> {
    await this.#row(ref);
    return (await this.#store.calls(ref)).map(callView);
  }
  decide(ref: TaskRef, callId: string, decision: Decision, by: string): Promise<CallView> {
    return this.#tasks.use(ref, async (live) => {
      const call = decideCall(this.#desk, live, callId, decision, by);
      await live.flush();
      return callView(call);
    });
  }
  async inbox(
    tenant: string,
    { kinds = [...PERSONS], cursor, limit = 50 }: { kinds?: ('approval' | 'review' | 'client_tool' | 'outcome_unknown')[]; cursor?: string; limit?: number } = {},
  ): Promise<Page<CallView & { taskId: string }>> {
    const page = await this.#store.waits({ tenant, kinds, ...(cursor === undefined ? {} : { cursor }), limit: Math.min(limit, 500) });
    return { ...page, items: page.items.map((row) => ({ ...callView(row), taskId: row.taskId })) };
  }

  events(ref: TaskRef, options: { after?: number; live?: boolean; signal?: AbortSignal } = {}): AsyncIterable<TaskEvent> {
    return taskEvents(this.#store, this.#hub, ref, options);
  }
  async journal(ref: TaskRef, after = 0, limit = 1000): Promise<Entry[]> {
    await this.#row(ref);
    return this.#store.entries(ref, after, limit);
  }

  async programs(ref: TaskRef): Promise<ProgramVersion[]> {
    return programsOf(this.#store, await this.#row(ref));
  }

  async inspect(ref: TaskRef): Promise<Inspection> {
    const row = await this.#row(ref);
    if (row.status === 'running') throw new FermataError('invalid_state', 'the task is running; pause it first');
    return this.#replayer.inspect(row);
  }
  async checkpoint(ref: TaskRef): Promise<CheckpointRow> {
    const row = await this.#row(ref);
    if (ENDED.includes(row.status)) throw new FermataError('invalid_state', `the task has ${row.status}; there is nothing to go on with`);
    const run = this.#worker.runOf(ref);
    if (run?.isOpen) return run.checkpoint();
    const [newest] = await this.#store.checkpoints(ref);
    if (!newest) throw new FermataError('invalid_state', 'the task has not begun; it needs no checkpoint');
    return newest;
  }
  async checkpoints(ref: TaskRef): Promise<CheckpointRow[]> {
    await this.#row(ref);
    return this.#store.checkpoints(ref);
  }
  async fork(ref: TaskRef, options: Parameters<Engine['fork']>[1] = {}): Promise<TaskView> {
    this.#accept(ref.tenant, 1)();
    const before = options.taskId === undefined ? undefined : await this.#store.task({ tenant: ref.tenant, taskId: options.taskId });
    if (before?.request.forkOf?.taskId === ref.taskId) return this.task(before);
    if (before) throw new FermataError('conflict', `there is a task ${options.taskId} already`, { hint: 'Use another task id, or none.' });
    const made = await this.#replayer.fork(await this.#row(ref), { ...options, taskId: options.taskId ?? newId('task') }, this.#now());
    await this.#store.commit([made.commit]);
    const forkRef = { tenant: ref.tenant, taskId: made.commit.task.row.taskId };
    await this.#tasks.use(forkRef, async (live) => {
      if (live.row.status === 'pending') this.#worker.add(live.row);
      this.#desk.performReady(live);
    });
    return this.task(forkRef);
  }
  async verify(ref: TaskRef): ReturnType<Engine['verify']> {
    const row = await this.#row(ref);
    if (!ENDED.includes(row.status)) throw new FermataError('invalid_state', 'only a task that has ended can be verified');
    return this.#replayer.verify(row);
  }
  async purge(ref: TaskRef, by?: string): Promise<void> {
    const row = await this.#row(ref);
    if (!ENDED.includes(row.status)) throw new FermataError('invalid_state', 'the task has not ended; cancel it first');
    const cancel = (of: TaskRef) => this.cancel(of, by === undefined ? {} : { by });
    await purgeTask({ store: this.#store, now: this.#now, cancel }, row, by);
  }

  sessions(tenant: string, query: { cursor?: string; limit?: number } = {}): Promise<Page<SessionView>> {
    return this.#sessions.list(tenant, query);
  }
  endSession(tenant: string, sessionId: string): Promise<void> {
    return this.#sessions.end(tenant, sessionId);
  }

  putFile(tenant: string, name: string, data: Uint8Array): Promise<{ fileId: string; bytes: number }> {
    return this.#files.put(tenant, name, data);
  }
  file(tenant: string, fileId: string): Promise<{ name: string; data: Uint8Array } | undefined> {
    return this.#files.get(tenant, fileId);
  }
  dropFile(tenant: string, fileId: string): Promise<void> {
    return this.#files.drop(tenant, fileId);
  }

  async close({ drainMs = 10_000 }: { drainMs?: number } = {}): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#accepting = false;
    this.#alarm.close();
    this.#desk.close();
    const stopped = this.#worker.stop();
    const pausing = this.#worker.refs().map((ref) => this.#tasks.use(ref, async (live) => this.#control.pause(live, 'shutdown', 'the engine')).catch(() => {}));
    // What tools still answer is recorded, as long as there is time: else it would not be known what came of these calls.
    const drained = Promise.all(pausing)
      .then(() => stopped)
      .then(() => Promise.all([this.#desk.idle(), this.#models.idle()]));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, drainMs);
    });
    await Promise.race([drained, late]);
    clearTimeout(timer);
    this.#worker.abandon();
    this.#models.close();
    await stopped;
    await this.#store.close();
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #add(ref: TaskRef, request: TaskRequest, by: string | undefined): { live: LiveTask; release: () => void } {
    const { row, entry } = newTask(ref, request, this.#now(), by ?? null);
    return this.#tasks.add(row, entry);
  }
  async #repeated(ref: TaskRef, request: TaskRequest): Promise<TaskView | undefined> {
    const row = await this.#store.task(ref);
    if (!row) return undefined;
    if (sameRequest(row.request, request)) return this.task(ref);
    throw new FermataError('conflict', `there is a task ${ref.taskId} already, of another request`, { hint: 'Use another task id, or none.' });
  }
  async #row(ref: TaskRef): Promise<TaskRow> {
    checkRef(ref);
    const row = await this.#store.task(ref);
    if (!row) throw new FermataError('not_found', `there is no task ${ref.taskId}`);
    return row;
  }
  /** Counts tasks as being on their way until the function that is given back is called. Throws where there is no room. */
  #accept(tenant: string, count: number): () => void {
    if (this.#closed) throw new FermataError('resources_exhausted', 'the engine is being closed', { hint: 'Ask again in a moment.' });
    const { maxQueued = 100_000, maxQueuedPerTenant = maxQueued } = this.#options;
    const [own, all] = [this.#queue.fullSizeOf(tenant), this.#queue.fullSize];
    const hint = 'Ask again when some of them have run.';
    if (own + count > maxQueuedPerTenant) throw new QuotaExceeded(`${own} tasks of the tenant wait already`, hint);
    if (all + count > maxQueued) throw new FermataError('resources_exhausted', `${all} tasks wait already`, { hint });
    return this.#queue.expect(tenant, count);
  }
  #checked(request: TaskRequest): void {
    checkRequest(request);
    if (isAuthored(request)) this.#models.nameFor(request);
    this.#limits(request);
    this.#options.tools.checkRequest(request);
  }
  #limits(request: TaskRequest): Limits {
    const known = this.#limitsOf.get(request) ?? parseOptions(limitsSchema, { ...this.#options.limits, ...request.limits }, 'limits');
    this.#limitsOf.set(request, known);
    return known;
  }
  async #onEnded(row: TaskRow): Promise<void> {
    const next = this.#sessions.leave(row);
    if (next !== undefined) await this.#tasks.use({ tenant: row.tenant, taskId: next }, async (live) => void (live.row.status === 'pending' && this.#worker.add(live.row)));
    await this.#batches.onEnded(row);
  }
  #gatesOf({ tenant, batchId }: TaskRow): Gate[] {
    const width = batchId === null ? null : this.#batches.widthOf(tenant, batchId);
    return width === null ? [] : [{ name: `batch ${batchId}`, width }];
  }
  #heldUpBy(row: TaskRow): string | null {
    if (row.notBefore !== null && row.notBefore > this.#now()) return `its next attempt begins at ${new Date(row.notBefore).toISOString()}`;
    return this.#sessions.heldUpBy(row) ?? this.#worker.reasonOf(row);
  }

  #onBroken(live: LiveTask): void {
    const run = this.#worker.runOf(live.ref);
    if (run) run.ring();
    else setTimeout(() => void this.#worker.recover(live.ref), 1_000).unref();
  }
}

function newId(prefix: string): string {
  return `${prefix}_${randomBytes(10).toString('hex')}`;
}
function failureOf(data: unknown): FermataError {
  const { code, message } = data as { code: 'checkpoint_failed' | 'checkpoint_too_large'; message: string };
  return new FermataError(code, message, code === 'checkpoint_too_large' ? { hint: LIMITS.checkpoint.advice('max_checkpoint_mb') } : {});
}
