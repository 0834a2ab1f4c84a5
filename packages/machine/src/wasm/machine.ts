/**
 * A machine: one guest, stopped or being advanced. Nothing of the host is reachable from it, and all of it fits in a
 * snapshot: memory pages, stack pointer, files, descriptors, pending calls, clock and random state.
 *
 * It is only ever stopped at a fuel check or while it waits for an answer, so there is no other state to save. What a
 * program does is a function of its inputs: stops, snapshots and moves leave output, result, fuel and {@link Machine.hash}
 * as they would have been.
 */
import { createHash } from 'node:crypto';
import {
  type Call,
  type Checkpoint,
  DEFAULT_LIMITS,
  type Emission,
  FermataError,
  type Input,
  type Inspection,
  type LimitKind,
  type Limits,
  type MachineUsage,
  type OpenOptions,
  type Outcome,
  type SealOptions,
  type StackFrame,
  type Value,
  type Wait,
} from '@fermata/protocol';
import { CheckpointMaker } from './checkpoint-maker.ts';
import { closeContainer, openContainer, pack, unpack } from './container.ts';
import { coalesced } from './emissions.ts';
import { ERRNO, Errno } from './errno.ts';
import { FileSystem } from './file-system.ts';
import { loadFiles, saveFiles } from './fs-state.ts';
import { Ground } from './ground.ts';
import { failureOf } from './guest-failure.ts';
import { type GuestHooks, GuestInstance, type StopPlace } from './guest-instance.ts';
import { RefusedMessage, readCall, readNote, readSaid, readStack, reply, type Said } from './guest-messages.ts';
import type { Image } from './image.ts';
import type { MachineState } from './machine-state.ts';
import { OpenCalls } from './open-calls.ts';
import { OutputMeter } from './output-meter.ts';
import { aliveParts } from './pages.ts';
import { RandomSource } from './random.ts';
import { encodeState, readable, readBody, writeBody } from './snapshot-body.ts';
import { decodeCounted, decodeValue, encodeValue, MAX_CARRIER_DEPTH, TooManyParts } from './value-codec.ts';
import { VirtualClock } from './virtual-clock.ts';
import { Wasi } from './wasi.ts';

/** Exit code of a program that was aborted, by itself or by its interpreter (`abort` in cpython/guest.c). */
const ABORTED = 134;
/** Parts of a call's arguments or of a note: the host handles each of them several times. */
const MAX_EMITTED_PARTS = 1_000_000;
/** What a part costs the host besides its bytes: memory, and processor time outside of the machine's thread. */
const PART_BYTES = 4;
const PART_MS = 0.0001;
const INSPECT_FUEL = 20_000_000;
const EMIT = { stdout: 1, stderr: 2, call: 3, note: 4 } as const;

/** Thrown through the guest to end it at a limit or at its own exit; the instance is gone after. */
class Ended {
  readonly outcome: Outcome;
  constructor(outcome: Outcome) {
    this.outcome = outcome;
  }
}

export class Machine {
  readonly image: Image;
  /** What the maker of the snapshot attached to it; empty for a fresh machine. */
  attachment: Uint8Array = new Uint8Array();
  readonly #guest: GuestInstance;
  readonly #wasi: Wasi;
  #output: OutputMeter;
  readonly #fs: FileSystem;
  #clock: VirtualClock;
  #random: RandomSource;
  #limits: Limits;
  #granted = 0;
  #peakPages: number;
  #stoppedIn: StopPlace = 'exchange';
  #said: Said = { say: 'ready' };
  #reply: Uint8Array = new Uint8Array();
  #nextCall = 1;
  #calls = new OpenCalls();
  /** Processor time that what it has sent costs the host outside of its thread. */
  #hostMs = 0;
  #emitted: Emission[] = [];
  #state: 'stopped' | 'running' | 'looking' | 'gone' = 'stopped';
  readonly #checkpoints: CheckpointMaker;

  private constructor(image: Image, limits: Partial<Limits>, instance?: GuestInstance) {
    this.image = image;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#fs = new FileSystem(image.files, this.#limits.maxDiskBytes);
    this.#clock = new VirtualClock(image.manifest.nsPerFuel);
    this.#random = new RandomSource(new Uint8Array(32));
    this.#output = new OutputMeter(this.#limits.maxOutputBytes);
    this.#wasi = new Wasi({
      args: image.manifest.args,
      env: image.manifest.env,
      fs: this.#fs,
      clock: () => this.#clock,
      random: () => this.#random,
      fuel: () => this.fuel,
      memory: () => this.#guest.memory,
      write: (stream, bytes) => this.#print(stream, bytes),
      exit: (code) => this.#exit(code),
    });
    const wasi = this.#wasi.imports();
    const hooks: GuestHooks = {
      onCheckpoint: () => this.#onCheckpoint(),
      onExchange: (message) => this.#onExchange(message),
      reply: () => this.#reply,
      onEmit: (kind, data) => this.#onEmit(kind, data),
      mayGrow: (pages) => this.#mayGrow(pages),
    };
    instance?.connect(wasi, hooks);
    this.#guest = instance ?? new GuestInstance(image.module, wasi, hooks);
    this.#peakPages = this.#guest.pages;
    this.#checkpoints = new CheckpointMaker({ image, memoryBytes: () => this.#guest.memory.length, body: (base) => this.#body(base) });
  }

  /** A machine that has booted and holds nothing of any task. It may be given the instance of a {@link retire}d one. */
  static fresh(image: Image, limits: Partial<Limits> = {}, instance?: GuestInstance): Machine {
    const machine = new Machine(image, limits, instance);
    if (instance) image.wipe(instance);
    else image.copyBaseInto(machine.#guest);
    machine.#take(image.baseState);
    return machine;
  }

  /**
   * The machine that a snapshot holds; throws `checkpoint_invalid` or `environment_mismatch`. It takes over the machine
   * that `on` gives, which must be {@link fresh} and of the same image; it is asked only if the bytes can be opened.
   */
  static restore(image: Image, bytes: Uint8Array, options: OpenOptions = {}, on: () => Machine = () => Machine.fresh(image)): Machine {
    const content = openContainer(bytes, image.digest, options);
    const ground = content.ground ? Ground.open(content.ground, image.digest, options) : undefined;
    const { attachment, state, applyTo } = readBody(unpack(content));
    const machine = on();
    if (machine.image !== image || machine.#said.say !== 'ready') throw new FermataError('invalid_state', 'only onto a fresh machine of the image can a snapshot be restored');
    machine.#use(state.limits);
    if (state.pages < machine.#guest.pages || state.stackPointer % 16 !== 0 || !machine.#mayGrow(state.pages)) {
      throw new FermataError('checkpoint_invalid', 'the snapshot does not fit its own limits');
    }
    machine.#guest.growTo(state.pages);
    ground?.applyTo(machine.#guest.memory);
    applyTo(machine.#guest.memory);
    machine.#checkpoints.cameFrom(content, ground);
    if (!machine.#guest.unwindIsSound) throw new FermataError('checkpoint_invalid', 'the snapshot does not hold together');
    machine.attachment = attachment;
    machine.#take(state);
    readable(() => machine.#guest.locate());
    return machine;
  }

  /** Boots a guest from nothing, for the base image: memory and state at the point where it waits for a program. */
  static boot(image: Image): { memory: Uint8Array; state: MachineState } {
    const machine = new Machine(image, {});
    machine.#clock = new VirtualClock(0);
    machine.#guest.fuelWord = 0x7fff_ffff;
    machine.#granted = 0x7fff_ffff;
    machine.#state = 'running';
    if (!machine.#guest.enter() || machine.#said.say !== 'ready') throw new FermataError('internal', 'the guest did not boot');
    machine.#state = 'stopped';
    machine.#granted = machine.#guest.fuelWord;
    const memory = machine.#guest.memory.slice();
    for (const region of [{ start: 0, end: machine.#guest.stackPointer }, ...machine.#guest.hostRegions()]) memory.fill(0, region.start, region.end);
    return { memory, state: machine.#saved() };
  }

  /** Fuel used since the base image; it depends on the program and its inputs alone. */
  get fuel(): number {
    return this.#granted - this.#guest.fuelWord;
  }
  /** Line and column (from 1) of the user's code at the last stop, null where there is none. */
  get position(): { line: number; column: number } | null {
    return this.#guest.line > 0 ? { line: this.#guest.line, column: this.#guest.column } : null;
  }
  get pending(): Call[] {
    return this.#calls.list;
  }
  /** What the next input must be. */
  get waits(): Wait {
    if (this.#stoppedIn === 'checkpoint') return { for: 'go' };
    return this.#said.say === 'wait' ? { for: 'answer', dueMs: this.#said.due } : { for: 'start' };
  }
  get limits(): Limits {
    return this.#limits;
  }
  get usage(): MachineUsage {
    return {
      fuel: this.fuel,
      memoryBytes: (this.#guest.pages - this.image.basePages) * 65536,
      peakMemoryBytes: (this.#peakPages - this.image.basePages) * 65536,
      diskBytes: this.#fs.usedBytes,
      outputBytes: this.#output.bytes,
      calls: this.#nextCall - 1,
    };
  }

  /** Sets the limits of a machine that has not started. */
  setLimits(limits: Partial<Limits>): void {
    this.#use({ ...DEFAULT_LIMITS, ...limits });
  }

  /**
   * Goes on with `input` for at most `fuel` units (a little more where a stop is not possible), and says how it ended.
   * Throws `invalid_state` if the input does not fit, `sandbox_lost` if the machine broke down; it is gone then.
   */
  advance(input: Input, fuel: number): Outcome {
    this.#accept(input);
    this.#emitted = [];
    this.#granted += fuel - this.#guest.fuelWord;
    this.#guest.fuelWord = fuel;
    this.#state = 'running';
    try {
      if (!this.#guest.resume()) throw new FermataError('sandbox_lost', 'the guest ended by itself');
    } catch (error) {
      this.#state = 'gone';
      if (error instanceof Ended) return error.outcome;
      if (error instanceof RefusedMessage) return { emitted: this.#emitted, kind: 'failed', error: error.asGuestError() };
      if (error instanceof FermataError) throw error;
      throw new FermataError('sandbox_lost', `the machine broke down: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
    this.#state = 'stopped';
    this.#emitted = coalesced(this.#emitted);
    return this.#outcome();
  }

  /** Of what it has sent since this was asked last, about. */
  takeHostMs(): number {
    const ms = this.#hostMs;
    this.#hostMs = 0;
    return ms;
  }

  /** Gives up a machine that was broken off in the middle of an advance, or right after; what that had emitted. */
  abandon(): Emission[] {
    this.#state = 'gone';
    return this.#emitted;
  }

  /** Gives up the machine; its instance, if another machine of the image can have it. */
  retire(): GuestInstance | undefined {
    const sound = this.#state === 'stopped' && this.#guest.pages === this.image.basePages;
    this.#state = 'gone';
    return sound ? this.#guest : undefined;
  }

  /**
   * The whole machine as bytes, sealed if a key is given. Only of a stopped machine; it can go on after. `attachment` is
   * the owner's own and comes back from {@link restore}.
   */
  snapshot(seal?: SealOptions, attachment: Uint8Array = new Uint8Array()): Uint8Array {
    this.#mustBeStopped();
    return closeContainer(pack(this.#body(this.image.base, attachment)), this.image.digest, seal);
  }

  /**
   * The same for a store that keeps the ones before: an increment on the full one whose content is named `ground`, if that is
   * the machine's last and it pays.
   */
  checkpoint(seal: SealOptions | undefined, ground: string | null): Checkpoint {
    this.#mustBeStopped();
    return this.#checkpoints.take(seal, ground);
  }

  /** With its memory as the difference from `base`. */
  #body(base: Uint8Array, attachment: Uint8Array = new Uint8Array()): Uint8Array {
    return writeBody(attachment, this.#saved(), { memory: this.#guest.memory, base, dead: this.#guest.hostRegions() });
  }

  /** SHA-256 over everything that decides how the machine goes on. */
  hash(): string {
    this.#mustBeStopped();
    const hash = createHash('sha256').update(encodeState(this.#saved()));
    for (const part of aliveParts(this.#guest.memory, this.#guest.hostRegions())) hash.update(part);
    return hash.digest('hex');
  }

  /**
   * Stack, locals, pending calls and files, seen on a copy made from this machine's snapshot. `bounded` runs the look of the
   * copy at itself, and may break it off with an exception.
   */
  inspect(bounded: (look: () => void) => void = (look) => look()): Inspection {
    const copy = Machine.restore(this.image, this.snapshot(), { trust: true });
    copy.#state = 'looking';
    copy.#guest.fuelWord = INSPECT_FUEL;
    const rest = { pending: this.pending, files: [...this.#fs.files()].map(({ path, file }) => ({ path, bytes: file.size })) };
    let stack: StackFrame[] = [];
    try {
      bounded(() => {
        stack = readStack(decodeValue(copy.#guest.inspect()));
      });
      return { stack, ...rest };
    } catch (error) {
      const reason = error instanceof Ended ? 'the program ended itself, or met a limit, while it was looked at' : (error as Error).message;
      return { stack: [], ...rest, incomplete: reason };
    }
  }

  /** Contents of a file in `/work` or `/tmp`, or undefined. */
  readFile(path: string): Uint8Array | undefined {
    for (const entry of this.#fs.files()) if (entry.path === path) return entry.file.data.slice(0, entry.file.size);
    return undefined;
  }

  /** The files in `/work`, in the order in which they were made. */
  workFiles(): { path: string; data: Uint8Array }[] {
    const inWork = [...this.#fs.files()].filter(({ path }) => path.startsWith('/work/'));
    return inWork.map(({ path, file }) => ({ path, data: file.data.slice(0, file.size) }));
  }

  #accept(input: Input): void {
    this.#mustBeStopped();
    const { waits } = this;
    const fits = waits.for === 'answer' ? (input.kind === 'answer' && this.#calls.has(input.callId)) || (input.kind === 'timer' && waits.dueMs !== null) : input.kind === waits.for;
    if (!fits) throw new FermataError('invalid_state', `the machine waits for ${waits.for} and cannot be given this ${input.kind}`);
    if (input.kind === 'go') return;
    this.#reply = encodeValue(reply(input), input.kind === 'start' ? 'start' : 'answer', MAX_CARRIER_DEPTH);
    if (input.kind === 'start') {
      if (input.limits) this.#renew(input.limits);
      this.#random = new RandomSource(input.seed);
      this.#clock.start(input.nowMs, this.fuel);
      this.#wasi.stdin.data = Buffer.from(input.program.stdin ?? '');
      this.#wasi.stdin.size = this.#wasi.stdin.data.length;
      for (const { path, data } of input.program.files ?? []) this.#put(path, data);
    } else {
      const due = input.kind === 'timer' && this.#said.say === 'wait' ? (this.#said.due ?? 0) : 0;
      this.#clock.anchor(Math.max(input.nowMs, Math.ceil(due)), this.fuel);
      if (input.kind === 'answer') this.#calls.remove(input.callId);
    }
  }

  #put(path: string, data: Uint8Array): void {
    try {
      this.#fs.put(path, data, this.#wasi.nowMs);
    } catch (cause) {
      if (!(cause instanceof Errno)) throw cause;
      if (cause.errno === ERRNO.nospc) throw new FermataError('disk_limit', `the files given to the program need more than ${this.#fs.maxBytes} bytes`, { cause });
      throw new FermataError('invalid_request', `a file cannot be put at ${path}: only files below /work and /tmp can`, { cause });
    }
  }

  #outcome(): Outcome {
    const emitted = this.#emitted;
    if (this.#stoppedIn === 'checkpoint') return { emitted, kind: 'slice-used' };
    const said = this.#said;
    switch (said.say) {
      case 'wait':
        return { emitted, kind: 'calls', pending: this.#calls.ids, dueMs: said.due };
      case 'done':
        return { emitted, kind: 'done', value: said.value };
      case 'failed':
        return { emitted, ...failureOf(said.error, this.#limits, { memory: this.#guest.memoryRefused, disk: this.#fs.refused }) };
      case 'ready':
        this.#state = 'gone';
        return { emitted, kind: 'failed', error: new RefusedMessage('it says that there is no program').asGuestError() };
    }
  }

  #onCheckpoint(): boolean {
    if (this.#state === 'looking') throw new FermataError('timeout', 'looking into the program took too long: some value takes for ever to show itself');
    if (this.#guest.noSuspend) {
      // Just what was overspent, so that the first check at which a stop is possible again finds nothing left.
      this.#granted -= this.#guest.fuelWord;
      this.#guest.fuelWord = 0;
      return false;
    }
    this.#stoppedIn = 'checkpoint';
    return true;
  }

  #onExchange(message: Uint8Array): void {
    this.#said = readSaid(this.#decoded(message).value);
    this.#stoppedIn = 'exchange';
  }

  #onEmit(kind: number, data: Uint8Array): void {
    if (kind === EMIT.stdout || kind === EMIT.stderr) return this.#print(kind === EMIT.stdout ? 'stdout' : 'stderr', data);
    if (this.#state === 'looking') return;
    if (kind === EMIT.note) {
      const { value, bytes } = this.#decoded(data, MAX_EMITTED_PARTS);
      const note = readNote(value);
      // They are kept like output. Of progress only the newest is.
      const kept = note.note === 'progress' || note.note === 'checkpoint' ? 0 : bytes;
      if (this.#output.note(kept)) this.#end('output', `the program printed and noted more than ${this.#limits.maxOutputBytes} bytes`);
      this.#emitted.push({ kind: 'note', note });
      return;
    }
    if (kind !== EMIT.call) throw new RefusedMessage(`it is of the kind ${kind}, which does not exist`);
    const { value, bytes } = this.#decoded(data, MAX_EMITTED_PARTS);
    const call = readCall(value);
    if (call.id !== this.#nextCall) throw new RefusedMessage(`it starts call ${call.id} in the place of ${this.#nextCall}`);
    if (call.id > this.#limits.maxToolCalls) this.#end('tool_calls', `the program started more than ${this.#limits.maxToolCalls} tool calls`);
    this.#nextCall++;
    this.#calls.add(call, bytes);
    // The host holds the arguments until the call is answered.
    if (this.#calls.bytes > this.#limits.maxMemoryBytes) {
      this.#end('memory', `the arguments of the program's open calls need more than ${this.#limits.maxMemoryBytes} bytes`);
    }
    this.#emitted.push({ kind: 'call', call });
  }

  /** What the guest has sent, and what it takes of the host's memory. */
  #decoded(sent: Uint8Array, mostParts?: number): { value: Value; bytes: number } {
    try {
      const { value, parts } = decodeCounted(sent, mostParts);
      this.#hostMs += parts * PART_MS;
      return { value, bytes: sent.length + parts * PART_BYTES };
    } catch (error) {
      if (!(error instanceof TooManyParts)) throw error;
      throw new Ended({ emitted: this.#emitted, kind: 'failed', error: { name: 'ValueError', message: error.message, traceback: '', line: null, column: null } });
    }
  }

  #print(stream: 'stdout' | 'stderr', bytes: Uint8Array): void {
    if (this.#state !== 'running') return;
    const { chunk, full } = this.#output.take(stream, bytes);
    if (chunk.bytes.length > 0) this.#emitted.push({ kind: 'output', chunk });
    if (full) this.#end('output', `the program printed more than ${this.#limits.maxOutputBytes} bytes`);
  }

  /** Limits for the program that starts now: what those before it have printed and called does not count. */
  #renew(limits: Limits): void {
    const { calls, outputBytes } = this.usage;
    this.#use({ ...limits, maxOutputBytes: limits.maxOutputBytes + outputBytes + this.#output.noteBytes, maxToolCalls: limits.maxToolCalls + calls });
  }

  #use(limits: Limits): void {
    this.#limits = limits;
    this.#fs.maxBytes = limits.maxDiskBytes;
    this.#output.maxBytes = limits.maxOutputBytes;
  }

  #mayGrow(pages: number): boolean {
    if (pages > 65536 || (pages - this.image.basePages) * 65536 > this.#limits.maxMemoryBytes) return false;
    this.#peakPages = Math.max(this.#peakPages, pages);
    return true;
  }

  #end(limit: LimitKind, message: string): never {
    throw new Ended({ emitted: this.#emitted, kind: 'limit', limit, message });
  }

  #exit(code: number): never {
    const message =
      code === ABORTED
        ? 'the program aborted its process: by os.abort(), or by a fatal error of its interpreter, which stderr tells'
        : `the program ended its process with code ${code}`;
    const error = { name: 'SystemExit', message, traceback: '', line: null, column: null };
    throw new Ended({ emitted: this.#emitted, kind: 'failed', error });
  }

  #mustBeStopped(): void {
    if (this.#state !== 'stopped') throw new FermataError('invalid_state', `the machine is ${this.#state}`);
  }

  #saved(): MachineState {
    return {
      stackPointer: this.#guest.stackPointer,
      pages: this.#guest.pages,
      peakPages: this.#peakPages,
      fuel: this.fuel,
      stoppedIn: this.#stoppedIn,
      said: this.#said.say,
      dueMs: this.#said.say === 'wait' ? this.#said.due : null,
      nextCall: this.#nextCall,
      calls: this.pending,
      outputBytes: this.#output.bytes,
      ...(this.#output.noteBytes > 0 ? { noteBytes: this.#output.noteBytes } : {}),
      clock: this.#clock.state,
      random: this.#random.state,
      fs: saveFiles(this.#fs, this.#wasi),
      limits: this.#limits,
    };
  }

  /** Takes over everything of a saved state but the memory's contents, which are already there. */
  #take(state: MachineState): void {
    this.#guest.stackPointer = state.stackPointer;
    this.#guest.fuelWord = 0;
    this.#granted = state.fuel;
    this.#clock = new VirtualClock(this.image.manifest.nsPerFuel, state.clock);
    this.#random = new RandomSource(state.random.seed, state.random.blocks);
    this.#output = new OutputMeter(this.#limits.maxOutputBytes, state.outputBytes, state.noteBytes);
    this.#peakPages = state.peakPages;
    this.#stoppedIn = state.stoppedIn;
    this.#said = state.said === 'wait' ? { say: 'wait', due: state.dueMs } : state.said === 'ready' ? { say: 'ready' } : { say: 'done', value: undefined };
    this.#nextCall = state.nextCall;
    this.#calls = new OpenCalls();
    for (const call of state.calls) this.#calls.add(call, this.#decoded(encodeValue(call, 'call', MAX_CARRIER_DEPTH)).bytes);
    loadFiles(state.fs, this.#fs, this.#wasi);
  }
}
