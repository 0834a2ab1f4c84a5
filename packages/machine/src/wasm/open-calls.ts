/** The calls that a program has started and that have no answer yet, with what their arguments take of the host's memory. */
import type { Call } from '@fermata/protocol';

export class OpenCalls {
  readonly #calls = new Map<number, { call: Call; bytes: number }>();
  #bytes = 0;

  /** Of all of them together. */
  get bytes(): number {
    return this.#bytes;
  }
  get ids(): number[] {
    return [...this.#calls.keys()];
  }
  /** In the order of their start. */
  get list(): Call[] {
    return [...this.#calls.values()].map(({ call }) => call);
  }
  has(id: number): boolean {
    return this.#calls.has(id);
  }
  add(call: Call, bytes: number): void {
    this.#calls.set(call.id, { call, bytes });
    this.#bytes += bytes;
  }
  remove(id: number): void {
    this.#bytes -= this.#calls.get(id)?.bytes ?? 0;
    this.#calls.delete(id);
  }
}
