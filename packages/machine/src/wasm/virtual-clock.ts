/**
 * The machine's clock: the last anchor plus fuel used since, at a constant rate. It depends on the journaled inputs and
 * on the program alone, never on when or how often the machine was stopped, and it never goes back.
 */

/** Where the clock stands before any program starts: 2025-01-01 UTC. */
export const BOOT_MS = 1_735_689_600_000;

export interface ClockState {
  startMs: number;
  anchorMs: number;
  anchorFuel: number;
}

export class VirtualClock {
  #state: ClockState;
  readonly #nsPerFuel: number;

  constructor(nsPerFuel: number, state: ClockState = { startMs: BOOT_MS, anchorMs: BOOT_MS, anchorFuel: 0 }) {
    this.#nsPerFuel = nsPerFuel;
    this.#state = { ...state };
  }

  get state(): ClockState {
    return { ...this.#state };
  }

  start(nowMs: number, fuel: number): void {
    this.#state = { startMs: Math.floor(nowMs), anchorMs: Math.floor(nowMs), anchorFuel: fuel };
  }

  /** A new anchor; one that lies before the clock's own time is taken as that time. */
  anchor(nowMs: number, fuel: number): void {
    this.#state.anchorMs = Math.max(Math.floor(nowMs), Number((this.realtimeNs(fuel) + 999_999n) / 1_000_000n));
    this.#state.anchorFuel = fuel;
  }

  realtimeNs(fuel: number): bigint {
    return BigInt(this.#state.anchorMs) * 1_000_000n + BigInt(Math.floor((fuel - this.#state.anchorFuel) * this.#nsPerFuel));
  }

  /** Starts at one second, so that no program meets a zero. */
  monotonicNs(fuel: number): bigint {
    return this.realtimeNs(fuel) - BigInt(this.#state.startMs) * 1_000_000n + 1_000_000_000n;
  }

  cpuNs(fuel: number): bigint {
    return BigInt(Math.floor(fuel * this.#nsPerFuel));
  }
}
