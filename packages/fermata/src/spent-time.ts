/** What a task has spent of its wall time and processor time, here and before it came here. */
import type { Budget, HostedMachine } from '@fermata/protocol';

export class SpentTime {
  readonly #machine: HostedMachine;
  readonly #cpuBeforeMs: number;
  #wallBeforeMs: number;
  /** When the program was last set going; undefined while it is stopped. */
  #goingSince: number | undefined;

  constructor(machine: HostedMachine, before: { wallMs: number; cpuMs: number }) {
    this.#machine = machine;
    this.#cpuBeforeMs = before.cpuMs;
    this.#wallBeforeMs = before.wallMs;
  }

  get goes(): boolean {
    return this.#goingSince !== undefined;
  }
  start(): void {
    this.#goingSince = performance.now();
  }
  stop(): void {
    this.#wallBeforeMs = this.wallMs;
    this.#goingSince = undefined;
  }

  get wallMs(): number {
    return this.#wallBeforeMs + (this.#goingSince === undefined ? 0 : performance.now() - this.#goingSince);
  }
  get cpuMs(): number {
    return this.#cpuBeforeMs + this.#machine.report.cpuMs;
  }
  /** What is left of both. */
  get budget(): Budget {
    const { timeoutMs, maxCpuMs } = this.#machine.limits;
    return { wallMs: timeoutMs - this.wallMs, cpuMs: maxCpuMs - this.cpuMs };
  }
}
