/**
 * Runs recorded tasks again: to look into one, to compare, and to go on from an earlier place as another task.
 *
 * A machine is given what the journal says that it was given, and nothing that it does has an effect.
 */
import { randomBytes } from 'node:crypto';
import {
  type CallResult,
  type CallRow,
  type CheckpointRow,
  type Commit,
  type Entry,
  FermataError,
  type Host,
  type HostedMachine,
  type HostedOutcome,
  type Input,
  type Inspection,
  imageOfLanguage,
  type Limits,
  type LimitsInput,
  NEVER,
  type Program,
  type SealKey,
  type Store,
  type TaskRow,
  toWire,
} from '@fermata/protocol';
import { callIdOf } from './call-desk.ts';
import { resultOf } from './call-result.ts';
import { boundTo, type Checkpoints } from './checkpoints.ts';
import type { EngineOptions } from './engine-options.ts';
import { entryBytes, nextEntry, verifyChain } from './journal.ts';
import { firstCallOf } from './known-calls.ts';
import { isSameCall } from './left-out.ts';
import { bytesOfOutput } from './output-text.ts';
import { beginsAnew, type Delivery, deliveryOf, readDeliveries, readJournal } from './replay.ts';
import { newTask } from './submission.ts';
import { knownProgram, withSource } from './task-program.ts';

export interface ReplayerOptions extends Pick<EngineOptions, 'prepare'> {
  store: Store;
  host: Host;
  checkpoints: Checkpoints;
  sealKey: SealKey;
  program: (row: TaskRow) => Promise<Program>;
  limits: (row: TaskRow) => Limits;
}

interface ForkOptions {
  taskId: string;
  checkpointId?: string;
  answers?: Record<string, CallResult>;
  limits?: LimitsInput;
  by?: string;
}
/** `commit` stores it whole. */
export interface MadeFork {
  commit: Commit & { task: { row: TaskRow; expect: number } };
}

const NO_QUEUE = { onQueued: () => {} };

export class Replayer {
  readonly #options: ReplayerOptions;

  constructor(options: ReplayerOptions) {
    this.#options = options;
  }

  async inspect(row: TaskRow): Promise<Inspection> {
    const opened = await this.#options.checkpoints.open(row, row.checkpointId, NO_QUEUE);
    if (!opened) return { stack: [], pending: [], files: [], incomplete: row.attempt === 0 ? 'the program has not begun' : 'there is no checkpoint of it' };
    try {
      return await opened.machine.inspect();
    } finally {
      opened.machine.dispose();
    }
  }

  /** Whether the task, run again from its journal, does and gives the same. */
  async verify(row: TaskRow): Promise<{ verified: boolean; checkpoints: number; differences: string[] }> {
    const { store, checkpoints } = this.#options;
    mustStandAlone(row);
    const entries: Entry[] = [];
    for await (const entry of readJournal(store, row)) entries.push(entry);
    const differences: string[] = [];
    try {
      verifyChain(entries);
    } catch (error) {
      differences.push((error as Error).message);
    }
    const begun = entries.findLastIndex(({ kind }) => kind === 'begun');
    // A round that never began has done nothing.
    if (begun < 0 || entries.findLastIndex(beginsAnew) > begun) return { verified: differences.length === 0, checkpoints: 0, differences };
    const own = entries.slice(begun);
    const calls = new Map((await store.calls(row)).map((call) => [call.n, call]));
    const stored = (await checkpoints.ofTask(row)).filter(({ seq }) => seq > (entries[begun] as Entry).seq).reverse();
    const replay = new Replay(await this.#fresh(row), calls, firstCallOf(row));
    let compared = 0;
    try {
      const steps = own.flatMap((entry) => deliveryOf(entry) ?? []);
      for (const [index, step] of steps.entries()) {
        await replay.give(step.kind === 'begun' ? await this.#start(row, step) : replay.inputOf(step));
        const next = steps[index + 1]?.seq ?? Number.POSITIVE_INFINITY;
        for (const point of stored.filter(({ seq }) => seq >= step.seq && seq < next)) {
          // Those in the middle of a stretch cannot be met again; those where the machine waits can.
          if (point.mark.fuel !== replay.machine.report.usage.fuel) continue;
          const { machine } = await checkpoints.openOne(row, point, NO_QUEUE);
          if ((await machine.hash()) !== (await replay.machine.hash())) differences.push(`the state at checkpoint ${point.checkpointId} is another one`);
          machine.dispose();
          compared++;
        }
      }
      differences.push(...this.#compared(row, own, replay));
    } catch (error) {
      differences.push((error as Error).message);
    } finally {
      replay.machine.dispose();
    }
    return { verified: differences.length === 0, checkpoints: compared, differences };
  }

  #compared(row: TaskRow, own: readonly Entry[], replay: Replay): string[] {
    const differences = [...replay.differences];
    const printed = Buffer.concat(own.filter(({ kind }) => kind === 'output').map(({ body }) => bytesOfOutput(JSON.parse(body))));
    if (!printed.equals(replay.output.subarray(0, printed.length))) differences.push('the output is another one');
    const { outcome } = replay;
    if (row.status === 'succeeded') {
      if (outcome?.kind !== 'done') differences.push(`it succeeded, and ends now with ${outcome?.kind ?? 'nothing'}`);
      else if (JSON.stringify(toWire(outcome.value)) !== JSON.stringify(row.output)) differences.push('the result is another one');
    } else if (row.error?.code === 'guest_error' && (outcome?.kind !== 'failed' || !row.error.message.startsWith(outcome.error.name))) {
      differences.push(`it failed with ${row.error.message}, and ends now with ${outcome?.kind ?? 'nothing'}`);
    }
    return differences;
  }

  /**
   * A new task that goes on from a checkpoint of another one, or from before the earliest of the calls that are to have another
   * answer. Calls that were started there and have no answer yet must be settled first.
   */
  async fork(parent: TaskRow, options: ForkOptions, now: number): Promise<MadeFork> {
    const { store, checkpoints, sealKey } = this.#options;
    mustStandAlone(parent);
    const calls = await store.calls(parent);
    const answers = new Map(Object.entries(options.answers ?? {}).map(([callId, result]) => [calls.find((call) => call.callId === callId)?.n ?? unknownCall(callId), result]));
    const stored = await checkpoints.ofTask(parent);
    const chosen = options.checkpointId === undefined ? stored[0] : stored.find(({ checkpointId }) => checkpointId === options.checkpointId);
    if (options.checkpointId !== undefined && !chosen) throw new FermataError('not_found', `the task has no checkpoint ${options.checkpointId} any more`);
    const deliveries = await readDeliveries(store, parent, 0);
    const replaced = deliveries.find((delivery) => delivery.kind === 'delivered' && answers.has(delivery.n));
    const cut = Math.min(replaced?.seq ?? Number.POSITIVE_INFINITY, options.checkpointId === undefined ? Number.POSITIVE_INFINITY : (chosen as CheckpointRow).seq + 1);
    const base = [chosen, ...stored].find((row) => row !== undefined && row.seq < cut);
    const { machine, replay } = await this.#at(parent, base, deliveries, cut, new Map(calls.map((call) => [call.n, call])));
    try {
      const request = { ...parent.request, forkOf: { taskId: parent.taskId, checkpointId: base?.checkpointId ?? null, seq: Number.isFinite(cut) ? cut - 1 : parent.seq } };
      if (options.limits) request.limits = { ...parent.request.limits, ...options.limits };
      delete request.batchId;
      const made = newTask({ tenant: parent.tenant, taskId: options.taskId }, request, now, options.by ?? null);
      const entries = [made.entry];
      const record = (kind: string, body: unknown) => entries.push(nextEntry(entries.at(-1) as Entry, now, kind, body));
      const { authored, attempt, round = Math.max(1, attempt) - 1 } = parent;
      if (authored) record('program', { version: authored.version, language: authored.language, code: authored.code, by: authored.editedBy ?? 'model' });
      const given = new Set(deliveries.filter(({ seq }) => seq < cut).flatMap((delivery) => (delivery.kind === 'delivered' ? [delivery.n] : [])));
      const verdicts = await this.#verdictsOf(parent, calls);
      const own = calls
        .filter(({ n }) => replay.made(n))
        .map((call) => forkedCall(call, options.taskId, parent.tenant, given.has(call.n), answers.get(call.n), verdicts.get(call.n), now));
      for (const { callId, n, tool, args, status, waitsFor } of own) {
        const decision = status === 'waiting' ? { decision: 'wait', waits_for: waitsFor } : { decision: status === 'ready' ? 'allow' : 'known' };
        record('call', { call_id: callId, n, tool, arguments: JSON.parse(args), ...decision });
      }
      const head = entries.at(-1) as Entry;
      const checkpointId = `ckpt_${randomBytes(10).toString('hex')}`;
      const named = { checkpointId, seq: head.seq, hash: head.hash };
      const ref = { tenant: parent.tenant, taskId: options.taskId };
      const data = await machine.snapshot({ key: sealKey, boundTo: boundTo(ref, named) });
      const mark = { ...replay.emitted, fuel: machine.report.usage.fuel, wallMs: 0, cpuMs: 0 };
      record('checkpoint', { checkpoint_id: checkpointId, reason: 'fork', bytes: data.length, seq: head.seq });
      const last = entries.at(-1) as Entry;
      const row: TaskRow = {
        ...made.row,
        seq: last.seq,
        hash: last.hash,
        attempt: Math.max(1, attempt),
        round,
        authored: authored && { ...authored, stage: 'ready' },
        seed: parent.seed,
        mark: { outputBytes: mark.outputBytes, calls: mark.calls, notes: mark.notes },
        usage: { ...made.row.usage, journalBytes: entries.slice(1).reduce((sum, entry) => sum + entryBytes(entry), 0) },
        checkpointId,
      };
      return { commit: { task: { row, expect: 0 }, entries, calls: own, checkpoint: { row: { ...named, createdAt: now, reason: 'fork', bytes: data.length, mark }, data } } };
    } finally {
      machine.dispose();
    }
  }

  /** What policy said of calls that were given up before they had begun. */
  async #verdictsOf(parent: TaskRow, calls: readonly CallRow[]): Promise<Map<number, CallVerdict>> {
    const verdicts = new Map<number, CallVerdict>();
    if (!calls.some(isGivenUp)) return verdicts;
    for await (const { kind, body } of readJournal(this.#options.store, parent)) {
      if (kind !== 'call') continue;
      const { n, ...verdict } = JSON.parse(body) as CallVerdict & { n: number };
      verdicts.set(n, verdict);
    }
    return verdicts;
  }

  /** The machine of a task as it was before the delivery `cut`. */
  async #at(
    row: TaskRow,
    base: CheckpointRow | undefined,
    deliveries: readonly Delivery[],
    cut: number,
    calls: Map<number, CallRow>,
  ): Promise<{ machine: HostedMachine; replay: Replay }> {
    const opened = base && (await this.#options.checkpoints.openOne(row, base, NO_QUEUE));
    const machine = opened?.machine ?? (await this.#fresh(row));
    const replay = new Replay(machine, calls, firstCallOf(row), base?.mark);
    try {
      if (!base && deliveries.length === 0) throw new FermataError('invalid_state', 'the task has not begun; submit it again in place of a fork');
      for (const step of deliveries.filter(({ seq }) => seq > (base?.seq ?? 0) && seq < cut))
        await replay.give(step.kind === 'begun' ? await this.#start(row, step) : replay.inputOf(step));
      if (replay.outcome && replay.outcome.kind !== 'calls' && replay.outcome.kind !== 'slice-used') {
        throw new FermataError('invalid_state', 'the program has ended there; name a checkpoint, or a call to be answered otherwise');
      }
      if (replay.differences.length > 0) throw new FermataError('replay_diverged', replay.differences.join('; '));
      return { machine, replay };
    } catch (error) {
      machine.dispose();
      throw error;
    }
  }

  #fresh(row: TaskRow): Promise<HostedMachine> {
    return this.#options.host.create(imageOfLanguage[knownProgram(row).language], this.#options.limits(row), { tenant: row.tenant });
  }
  async #start(row: TaskRow, begun: Delivery): Promise<Input> {
    const program = await this.#options.program(row);
    const prepared = this.#options.prepare({ ...knownProgram(row), code: program.code });
    const { tools = [] } = begun.kind === 'begun' ? begun : program;
    return { kind: 'start', program: withSource({ ...program, tools }, prepared), seed: Buffer.from(row.seed, 'hex'), nowMs: begun.nowMs };
  }
}

/** A machine that is given again what it was given, and what it does. */
class Replay {
  readonly machine: HostedMachine;
  readonly differences: string[] = [];
  outcome: HostedOutcome | undefined;
  readonly emitted: { outputBytes: number; calls: number; notes: number };
  readonly #calls: Map<number, CallRow>;
  readonly #base: number;
  readonly #printed: Uint8Array[] = [];

  constructor(machine: HostedMachine, calls: Map<number, CallRow>, base: number, mark = { outputBytes: 0, calls: 0, notes: 0 }) {
    this.machine = machine;
    this.#calls = calls;
    this.#base = base;
    this.emitted = { outputBytes: mark.outputBytes, calls: mark.calls, notes: mark.notes };
  }

  get output(): Buffer {
    return Buffer.concat(this.#printed);
  }
  /** Whether the machine has made this call. */
  made(n: number): boolean {
    return n > this.#base && n - this.#base <= this.emitted.calls;
  }
  inputOf(delivery: Delivery): Input {
    if (delivery.kind === 'timer') return { kind: 'timer', nowMs: delivery.nowMs };
    const call = delivery.kind === 'delivered' ? this.#calls.get(delivery.n) : undefined;
    if (!call?.result) throw new FermataError('replay_diverged', 'the record delivers the result of a call that has none');
    return { kind: 'answer', callId: call.n - this.#base, result: resultOf(call), nowMs: delivery.nowMs };
  }
  async give(input: Input): Promise<void> {
    for (let next = input; ; next = { kind: 'go' }) {
      this.outcome = await this.machine.advance(next, NEVER, (emitted) => {
        for (const emission of emitted) {
          if (emission.kind === 'note') this.emitted.notes++;
          else if (emission.kind === 'output') {
            this.#printed.push(emission.chunk.bytes);
            this.emitted.outputBytes = emission.chunk.offset + emission.chunk.bytes.length;
          } else {
            this.emitted.calls++;
            const before = this.#calls.get(this.#base + emission.call.id);
            const [tool, args] = [emission.call.name, JSON.stringify(toWire(emission.call.args))];
            if (!before || !isSameCall(before, tool, args)) this.differences.push(`call ${emission.call.id} is now ${tool}(${args.slice(0, 200)})`);
          }
        }
      });
      if (this.outcome.kind !== 'slice-used') return;
    }
  }
}

/** As the journal has it. */
interface CallVerdict {
  decision?: string;
  waits_for?: CallRow['waitsFor'];
}

/** Its task ended before it had begun, or before somebody had answered. */
const isGivenUp = ({ status, tries }: CallRow) => status === 'abandoned' && tries === 0;

/** A call of another task, as the fork has it. One that had not begun is as policy let it be; what a person said of it is asked again. */
function forkedCall(call: CallRow, taskId: string, tenant: string, delivered: boolean, answer: CallResult | undefined, verdict: CallVerdict | undefined, now: number): CallRow {
  const own: CallRow = { ...call, callId: callIdOf({ tenant, taskId }, call.n), delivered };
  if (answer)
    return {
      ...own,
      status: 'settled',
      waitsFor: null,
      expiresAt: null,
      result: JSON.stringify('ok' in answer ? { ok: toWire(answer.ok) } : answer),
      settledAt: now,
      by: 'the fork',
      delivered: false,
    };
  if (call.status === 'started' || (call.status === 'waiting' && call.waitsFor === 'outcome_unknown') || (call.status === 'abandoned' && call.tries > 0)) {
    throw new FermataError('invalid_state', `call ${call.callId} (${call.tool}) was started and has no result; settle it first, or give its answer`);
  }
  if (isGivenUp(call) && verdict?.decision === 'allow') return { ...own, status: 'ready', waitsFor: null };
  if (isGivenUp(call)) return { ...own, status: 'waiting', waitsFor: verdict?.waits_for ?? 'approval', editedArgs: null, decision: null, by: null };
  return own;
}

/** What an interpreter was given before the task is not in the task's journal. */
function mustStandAlone({ request, sessionId }: TaskRow): void {
  if (request.sharedInterpreter)
    throw new FermataError('invalid_state', `the task shares the interpreter of session ${sessionId} with those before it; it cannot be run again on its own`);
}

function unknownCall(callId: string): never {
  throw new FermataError('not_found', `the task has made no call ${callId}`);
}
