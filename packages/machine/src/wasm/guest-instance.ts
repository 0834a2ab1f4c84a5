/**
 * One Wasm instance of a guest and the Asyncify protocol: enter, unwind at a stop, rewind to it.
 *
 * A stop can happen in two imports, `checkpoint` and `exchange`. Whoever owns the instance decides there whether to
 * stop; this file knows how. After a trap or a thrown stop the instance is useless, and its owner discards it.
 */
import { FermataError } from '@fermata/protocol';
import type { Region } from './pages.ts';
import type { WasmImports, WasmModule } from './wasm-types.ts';

export type StopPlace = 'checkpoint' | 'exchange';
const ABI_VERSION = 1;

export interface GuestHooks {
  /** Out of fuel. True: stop here. */
  onCheckpoint(): boolean;
  /** The guest says something and waits; it always stops here. */
  onExchange(message: Uint8Array): void;
  /** The reply to the last exchange, which the guest now takes. */
  reply(): Uint8Array;
  onEmit(kind: number, data: Uint8Array): void;
  /** Whether the memory may grow to so many pages of 64 KiB. */
  mayGrow(pages: number): boolean;
}

interface GuestExports {
  memory: WebAssembly.Memory;
  _start(): void;
  fermata_locate(): void;
  fermata_inspect(): number;
  asyncify_start_unwind(data: number): void;
  asyncify_stop_unwind(): void;
  asyncify_start_rewind(data: number): void;
  asyncify_stop_rewind(): void;
  __stack_pointer: WebAssembly.Global;
  fermata_status: WebAssembly.Global;
  fermata_unwind: WebAssembly.Global;
  fermata_locate_stack: WebAssembly.Global;
  fermata_layout: WebAssembly.Global;
}

export class GuestInstance {
  readonly #exports: GuestExports;
  #hooks: GuestHooks;
  #wasi: WasmImports;
  readonly #status: number;
  readonly #unwind: number;
  readonly #unwindBytes: number;
  readonly #locateStack: Region;
  readonly #maskedBytes: number;
  #phase: 'running' | 'unwinding' | 'rewinding' | 'stopped' = 'stopped';
  #memory = new Uint8Array();
  #view = new DataView(new ArrayBuffer(0));

  constructor(module: WasmModule, wasi: WasmImports, hooks: GuestHooks) {
    this.#wasi = wasi;
    this.#hooks = hooks;
    const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: this.#wasiImports(), fermata: this.#imports() });
    this.#exports = instance.exports as unknown as GuestExports;
    this.#status = this.#exports.fermata_status.value;
    this.#unwind = this.#exports.fermata_unwind.value;
    const layout = this.#exports.fermata_layout.value;
    const version = this.view.getUint32(layout, true);
    if (version !== ABI_VERSION) throw new FermataError('environment_mismatch', `the image speaks version ${version} of the guest boundary, not ${ABI_VERSION}`);
    this.#unwindBytes = this.view.getUint32(layout + 4, true);
    const locateBytes = this.view.getUint32(layout + 8, true);
    this.#locateStack = { start: this.#exports.fermata_locate_stack.value, end: this.#exports.fermata_locate_stack.value + locateBytes };
    this.#maskedBytes = this.view.getUint32(layout + 12, true);
  }

  /** Gives the instance to another owner, who answers its imports from now on. */
  connect(wasi: WasmImports, hooks: GuestHooks): void {
    this.#wasi = wasi;
    this.#hooks = hooks;
  }

  get memory(): Uint8Array {
    const { buffer } = this.#exports.memory;
    if (this.#memory.buffer !== buffer) this.#memory = new Uint8Array(buffer);
    return this.#memory;
  }
  get view(): DataView {
    const { buffer } = this.#exports.memory;
    if (this.#view.buffer !== buffer) this.#view = new DataView(buffer);
    return this.#view;
  }
  get pages(): number {
    return this.#exports.memory.buffer.byteLength / 65536;
  }

  /** Fuel left in the guest's word; below zero when it ran out. */
  get fuelWord(): number {
    return this.view.getInt32(this.#status, true);
  }
  set fuelWord(fuel: number) {
    this.view.setInt32(this.#status, fuel, true);
  }
  get line(): number {
    return this.view.getUint32(this.#status + 4, true);
  }
  get column(): number {
    return this.view.getUint32(this.#status + 8, true);
  }
  get noSuspend(): boolean {
    return this.view.getUint32(this.#status + 16, true) > 0;
  }
  get memoryRefused(): number {
    return this.view.getUint32(this.#status + 20, true);
  }
  get stackPointer(): number {
    return this.#exports.__stack_pointer.value;
  }
  set stackPointer(value: number) {
    this.#exports.__stack_pointer.value = value;
  }

  /** Grows the memory; throws `sandbox_lost` where the host has no room. */
  growTo(pages: number): void {
    if (pages <= this.pages) return;
    try {
      this.#exports.memory.grow(pages - this.pages);
    } catch (cause) {
      throw new FermataError('sandbox_lost', `the host has no memory for a machine of ${pages * 64} KiB`, { cause });
    }
  }

  /** Runs from the beginning until a stop. Returns whether it stopped (false: the guest returned). */
  enter(): boolean {
    this.#phase = 'running';
    return this.#run();
  }

  /** Goes on from the last stop, or from that of the snapshot whose memory this instance now has. */
  resume(): boolean {
    this.view.setUint32(this.#unwind + 4, this.#unwind + 8 + this.#unwindBytes, true);
    this.#phase = 'rewinding';
    this.#exports.asyncify_start_rewind(this.#unwind);
    return this.#run();
  }

  /** Whether the memory's Asyncify stack is plausible; asked before a snapshot of unknown origin is resumed. */
  get unwindIsSound(): boolean {
    const current = this.view.getUint32(this.#unwind, true);
    return current > this.#unwind + 8 && current <= this.#unwind + 8 + this.#unwindBytes && current % 4 === 0;
  }

  /** Runs the guest's own look at itself; only for a copy that is thrown away after. Returns the encoded value. */
  inspect(): Uint8Array {
    this.#phase = 'running';
    const at = this.#exports.fermata_inspect();
    return this.memory.slice(at + 4, at + 4 + this.view.getUint32(at, true));
  }

  /**
   * The host's own words, and what the next unwind writes before it is read: no part of the guest's state. Sorted.
   * What lies below the stack pointer is none of these: a later frame may leave bytes of it as they are (padding, slots
   * not yet set), and then they are part of the live stack.
   */
  hostRegions(): Region[] {
    const used = this.view.getUint32(this.#unwind, true);
    const regions = [{ start: this.#status, end: this.#status + this.#maskedBytes }, { start: used, end: this.#unwind + 8 + this.#unwindBytes }, this.#locateStack];
    return regions.sort((a, b) => a.start - b.start);
  }

  #run(): boolean {
    this.#exports._start();
    if (this.#phase !== 'unwinding') return false;
    this.#exports.asyncify_stop_unwind();
    this.#phase = 'stopped';
    return true;
  }

  /** Has the guest write the place of the user's code that it is in. It touches nothing that is not the host's. */
  locate(): void {
    const { stackPointer } = this;
    this.stackPointer = this.#locateStack.end;
    this.#exports.fermata_locate();
    this.stackPointer = stackPointer;
  }

  #stop(): void {
    this.locate();
    this.view.setUint32(this.#unwind, this.#unwind + 8, true);
    this.view.setUint32(this.#unwind + 4, this.#unwind + 8 + this.#unwindBytes, true);
    this.#phase = 'unwinding';
    this.#exports.asyncify_start_unwind(this.#unwind);
  }

  /** True when an import was re-entered by a rewind, which ends with it. */
  #arrived(): boolean {
    if (this.#phase !== 'rewinding') return false;
    this.#exports.asyncify_stop_rewind();
    this.#phase = 'running';
    return true;
  }

  #wasiImports(): WasmImports {
    type Import = (...args: never[]) => number | void;
    const forward =
      (name: string): Import =>
      (...args) =>
        (this.#wasi[name] as Import)(...args);
    return Object.fromEntries(Object.keys(this.#wasi).map((name) => [name, forward(name)]));
  }

  #imports(): WasmImports {
    return {
      checkpoint: () => {
        if (!this.#arrived() && this.#hooks.onCheckpoint()) this.#stop();
      },
      exchange: (pointer: number, length: number): number => {
        if (this.#arrived()) return this.#hooks.reply().length;
        this.#hooks.onExchange(this.memory.slice(pointer, pointer + length));
        this.#stop();
        return 0;
      },
      take: (pointer: number) => this.memory.set(this.#hooks.reply(), pointer),
      emit: (kind: number, pointer: number, length: number) => this.#hooks.onEmit(kind, this.memory.subarray(pointer, pointer + length)),
      grow: (pages: number): number => {
        const before = this.pages;
        const after = before + (pages >>> 0);
        if (!this.#hooks.mayGrow(after)) return -1;
        this.growTo(after);
        return before;
      },
    };
  }
}
