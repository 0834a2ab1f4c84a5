/**
 * This side of a Worker with machines, wherever the Worker lives: its machines as {@link HostedMachine}s.
 *
 * When the Worker dies its machines are lost, with a {@link MachineLost} that says whether this one is to blame.
 */
import {
  type Budget,
  type Checkpoint,
  type Emission,
  FermataError,
  type HostedMachine,
  type HostedOutcome,
  type ImageName,
  type Input,
  type Inspection,
  type Limits,
  type LimitsInput,
  type OpenOptions,
  type Report,
  type Restored,
  type SealOptions,
} from '@fermata/protocol';
import { limitsSchema } from '@fermata/protocol/schemas';
import type { Death, OpenPort, Port } from './port.ts';
import { type FromThread, fromPlainError, NEW_REPORT, type ToThread } from './thread-messages.ts';

/** A machine went down with its Worker. `blame`: `own` if it had its turn when the Worker broke down, `turn` if it had its turn when somebody ended the Worker. */
export class MachineLost extends FermataError {
  readonly blame: 'own' | 'turn' | 'none';
  constructor(death: string, blame: MachineLost['blame']) {
    super('sandbox_lost', death);
    this.blame = blame;
  }
}

interface Waiting {
  machine: number;
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

export class RemoteThread {
  readonly #port: Port;
  readonly #machines = new Map<number, RemoteMachine>();
  readonly #requests = new Map<number, Waiting>();
  #next = 1;
  /** How many wait for the Worker to have loaded an image. */
  #giving = 0;
  #death: Death | undefined;

  constructor(open: OpenPort, onGone: () => void) {
    this.#port = open({
      message: (message) => this.#receive(message),
      gone: (death) => {
        this.#died(death);
        onGone();
      },
    });
  }

  get alive(): boolean {
    return this.#death === undefined;
  }

  /** Makes the thread's spare machines of the image. */
  async prepare(image: ImageName): Promise<void> {
    await this.#give(image);
    await this.request(0, (request) => ({ op: 'prepare', request, image }));
  }
  /** A machine that cannot be made is lost when it is first used. */
  async create(image: ImageName, limits: LimitsInput): Promise<HostedMachine> {
    await this.#give(image);
    const parsed = limitsSchema.parse(limits);
    const id = this.#next++;
    this.send({ op: 'create', id, image, limits: parsed });
    return this.#kept(new RemoteMachine(this, id, parsed, NEW_REPORT));
  }
  async restore(image: ImageName, snapshot: Uint8Array, open: OpenOptions): Promise<{ machine: HostedMachine; restored: Restored }> {
    await this.#give(image);
    const id = this.#next++;
    const made = (await this.request(id, (request) => ({ op: 'restore', request, id, image, snapshot, open }))) as { limits: Limits; report: Report; restored: Restored };
    return { machine: this.#kept(new RemoteMachine(this, id, made.limits, made.report)), restored: made.restored };
  }

  #kept(machine: RemoteMachine): HostedMachine {
    if (this.#death) throw this.#lost(machine.id, this.#death);
    this.#machines.set(machine.id, machine);
    return machine;
  }

  async #give(image: ImageName): Promise<void> {
    if (this.#death) throw this.#lost(0, this.#death);
    this.#giving++;
    this.hold();
    try {
      await this.#port.give(image);
    } catch (error) {
      throw this.#death ? this.#lost(0, this.#death) : error;
    } finally {
      this.#giving--;
      this.hold();
    }
  }

  send(message: ToThread): void {
    if (!this.#death) this.#port.send(message);
  }

  request(machine: number, message: (request: number) => ToThread): Promise<unknown> {
    if (this.#death) return Promise.reject(this.#lost(machine, this.#death));
    const request = this.#next++;
    return new Promise((resolve, reject) => {
      this.#port.send(message(request));
      this.#requests.set(request, { machine, resolve, reject });
      this.hold();
    });
  }

  forget(id: number): void {
    this.#machines.delete(id);
    this.send({ op: 'dispose', id });
    this.hold();
  }

  /** Keeps the process alive exactly while somebody waits for this thread. */
  hold(): void {
    if (this.#death) return;
    this.#port.hold(this.#giving > 0 || this.#requests.size > 0 || [...this.#machines.values()].some((machine) => machine.running));
  }

  close(): Promise<void> {
    return this.#port.close();
  }

  #receive(message: FromThread): void {
    if (message.kind === 'answer' || message.kind === 'refused') {
      const waiting = this.#requests.get(message.request);
      this.#requests.delete(message.request);
      if (message.kind === 'answer') waiting?.resolve(message.value);
      else waiting?.reject(fromPlainError(message.error));
    } else {
      this.#machines.get(message.id)?.receive(message);
    }
    this.hold();
  }

  #died(death: Death): void {
    this.#death = death;
    for (const { machine, reject } of this.#requests.values()) reject(this.#lost(machine, death));
    for (const [id, machine] of this.#machines) machine.lose(this.#lost(id, death));
    this.#requests.clear();
    this.#machines.clear();
  }

  #lost(machine: number, { message, suspect, brokeDown }: Death): MachineLost {
    const hadTurn = suspect === machine;
    return new MachineLost(message, hadTurn ? (brokeDown ? 'own' : 'turn') : 'none');
  }
}

class RemoteMachine implements HostedMachine {
  readonly #thread: RemoteThread;
  readonly id: number;
  readonly limits: Limits;
  #report: Report;
  #lost: Error | undefined;
  #advancing: { resolve: (outcome: HostedOutcome) => void; reject: (error: Error) => void; onEmitted: (emitted: Emission[], report: Report) => void } | undefined;

  constructor(thread: RemoteThread, id: number, limits: Limits, report: Report) {
    this.#thread = thread;
    this.id = id;
    this.limits = limits;
    this.#report = report;
  }

  get report(): Report {
    return this.#report;
  }
  get running(): boolean {
    return this.#advancing !== undefined;
  }

  advance(input: Input, budget: Budget, onEmitted: (emitted: Emission[], report: Report) => void): Promise<HostedOutcome> {
    if (this.#lost) return Promise.reject(this.#lost);
    if (this.#advancing) return Promise.reject(new FermataError('invalid_state', 'the machine is running'));
    return new Promise((resolve, reject) => {
      this.#advancing = { resolve, reject, onEmitted };
      this.#thread.send({ op: 'advance', id: this.id, input, budget });
      this.#thread.hold();
    });
  }
  stop(): void {
    if (this.#advancing) this.#thread.send({ op: 'stop', id: this.id });
  }
  checkpoint(seal: SealOptions, ground: string | null): Promise<Checkpoint> {
    return this.#ask<Checkpoint>((request) => ({ op: 'checkpoint', request, id: this.id, seal, ground }));
  }
  snapshot(seal?: SealOptions, attachment: Uint8Array = new Uint8Array()): Promise<Uint8Array> {
    return this.#ask<Uint8Array>((request) => ({ op: 'snapshot', request, id: this.id, seal, attachment }));
  }
  hash(): Promise<string> {
    return this.#ask<string>((request) => ({ op: 'hash', request, id: this.id }));
  }
  inspect(): Promise<Inspection> {
    return this.#ask<Inspection>((request) => ({ op: 'inspect', request, id: this.id }));
  }
  readFile(path: string): Promise<Uint8Array | undefined> {
    return this.#ask<Uint8Array | undefined>((request) => ({ op: 'readFile', request, id: this.id, path }));
  }
  files(): Promise<{ path: string; data: Uint8Array }[]> {
    return this.#ask<{ path: string; data: Uint8Array }[]>((request) => ({ op: 'files', request, id: this.id }));
  }
  dispose(): void {
    this.#thread.forget(this.id);
    this.lose(new FermataError('invalid_state', 'the machine was disposed of'));
  }

  receive(message: Extract<FromThread, { id: number }>): void {
    this.#report = message.report;
    const advancing = this.#advancing;
    if (message.kind === 'emitted') return advancing?.onEmitted(message.emitted, message.report);
    if (message.kind === 'outcome' && message.emitted.length > 0) advancing?.onEmitted(message.emitted, message.report);
    this.#advancing = undefined;
    if (message.kind === 'outcome') return advancing?.resolve(message.outcome);
    const error = fromPlainError(message.error);
    if (advancing) advancing.reject(error);
    else this.#lost ??= error;
  }
  lose(error: Error): void {
    this.#lost ??= error;
    this.#advancing?.reject(error);
    this.#advancing = undefined;
  }

  #ask<T>(message: (request: number) => ToThread): Promise<T> {
    if (this.#lost) return Promise.reject(this.#lost);
    return this.#thread.request(this.id, message) as Promise<T>;
  }
}
