/**
 * A machine that outlasts the thread it lives on.
 *
 * Kept here are its last snapshot and every input since; where these become many bytes a new snapshot takes their place. While it waits and nothing happens it is taken off its thread
 * (hibernated) and put on one again when it is wanted. If its thread dies it is put on another, given the same inputs, and
 * arrives where it was, because a program is a function of its inputs; what it emits again on the way is told to nobody.
 * A machine that keeps taking its thread down with it is given up (`sandbox_lost`).
 */
import {
  type Budget,
  type Checkpoint,
  type Emission,
  FermataError,
  type HostedMachine,
  type HostedOutcome,
  type Input,
  type Inspection,
  type Limits,
  NEVER,
  type OpenOptions,
  type Report,
  type Restored,
  roughBytes,
  type SealOptions,
} from '@fermata/protocol';
import { MachineLost } from './remote-thread.ts';
import type { Seat } from './seats.ts';
import { Told } from './told.ts';

/** A machine that broke down its thread so often is not tried again. */
const MAX_BREAKDOWNS = 2;
/** A machine may have its turn by chance when somebody kills its process, but not this often. */
const MAX_KILLS = 10;

/** So much of answers is kept for a machine that may have to be given them again. */
const KEPT_INPUT_BYTES = 32 * 1024 * 1024;

/** The longest that a timer can wait. */
const NO_MORE_MS = 2 ** 31 - 1;

/** How the machine comes onto a thread: as a new one, or from a snapshot. */
export interface Origin {
  /** For how long (ms) a machine may do nothing before it is hibernated, as things are now. */
  idleMs(): number;
  seat(): Promise<Seat>;
  create(seat: Seat): Promise<HostedMachine>;
  restore(seat: Seat, snapshot: Uint8Array, open: OpenOptions): Promise<{ machine: HostedMachine; restored: Restored }>;
}

interface Base {
  snapshot: Uint8Array;
  open: OpenOptions;
}

interface Resident {
  machine: HostedMachine;
  seat: Seat;
}

export class LastingMachine implements HostedMachine {
  readonly #origin: Origin;
  readonly #onGone: (machine: LastingMachine) => void;
  #resident: Resident | undefined;
  /** Null: a machine that has just been made. */
  #base: Base | null;
  #inputs: Input[] = [];
  #inputBytes = 0;
  readonly #told = new Told();
  /** Known from the first arrival on, which whoever has the machine has awaited. */
  #report: Report | undefined;
  #limits: Limits | undefined;
  #restored: Restored | undefined;
  #cpuAtBaseMs = 0;
  /** What the resident had used when the base was taken, if it is the one that the base was taken of. */
  #cpuOfResidentMs = 0;
  #idle: NodeJS.Timeout | undefined;
  #disposed = false;
  /** Disposed of, and nothing that was asked for before is left to do. */
  #gone = false;
  /** How many advances, and how many requests of any kind, have no answer yet. */
  #advances = 0;
  #asked = 0;
  /** It was stopped at a place that could not be saved, so it cannot be brought back. */
  #stuck = false;
  #busy = false;
  #stopAsked = false;
  #breakdowns = 0;
  #kills = 0;
  #work: Promise<unknown> = Promise.resolve();

  private constructor(origin: Origin, base: Base | null, onGone: (machine: LastingMachine) => void) {
    this.#origin = origin;
    this.#base = base;
    this.#onGone = onGone;
  }

  static async create(origin: Origin, onGone: (machine: LastingMachine) => void): Promise<LastingMachine> {
    const machine = new LastingMachine(origin, null, onGone);
    await machine.#looked(async () => {});
    return machine;
  }

  static async restore(
    origin: Origin,
    snapshot: Uint8Array,
    open: OpenOptions,
    onGone: (machine: LastingMachine) => void,
  ): Promise<{ machine: LastingMachine; restored: Restored }> {
    const machine = new LastingMachine(origin, { snapshot, open }, onGone);
    const restored = await machine.#looked(async () => machine.#restored as Restored);
    return { machine, restored };
  }

  get limits(): Limits {
    return this.#limits as Limits;
  }
  get report(): Report {
    return this.#report as Report;
  }

  advance(input: Input, budget: Budget, onEmitted: (emitted: Emission[], report: Report) => void): Promise<HostedOutcome> {
    this.#stopAsked = false;
    this.#advances++;
    const deadline = performance.now() + budget.wallMs;
    const advancing = this.#alone(async () => {
      this.#inputs.push(input);
      this.#inputBytes += bytesOfInput(input);
      const advanced = this.#lasting(async (machine) => {
        const advancing = machine.advance(input, { ...budget, wallMs: deadline - performance.now() }, (emitted, report) => {
          this.#report = this.#total(report);
          onEmitted(this.#told.fresh(emitted), this.report);
        });
        if (this.#stopAsked) machine.stop();
        const { seat } = this.#resident as Resident;
        seat.setBusy(true);
        const outcome = await advancing.finally(() => seat.setBusy(false));
        this.#report = this.#total(machine.report);
        // Where it was stopped by request no input leads again, so that place becomes the base.
        // If it is too large for that, it shares the fate of its thread.
        const isFull = outcome.kind === 'calls' && this.#inputBytes > KEPT_INPUT_BYTES;
        if (outcome.kind === 'slice-used' || isFull) this.#stuck = !(await this.#rebase(machine));
        if (this.#stuck) this.#forgetInputs();
        return outcome;
      }, this.#inputs.length - 1);
      return advanced.catch((error: unknown) => {
        // It was not accepted, or the machine is gone for good.
        this.#inputs.pop();
        this.#inputBytes -= bytesOfInput(input);
        throw error;
      });
    });
    return advancing.finally(() => this.#advances--);
  }

  stop(): void {
    this.#stopAsked = true;
    this.#resident?.machine.stop();
  }

  checkpoint(seal: SealOptions, ground: string | null): Promise<Checkpoint> {
    return this.#looked((machine) => machine.checkpoint(seal, ground));
  }
  snapshot(seal?: SealOptions, attachment?: Uint8Array): Promise<Uint8Array> {
    return this.#looked((machine) => machine.snapshot(seal, attachment));
  }
  hash(): Promise<string> {
    return this.#looked((machine) => machine.hash());
  }
  inspect(): Promise<Inspection> {
    return this.#looked((machine) => machine.inspect());
  }
  readFile(path: string): Promise<Uint8Array | undefined> {
    return this.#looked((machine) => machine.readFile(path));
  }
  files(): Promise<{ path: string; data: Uint8Array }[]> {
    return this.#looked((machine) => machine.files());
  }

  /** Ends an advance at once; what else was asked for before is still answered. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#onGone(this);
    if (this.#advances > 0 || this.#asked === 0) this.#drop();
    else void this.#work.then(() => this.#drop());
  }

  #drop(): void {
    this.#gone = true;
    this.#leave();
    this.#base = null;
    this.#forgetInputs();
  }

  #forgetInputs(): void {
    this.#inputs = [];
    this.#inputBytes = 0;
  }

  /** Takes the machine off its thread now, if it does nothing. Where it cannot be saved it stays. */
  async hibernate(): Promise<void> {
    if (this.#busy || this.#disposed) return;
    await this.#alone(async () => {
      if (!this.#resident || this.#disposed) return;
      try {
        // One that has just been made is made again as fast.
        const isNew = this.#base === null && this.#inputs.length === 0;
        if (isNew || (await this.#rebase(this.#resident.machine))) this.#leave();
      } catch {
        this.#leave();
      }
    }, false);
  }

  #looked<T>(look: (machine: HostedMachine) => Promise<T>): Promise<T> {
    return this.#alone(() => this.#lasting(look, this.#inputs.length));
  }

  /** One thing at a time. */
  #alone<T>(work: () => Promise<T>, restAfter = true): Promise<T> {
    if (this.#disposed) return Promise.reject(disposed());
    this.#asked++;
    const doing = this.#work.then(async () => {
      clearTimeout(this.#idle);
      this.#busy = true;
      try {
        if (this.#gone) throw disposed();
        return await work();
      } finally {
        this.#busy = false;
        this.#asked--;
        if (restAfter) this.rest();
      }
    });
    this.#work = doing.catch(() => {});
    return doing;
  }

  /** Counts anew from now how long the machine does nothing. */
  rest(): void {
    clearTimeout(this.#idle);
    if (!this.#resident || this.#busy || this.#disposed) return;
    this.#idle = setTimeout(() => void this.hibernate().catch(() => {}), Math.min(this.#origin.idleMs(), NO_MORE_MS));
    this.#idle.unref();
  }

  /** Works on the machine where it stands after its first `inputs` inputs, and again on another thread if that one dies. */
  async #lasting<T>(work: (machine: HostedMachine) => Promise<T>, inputs: number): Promise<T> {
    for (;;) {
      try {
        this.#resident ??= await this.#arrive(inputs);
        return await work(this.#resident.machine);
      } catch (error) {
        if (this.#gone) throw disposed();
        if (!(error instanceof FermataError) || error.code !== 'sandbox_lost' || this.#stuck) throw error;
        this.#leave();
        this.#count(error);
      }
    }
  }

  /** Throws when this was once too often. */
  #count(error: FermataError): void {
    const blame = error instanceof MachineLost ? error.blame : 'own';
    if (blame === 'own') this.#breakdowns++;
    if (blame === 'turn') this.#kills++;
    if (this.#breakdowns >= MAX_BREAKDOWNS || this.#kills >= MAX_KILLS) throw error;
  }

  async #arrive(inputs: number): Promise<Resident> {
    const base = this.#base;
    const resident = await seated(this.#origin, async (seat) => {
      const { machine, restored } = base ? await this.#origin.restore(seat, base.snapshot, base.open) : { machine: await this.#origin.create(seat), restored: undefined };
      this.#limits ??= machine.limits;
      this.#restored ??= restored;
      this.#told.again();
      try {
        for (const input of this.#inputs.slice(0, inputs)) await machine.advance(input, NEVER, (emitted) => void this.#told.fresh(emitted));
      } catch (error) {
        machine.dispose();
        throw error;
      }
      return machine;
    });
    this.#report = this.#total(resident.machine.report);
    if (!this.#gone) return resident;
    resident.machine.dispose();
    resident.seat.release();
    throw disposed();
  }

  /** Whether the machine could be saved; one may be too large. */
  async #rebase(machine: HostedMachine): Promise<boolean> {
    const snapshot = await machine.snapshot().catch((error: unknown) => {
      if (error instanceof FermataError && error.code === 'sandbox_lost') throw error;
      return undefined;
    });
    if (!snapshot) return false;
    this.#base = { snapshot, open: { trust: true } };
    this.#forgetInputs();
    this.#told.rebase();
    this.#cpuAtBaseMs = this.report.cpuMs;
    this.#cpuOfResidentMs = machine.report.cpuMs;
    return true;
  }

  #total(report: Report): Report {
    return { ...report, cpuMs: this.#cpuAtBaseMs + report.cpuMs - this.#cpuOfResidentMs };
  }

  #leave(): void {
    clearTimeout(this.#idle);
    this.#resident?.machine.dispose();
    this.#resident?.seat.release();
    this.#resident = undefined;
    this.#cpuOfResidentMs = 0;
  }
}

/** A program and its files are bounded otherwise. */
function bytesOfInput(input: Input): number {
  if (input.kind !== 'answer') return 0;
  const { result } = input;
  return roughBytes('ok' in result ? result.ok : { ...result.error });
}

async function seated(origin: Origin, make: (seat: Seat) => Promise<HostedMachine>): Promise<Resident> {
  const seat = await origin.seat();
  try {
    return { seat, machine: await make(seat) };
  } catch (error) {
    seat.release();
    throw error;
  }
}

function disposed(): FermataError {
  return new FermataError('invalid_state', 'the machine was disposed of');
}
