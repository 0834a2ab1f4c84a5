/**
 * One lease of a task whose program a model writes: the model is asked, what it wrote is checked, shown to a person where one is
 * asked, and run; what is wrong goes back to the model; and at last the model is asked for the answer.
 *
 * The row says how far the newest program has come (`authored.stage`), the journal what was asked and replied; every step leads from
 * what is durable to the next durable state. So a crash repeats no step that is recorded: a reply that was paid for is used again, and
 * calls of earlier programs are not made twice (`KnownCalls`).
 */
import { answeringFunctions, answerPrompt, lookedUp, lookupsIn, MOST_LOOKS, readReply, replyText, writingFunctions, writingPrompt } from '@fermata/models/author';
import type { Authored, CheckpointRow, Language, ModelFunction, ModelMessage, TaskFault, TaskUsage } from '@fermata/protocol';
import { FermataError } from '@fermata/protocol';
import { tellState } from '../endings.ts';
import type { CheckFinding } from '../engine-options.ts';
import { systemFault } from '../fault.ts';
import type { AskPhase } from '../journal.ts';
import { type Lease, type RunEnd, type RunOptions, takeLease } from '../lease.ts';
import type { LiveTask } from '../live-task.ts';
import { storeOutputs } from '../output-files.ts';
import { RunTask } from '../run-task.ts';
import { checkableTools, knownProgram } from '../task-program.ts';
import { readOutput } from '../task-view.ts';
import { factsOfTask } from './facts-of-task.ts';
import { decidedPlan, planOf } from './plan.ts';
import { goesBack, isRepairable, messagesAfter } from './repair.ts';
import { type Ask, readStory, type Story } from './story.ts';

/** After the last reply that cannot be used. */
const NO_PROGRAM = 'Say more plainly what is to be done, allow more repairs (model.max_repairs), or use another model.';
const STOPPED: RunEnd = { kind: 'stopped' };

export class AuthoredLease implements Lease {
  readonly live: LiveTask;
  readonly #options: RunOptions;
  /** The lease of the program, while it runs. */
  #run: RunTask | undefined;
  #woken = Promise.withResolvers<void>();
  #abandoned = false;

  constructor(options: RunOptions, live: LiveTask) {
    this.#options = options;
    this.live = live;
  }

  get isOpen(): boolean {
    return this.#run?.isOpen ?? false;
  }
  get usage(): TaskUsage {
    return this.#run?.usage ?? this.live.row.usage;
  }
  get line(): number | null {
    return this.#run?.line ?? this.live.row.line;
  }
  ring(): void {
    this.#run?.ring();
    this.#woken.resolve();
  }
  abandon(): void {
    this.#abandoned = true;
    this.#run?.abandon();
    this.#woken.resolve();
  }
  checkpoint(): Promise<CheckpointRow> {
    return this.#run?.checkpoint() ?? Promise.reject(new FermataError('invalid_state', 'no program of the task runs now'));
  }

  async drive(): Promise<RunEnd> {
    try {
      for (;;) {
        if (this.live.broken) throw this.live.broken;
        if (this.#abandoned) return STOPPED;
        const { desired } = this.live.row;
        if (desired === 'cancel') return { kind: 'cancelled' };
        const end = desired === 'pause' ? await this.#paused() : await this.#next();
        if (end) return end;
      }
    } catch (error) {
      if (this.live.broken) throw this.live.broken;
      return this.#abandoned ? STOPPED : { kind: 'failed', fault: systemFault(error), truncated: false };
    }
  }

  /** One step; the end, where it was the last one. */
  async #next(): Promise<RunEnd | undefined> {
    const { authored, status, checkpointId } = this.live.row;
    if (authored?.stage === 'ready') return this.#program(authored);
    if (status !== 'running') takeLease(this.#options, this.live, checkpointId);
    await this.live.flush();
    const story = await readStory(this.#options.store, this.live.ref);
    if (authored?.stage === 'written') return this.#check(authored, story);
    if (authored?.stage === 'checked') return this.#agree(authored, story);
    if (authored?.stage === 'returned') return this.#answer(authored, story);
    return this.#write(story);
  }

  /** Until there is a program: written for the first time, or corrected. */
  async #write(story: Story): Promise<RunEnd | undefined> {
    const { row } = this.live;
    if (story.open) return this.#replied(story.open);
    const { unread } = story;
    const read = unread && readReply(unread.reply, row.request.language);
    if (read?.kind === 'program') return this.#written(read.program, 'model');
    if (unread && read?.kind === 'words' && row.request.messages) return { kind: 'answered', answer: unread.reply.text.trim() };
    if (read && (read.kind !== 'lookups' || story.looks >= MOST_LOOKS)) {
      const message = read.kind === 'lookups' ? 'nothing more can be looked up; write the program now, with what is known' : read.message;
      return this.#refused(story, { code: 'model_error', message });
    }
    const facts = await this.#facts();
    if (unread && read) {
      const found: ModelMessage = { role: 'user', content: lookedUp(read.lookups, { tools: facts.tools }) };
      const messages: ModelMessage[] = [...unread.ask.messages, { role: 'assistant', content: replyText(unread.reply) }, found];
      return this.#ask(story, unread.ask.phase, messages, writingFunctions(facts, story.looks + 1 < MOST_LOOKS));
    }
    const functions = writingFunctions(facts, story.looks < MOST_LOOKS);
    if (story.fault) return this.#ask(story, 'repairing', messagesAfter(story, story.fault, facts, row.authored), functions);
    return this.#ask(story, 'generating code', writingPrompt(facts), functions);
  }

  /** There is a next version, to be checked. */
  async #written({ language, code }: { language: Language; code: string }, by: string): Promise<undefined> {
    const { live } = this;
    const version = (live.row.authored?.version ?? 0) + 1;
    live.record('program', { version, language, code, by });
    live.change({ authored: { version, language, code, stage: 'written', ...(by === 'model' ? {} : { editedBy: by }) }, step: 'checking' });
    await live.flush();
  }

  async #check(authored: Authored, story: Story): Promise<RunEnd | undefined> {
    const { live } = this;
    const { prepare, check, tools } = this.#options;
    const program = knownProgram(live.row);
    const prepared = prepare(program);
    const checked = prepared.error ? undefined : await check?.(program, () => checkableTools(tools, live.ref.tenant, program));
    for (const finding of checked?.findings ?? []) live.record('finding', finding);
    const fault = prepared.error ?? checked?.fault;
    if (fault && !isRepairable(fault)) return { kind: 'failed', fault, truncated: false };
    if (fault) return this.#refused(story, fault, checked ? { findings: checked.findings } : {});
    const asks = program.model?.approvePlan && authored.editedBy === undefined;
    live.change({ authored: { ...authored, stage: asks ? 'checked' : 'ready' } });
    await live.flush();
    return undefined;
  }

  /** Until a person has said that the program may run. */
  async #agree(authored: Authored, story: Story): Promise<RunEnd | undefined> {
    const { live } = this;
    const { now } = this.#options;
    const call = planOf(live, authored, now());
    if (call.status === 'waiting') {
      live.record('waiting', { checkpoint_id: '', timer_at: null });
      live.change({ status: 'waiting', parked: true, timerAt: null, dueAt: null, worker: null });
      tellState(live, now());
      await live.flush();
      return STOPPED;
    }
    live.changeCall(call.n, { delivered: true });
    const decided = decidedPlan(call);
    if ('rejected' in decided) return this.#refused(story, { code: 'approval_rejected', message: decided.rejected });
    const { language, code } = decided.plan;
    if (language !== authored.language || code !== authored.code) return this.#written({ language, code }, call.by ?? 'a person');
    live.change({ authored: { ...authored, stage: 'ready' } });
    await live.flush();
    return undefined;
  }

  /** Runs the program from where it stands. */
  async #program(authored: Authored): Promise<RunEnd | undefined> {
    const { live } = this;
    // The program's own steps are told from now on.
    if (live.row.step === 'checking') live.change({ step: null });
    this.#run = new RunTask(this.#options, live);
    const end = await this.#run.drive().finally(() => {
      this.#run = undefined;
    });
    if (end.kind === 'succeeded') return this.#returned(authored, end);
    if (end.kind !== 'failed' || !isRepairable(end.fault)) return end;
    if (!(await this.#settled())) return undefined;
    if (live.openCalls().some(({ waitsFor }) => waitsFor === 'outcome_unknown')) return end;
    const { stdout, stderr } = await live.flush().then(() => readOutput(this.#options.store, live.row));
    const story = await readStory(this.#options.store, live.ref);
    return (await this.#refused(story, end.fault, { printed: stdout + stderr })) && end;
  }

  /** The program has its result; that is durable before the model hears of it. */
  async #returned(authored: Authored, { output, files: left, head }: Extract<RunEnd, { kind: 'succeeded' }>): Promise<undefined> {
    const { live } = this;
    const { store, sessions } = this.#options;
    const files = await storeOutputs(store, live.ref, left);
    const { origin } = live.row;
    const documents = head && origin ? [await sessions.advance(live.row, origin.head, head)] : [];
    live.record('returned', { output });
    live.change({ authored: { ...authored, stage: 'returned' }, output, files, step: 'answering' });
    await live.flush({ documents });
    if (head && origin) await sessions.forget(live.row, origin.head);
  }

  async #answer(authored: Authored, story: Story): Promise<RunEnd | undefined> {
    const { live } = this;
    try {
      if (story.open) return await this.#replied(story.open);
      if (story.answerFailed) return { kind: 'answered', answer: null };
      const result = JSON.stringify(live.row.output ?? null);
      const unread = story.unread;
      const lookups = unread && story.looks < MOST_LOOKS ? lookupsIn(unread.reply) : [];
      if (unread && lookups.length === 0) return { kind: 'answered', answer: unread.reply.text.trim() || null };
      if (unread) {
        const found: ModelMessage = { role: 'user', content: lookedUp(lookups, { tools: [], result }) };
        const messages: ModelMessage[] = [...unread.ask.messages, { role: 'assistant', content: replyText(unread.reply) }, found];
        return await this.#ask(story, 'answering', messages, answeringFunctions(result, story.looks + 1 < MOST_LOOKS));
      }
      const { stdout } = await readOutput(this.#options.store, live.row);
      const messages = answerPrompt(live.row.request, { program: authored, result, printed: stdout, files: live.row.files });
      return await this.#ask(story, 'answering', messages, answeringFunctions(result, story.looks < MOST_LOOKS));
    } catch (error) {
      if (!(error instanceof FermataError) || !['model_error', 'journal_limit'].includes(error.code)) throw error;
      // What the program has done stands, and is not done again for want of words.
      live.record('model_failed', { n: story.open?.n ?? story.asks, error: systemFault(error) });
      await live.flush();
      return { kind: 'answered', answer: null };
    }
  }

  /** Asks the model, unless the tokens of the task are spent: then it pauses. */
  async #ask(story: Story, phase: AskPhase, messages: ModelMessage[], functions: ModelFunction[]): Promise<RunEnd | undefined> {
    const { live } = this;
    const { model } = live.row.request;
    const { modelTokens: tokens = 0 } = live.row.usage;
    if (model?.maxTokens !== undefined && tokens - story.grantedFrom >= model.maxTokens) {
      live.record('over_budget', { tokens, max_tokens: model.maxTokens });
      live.record('asked', { desired: 'pause', by: 'the budget' });
      live.change({ desired: 'pause', pauseReason: 'budget' });
      return undefined;
    }
    this.#mustHaveRoom(messages);
    const ask: Ask = { n: story.asks + 1, phase, model: this.#options.models.nameFor(live.row.request), messages, functions };
    live.record('model_asked', ask);
    live.change({ step: phase });
    await live.flush();
    return this.#replied(ask);
  }

  /** All messages of a request go into the journal. Throws `journal_limit`. */
  #mustHaveRoom(messages: readonly ModelMessage[]): void {
    const { maxJournalBytes } = this.#options.limits(this.live);
    if (this.live.journalBytes + Buffer.byteLength(JSON.stringify(messages)) <= maxJournalBytes) return;
    const message = `more than ${maxJournalBytes} bytes had to be kept of the task: what its model was asked, and has replied, counts too`;
    throw new FermataError('journal_limit', message);
  }

  /** Until the reply is recorded, or something else is wanted of the task; the reply is then recorded without it. */
  async #replied(ask: Ask): Promise<undefined> {
    const { models, onRest } = this.#options;
    onRest(true);
    try {
      const replied = models.ask(this.live.ref, ask).then(() => true);
      replied.catch(() => {});
      while (!this.#isStopped()) {
        if (await Promise.race([replied, this.#woken.promise])) return;
        this.#woken = Promise.withResolvers();
      }
    } finally {
      onRest(false);
    }
  }

  /** What is wrong goes back to the model, or ends the task where that has happened often enough. */
  async #refused(story: Story, fault: TaskFault, more: { findings?: readonly CheckFinding[]; printed?: string } = {}): Promise<RunEnd | undefined> {
    const { checkpoints, hint } = this.#options;
    const told = fault.hint ?? hint?.(fault, this.live.row);
    const error = told === undefined ? fault : { ...fault, hint: told };
    if (!goesBack(this.live, story, error, more))
      return { kind: 'failed', fault: error.code === 'model_error' ? { ...error, hint: error.hint ?? NO_PROGRAM } : error, truncated: false };
    const old = await checkpoints.ofTask(this.live.ref);
    await this.live.flush({ dropCheckpoints: old.map(({ checkpointId }) => checkpointId) });
    return undefined;
  }

  /** Until no tool has a call of the program that has failed; false where something else is wanted of the task before that. */
  async #settled(): Promise<boolean> {
    const { desk } = this.#options;
    for (;;) {
      if (this.#isStopped()) return false;
      if (!this.live.openCalls().some((call) => call.status === 'started' && desk.isInFlight(call))) return true;
      await this.#woken.promise;
      this.#woken = Promise.withResolvers();
    }
  }

  async #paused(): Promise<RunEnd> {
    const { live } = this;
    const reason = live.row.pauseReason ?? 'user_request';
    live.record('paused', { checkpoint_id: live.row.checkpointId, reason });
    live.change({ status: 'paused', pauseReason: reason, worker: null });
    tellState(live, this.#options.now());
    await live.flush();
    return STOPPED;
  }

  #isStopped(): boolean {
    return this.#abandoned || this.live.broken !== undefined || this.live.row.desired !== 'run';
  }
  #facts() {
    const { store, tools, limits } = this.#options;
    return factsOfTask(store, tools, limits(this.live), this.live.row);
  }
}
