/**
 * Multiplexes the machines of one thread: turn by turn, round-robin, a few milliseconds each, so that an endless loop
 * starves nobody.
 *
 * A turn runs under a V8 timeout of what is left of the machine's budget, which also ends code that reaches no fuel
 * check; only that machine is lost then. The scheduler owns no thread and no port: its owner calls {@link turn} while
 * {@link busy}, and gets everything that happened as reports.
 */
import { Script } from 'node:vm';
import { type Budget, type Emission, FermataError, type HostedOutcome, type Input, type LimitKind, type Report } from '@fermata/protocol';
import type { Machine } from '../wasm/machine.ts';

/** A slice is about this long; a turn ends with the first slice that passes its length. */
const SLICE_MS = 2;
const TURN_MS = 8;
/** How long turns are taken under one timeout, and how far off the timeout must be meanwhile. */
const BREATH_MS = 50;
const SAFE_MS = 1000;
/** What comes so soon finds the thread still there. */
const LINGER_MS = 1;
/** No stretch without a fuel check takes so long; one that does is ended. */
export const MAX_TURN_MS = 20_000;
/** A machine that runs silently is reported on this often. */
const REPORT_MS = 100;
/** The timeout counts wall time; processor time takes longer to pass where others want the processor too. */
const CPU_SLACK = 4;
/** A V8 timeout needs a whole number of at least one. */
const MIN_TIMEOUT_MS = 1;
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export interface Entry {
  id: number;
  machine: Machine;
  sliceFuel: number;
  cpuMs: number;
  /** When something was last told of it. */
  toldMs: number;
  advancing: { next: Input; budget: Budget; startedMs: number; cpuAtStart: number; stop: boolean } | null;
}

/** Turns under one timeout; what the last of them has come to and was not told yet. */
interface Breath {
  entry: Entry;
  emitted: Emission[][];
  outcome: HostedOutcome | undefined;
  /** After so long the machine that has its turn is ended. */
  timeoutMs: number;
  /** The machine is being advanced: a timeout now ends the machine and nothing else. */
  inGuest: boolean;
}

export interface SchedulerEvents {
  emitted(entry: Entry, emitted: Emission[]): void;
  /** `emitted`: what was not told before. */
  outcome(entry: Entry, outcome: HostedOutcome, emitted: Emission[]): void;
  lost(entry: Entry, error: FermataError): void;
  /**
   * Asked between two turns: takes what messages it can without delay, and waits so long (ms) for one that sets a machine
   * going. False if there is another kind of message, which the turns have to make room for.
   */
  between(lingerMs: number): boolean;
}

export class Scheduler {
  readonly #events: SchedulerEvents;
  readonly #mark: (machine: number) => void;
  readonly #entries = new Map<number, Entry>();
  readonly #runnable: Entry[] = [];
  /** Processor time of the thread up to which its machines were charged. */
  #chargedMs = 0;

  /** `mark` is told whose turn it is, and 0 between turns. */
  constructor(events: SchedulerEvents, mark: (machine: number) => void) {
    this.#events = events;
    this.#mark = mark;
  }

  get busy(): boolean {
    return this.#runnable.length > 0;
  }

  add(id: number, machine: Machine): Entry {
    const sliceFuel = Math.max(1, Math.round((SLICE_MS * 1e6) / machine.image.manifest.nsPerFuel));
    const entry: Entry = { id, machine, sliceFuel, cpuMs: 0, toldMs: 0, advancing: null };
    this.#entries.set(id, entry);
    return entry;
  }
  get(id: number): Entry {
    const entry = this.#entries.get(id);
    if (!entry) throw new FermataError('invalid_state', 'the machine is gone');
    return entry;
  }
  /** The machine that was removed, if it was there. */
  remove(id: number): Machine | undefined {
    const entry = this.#entries.get(id);
    if (entry) this.#leave(entry);
    this.#entries.delete(id);
    return entry?.machine;
  }

  /** Sets a machine going. One that was removed meanwhile is passed over: nobody waits for it. */
  advance(id: number, input: Input, budget: Budget): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    if (entry.advancing) return this.#events.lost(entry, new FermataError('invalid_state', 'the machine is running'));
    entry.advancing = { next: input, budget, startedMs: performance.now(), cpuAtStart: entry.cpuMs, stop: false };
    this.#runnable.push(entry);
  }
  stop(id: number): void {
    const advancing = this.#entries.get(id)?.advancing;
    if (advancing) advancing.stop = true;
  }
  report({ machine, cpuMs }: Entry): Report {
    return { usage: machine.usage, cpuMs, position: machine.position };
  }

  /**
   * Gives machines their turns for a while, and tells what came of them. To arm the timeout costs more than a tool call, so
   * there is one for many turns: of one machine, or of all that have more time left than any stretch may take.
   */
  turn(): void {
    const entry = this.#next();
    if (!entry) return;
    const timeoutMs = this.#timeoutOf(entry);
    const breath: Breath = { entry, emitted: [], outcome: undefined, timeoutMs, inGuest: false };
    let thrown: unknown;
    try {
      underTimeout(() => this.#turns(breath, Math.min(BREATH_MS, timeoutMs - SAFE_MS)), timeoutMs);
    } catch (error) {
      thrown = error;
    }
    this.#mark(0);
    // Nobody knows what of the telling was done. The thread must go; its machines are brought back elsewhere.
    if (isTimeout(thrown) && !breath.inGuest && breath.emitted.length + (breath.outcome ? 1 : 0) === 0) throw thrown;
    this.#settle(breath, thrown);
  }

  #turns(breath: Breath, breathMs: number): void {
    const began = performance.now();
    for (;;) {
      this.#chargedMs = cpuNowMs();
      this.#mark(breath.entry.id);
      this.#slices(breath);
      if (this.#isExhausted(breath.entry) || performance.now() - began >= breathMs) return;
      this.#mark(0);
      this.#settle(breath, undefined);
      if (!this.#events.between(this.busy ? 0 : LINGER_MS)) return;
      const [next] = this.#runnable;
      if (!next || !this.#maySucceed(next, breath)) return;
      breath.entry = this.#next() as Entry;
    }
  }

  /** Takes turns in order. */
  #next(): Entry | undefined {
    const entry = this.#runnable.shift();
    if (entry) this.#runnable.push(entry);
    return entry;
  }

  /** Whether the timeout of this breath is neither too long nor too short for a machine. */
  #maySucceed(next: Entry, { entry, timeoutMs }: Breath): boolean {
    return next === entry || (timeoutMs === MAX_TURN_MS && this.#timeoutOf(next) === MAX_TURN_MS);
  }

  /** Runs under a timeout that may end it between any two steps, so it leaves what it has in `breath` as it goes. */
  #slices(breath: Breath): void {
    const { machine, advancing, sliceFuel } = breath.entry;
    const began = performance.now();
    while (advancing) {
      breath.inGuest = true;
      const { emitted, ...outcome } = machine.advance(advancing.next, sliceFuel);
      breath.emitted.push(emitted);
      advancing.next = { kind: 'go' };
      const ended = outcome.kind !== 'slice-used' || advancing.stop;
      if (ended) breath.outcome = outcome;
      breath.inGuest = false;
      if (ended || performance.now() - began >= TURN_MS) return;
    }
  }

  /** Charges and tells what there is to tell of the last turn, once. */
  #settle(breath: Breath, thrown: unknown): void {
    const { entry, outcome, timeoutMs } = breath;
    const now = cpuNowMs();
    entry.cpuMs += now - this.#chargedMs + entry.machine.takeHostMs();
    this.#chargedMs = now;
    const overran = isTimeout(thrown);
    if (overran && !outcome) {
      const rest = entry.machine.abandon();
      if (breath.emitted.at(-1) !== rest) breath.emitted.push(rest.filter(({ kind }) => kind === 'output'));
    }
    const emitted = breath.emitted.flat();
    breath.emitted = [];
    breath.outcome = undefined;
    if (outcome) {
      this.#leave(entry);
      this.#events.outcome(entry, outcome, emitted);
      return;
    }
    this.#tell(entry, emitted);
    if (thrown !== undefined && !overran) this.#fail(entry, thrown);
    else if (overran || this.#isExhausted(entry)) this.#overrun(entry, timeoutMs);
  }

  #isExhausted(entry: Entry): boolean {
    const { wallMs, cpuMs } = this.#left(entry);
    return Math.min(wallMs, cpuMs) <= 0;
  }

  /** Also of a machine that says nothing, now and then, so that its line and usage can be followed. */
  #tell(entry: Entry, emitted: Emission[]): void {
    const now = performance.now();
    if (emitted.length === 0 && now - entry.toldMs < REPORT_MS) return;
    entry.toldMs = now;
    this.#events.emitted(entry, emitted);
  }

  #left({ advancing: run, cpuMs }: Entry): Budget {
    if (!run) return { wallMs: Number.POSITIVE_INFINITY, cpuMs: Number.POSITIVE_INFINITY };
    return { wallMs: run.budget.wallMs - (performance.now() - run.startedMs), cpuMs: run.budget.cpuMs - (cpuMs - run.cpuAtStart) };
  }
  #timeoutOf(entry: Entry): number {
    const { wallMs, cpuMs } = this.#left(entry);
    return Math.min(wallMs, cpuMs * CPU_SLACK, MAX_TURN_MS);
  }
  #leave(entry: Entry): void {
    entry.advancing = null;
    const at = this.#runnable.indexOf(entry);
    if (at >= 0) this.#runnable.splice(at, 1);
  }
  #overrun(entry: Entry, turnMs: number): void {
    const { wallMs, cpuMs } = this.#left(entry);
    // The timeout may be a little early; with this much left it was not one of these budgets that ran out.
    const inOneStretch = Math.min(wallMs, cpuMs) > SAFE_MS;
    const limit: LimitKind = !inOneStretch && wallMs <= cpuMs ? 'timeout' : 'cpu';
    const { timeoutMs, maxCpuMs } = entry.machine.limits;
    const message = inOneStretch
      ? `one operation of the program took more than ${Math.ceil(turnMs)} ms`
      : limit === 'timeout'
        ? `the program ran longer than ${timeoutMs} ms`
        : `the program used more than ${maxCpuMs} ms of processor time`;
    this.#leave(entry);
    this.#events.outcome(entry, { kind: 'limit', limit, message }, []);
  }
  #fail(entry: Entry, error: unknown): void {
    this.#leave(entry);
    this.#events.lost(entry, error instanceof FermataError ? error : new FermataError('sandbox_lost', String(error), { cause: error }));
  }
}

const TURN = Symbol.for('fermata.turn');
const script = new Script(`globalThis[Symbol.for('${TURN.description}')]()`, { filename: 'fermata-turn' });

/** Only a script can be given a timeout, so the call goes through a global. */
export function underTimeout(call: () => void, ms: number): void {
  (globalThis as Record<symbol, unknown>)[TURN] = call;
  script.runInThisContext({ timeout: Math.max(MIN_TIMEOUT_MS, Math.ceil(Math.min(ms, MAX_TIMEOUT_MS))), displayErrors: false });
}

/** Whether {@link underTimeout} threw because the time was over. */
function isTimeout(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

/** Processor time of this thread, where Node can tell it, else the time that passed. */
function cpuNowMs(): number {
  const usage = process.threadCpuUsage?.();
  return usage ? (usage.user + usage.system) / 1000 : performance.now();
}
