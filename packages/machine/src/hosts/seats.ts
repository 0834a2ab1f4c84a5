/**
 * Which machine lives on which thread, and which must wait for a place.
 *
 * A thread serves one tenant as long as it has machines. The memory that resident machines may come to (their limits, not
 * what they use now) is bounded for each thread and for all together; a machine that does not fit waits in line, and is
 * told why. Nor are many programs begun at the same time on one thread: done one after the other they are done sooner, in instances
 * that serve again, where each of many at once needs one of its own. Threads that had nothing to do for a while are ended, because
 * V8 gives memory back late.
 */
import { FermataError } from '@fermata/protocol';
import type { OpenPort } from './port.ts';
import { RemoteThread } from './remote-thread.ts';

/** What a machine takes besides its limit: the memory of its image, in bytes. */
export const IMAGE_BYTES = 32 * 1024 * 1024;

/** Machines of one thread that may be at work, apart from those that have been at it for longer than {@link LONG_MS}. */
const MAX_BUSY = 3;
/** Who takes so long must not keep others from beginning. */
const LONG_MS = 100;

export interface SeatsOptions {
  open: OpenPort;
  maxThreads: number;
  /** Of machines on one thread, and on all of them. */
  maxThreadBytes: number;
  maxBytes: number;
  /** A thread without machines is ended after so long. */
  idleMs: number;
}

export interface SeatRequest {
  tenant: string;
  /** The machine's limit of memory. */
  bytes: number;
  /** Told why the machine has to wait; once for each reason. */
  onQueued: ((reason: string) => void) | undefined;
}

/** A place on a thread, until it is released. */
export interface Seat {
  readonly thread: RemoteThread;
  /** Whether the machine is at work; from the start it is. */
  setBusy(busy: boolean): void;
  release(): void;
}

interface Bench {
  thread: RemoteThread;
  tenant: string;
  machines: number;
  bytes: number;
  /** Machines that are at work and not for long. */
  busy: number;
  idle: NodeJS.Timeout | undefined;
  /** Kept although it has nothing to do. */
  kept: boolean;
  /** Takes no more machines, because another tenant waits. */
  closing: boolean;
}

interface InLine {
  request: SeatRequest;
  reason: string;
  resolve: (seat: Seat) => void;
  reject: (error: Error) => void;
}

export class Seats {
  readonly #options: SeatsOptions;
  /** Told when somebody has to wait: whoever holds a seat without need gives it back soon. */
  readonly #onPressure: () => void;
  #benches: Bench[] = [];
  #line: InLine[] = [];
  #closed = false;

  constructor(options: SeatsOptions, onPressure: () => void) {
    this.#options = options;
    this.#onPressure = onPressure;
  }

  get threads(): number {
    return this.#benches.length;
  }
  /** Whether somebody waits in line. */
  get pressed(): boolean {
    return this.#line.length > 0;
  }
  get machines(): number {
    return this.#benches.reduce((sum, { machines }) => sum + machines, 0);
  }

  /** A seat now or later. Rejects with `resources_exhausted` if the machine can never have one. */
  take(request: SeatRequest): Promise<Seat> {
    if (this.#closed) return Promise.reject(closed());
    const bytes = request.bytes + IMAGE_BYTES;
    const most = Math.min(this.#options.maxBytes, this.#options.maxThreadBytes);
    if (bytes > most) {
      return Promise.reject(
        new FermataError(
          'resources_exhausted',
          `a machine with a memory limit of ${mib(request.bytes)} can never run here: all machines of a host process together may have ${mib(most)}`,
          {
            hint: 'Ask for a lower limit of memory, or give the host more.',
          },
        ),
      );
    }
    return new Promise((resolve, reject) => {
      this.#line.push({ request, reason: '', resolve, reject });
      this.#serve();
      if (this.#line.length > 0) this.#onPressure();
    });
  }

  /** As many threads as there may be, which then stay; each is handed to `prepare`. One that another tenant needs meanwhile is given up. */
  async fill(tenant: string, prepare: (thread: RemoteThread) => Promise<void>): Promise<void> {
    if (this.#closed) throw closed();
    while (this.#benches.length < this.#options.maxThreads) this.#open(tenant);
    const own = this.#benches.filter((bench) => bench.tenant === tenant);
    for (const bench of own) bench.kept = true;
    await Promise.all(
      own.map((bench) =>
        prepare(bench.thread).catch((error: unknown) => {
          if (!bench.closing) throw error;
        }),
      ),
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject } of this.#line.splice(0)) reject(closed());
    for (const { idle } of this.#benches) clearTimeout(idle);
    await Promise.all(this.#benches.map(({ thread }) => thread.close()));
  }

  /**
   * Gives seats to those in line, first come first served; but who waits for a thread of its tenant does not hold up other
   * tenants.
   */
  #serve(): void {
    const blocked = new Set<string>();
    for (const waiting of [...this.#line]) {
      const { request } = waiting;
      if (blocked.has(request.tenant)) continue;
      const placed = this.#place(request);
      if ('thread' in placed) {
        this.#line.splice(this.#line.indexOf(waiting), 1);
        waiting.resolve(placed);
        continue;
      }
      if (placed.reason !== waiting.reason) request.onQueued?.(placed.reason);
      waiting.reason = placed.reason;
      if (placed.blocks === 'all') return;
      blocked.add(request.tenant);
    }
  }

  /** A seat, or why there is none, and whom that concerns. */
  #place(request: SeatRequest): Seat | { reason: string; blocks: 'all' | 'tenant' } {
    const bytes = request.bytes + IMAGE_BYTES;
    const { maxBytes, maxThreadBytes, maxThreads } = this.#options;
    const used = this.#benches.reduce((sum, bench) => sum + bench.bytes, 0);
    if (used + bytes > maxBytes) {
      return { reason: `memory: ${this.machines} machines may come to ${mib(used)} of ${mib(maxBytes)}, and this one wants ${mib(bytes)}`, blocks: 'all' };
    }
    const own = this.#benches.filter(({ tenant, closing }) => tenant === request.tenant && !closing);
    const least = own.filter(({ busy }) => busy < MAX_BUSY).sort((a, b) => a.bytes - b.bytes)[0];
    const full = this.#benches.length >= maxThreads;
    if (least && (least.machines === 0 || (full && least.bytes + bytes <= maxThreadBytes))) return this.#sit(least, bytes);
    if (!full) return this.#sit(this.#open(request.tenant), bytes);
    if (!least && own.length > 0) return { reason: 'processor: the programs before this one are begun first', blocks: 'tenant' };
    if (least) return { reason: `memory: each host process may have machines of ${mib(maxThreadBytes)}, and all are taken`, blocks: 'tenant' };
    const others = this.#benches.filter(({ tenant }) => tenant !== request.tenant).sort((a, b) => a.machines - b.machines);
    if (!others.some(({ closing }) => closing) && others[0]) this.#closeWhenEmpty(others[0]);
    return { reason: `processes: all ${maxThreads} host processes serve other tenants`, blocks: 'tenant' };
  }

  #sit(bench: Bench, bytes: number): Seat {
    bench.machines++;
    bench.bytes += bytes;
    clearTimeout(bench.idle);
    let taken = true;
    let long: NodeJS.Timeout | undefined;
    const setBusy = (busy: boolean) => {
      if (busy === (long !== undefined)) return;
      clearTimeout(long);
      long = busy ? setTimeout(() => setBusy(false), LONG_MS).unref() : undefined;
      bench.busy += busy ? 1 : -1;
      if (!busy) this.#serve();
    };
    setBusy(true);
    const release = () => {
      if (!taken) return;
      taken = false;
      bench.machines--;
      bench.bytes -= bytes;
      this.#emptied(bench);
      setBusy(false);
      this.#serve();
    };
    return { thread: bench.thread, setBusy: (busy) => taken && setBusy(busy), release };
  }

  #open(tenant: string): Bench {
    const thread = new RemoteThread(this.#options.open, () => {
      this.#benches = this.#benches.filter((bench) => bench.thread !== thread);
      clearTimeout(bench.idle);
      if (!this.#closed) this.#serve();
    });
    const bench: Bench = { thread, tenant, machines: 0, bytes: 0, busy: 0, idle: undefined, kept: false, closing: false };
    this.#benches.push(bench);
    return bench;
  }

  #closeWhenEmpty(bench: Bench): void {
    bench.closing = true;
    this.#emptied(bench);
  }

  #emptied(bench: Bench): void {
    if (bench.machines > 0 || !bench.thread.alive) return;
    clearTimeout(bench.idle);
    if (bench.closing) return void bench.thread.close();
    if (bench.kept) return;
    bench.idle = setTimeout(() => void bench.thread.close(), this.#options.idleMs);
    bench.idle.unref();
  }
}

function closed(): FermataError {
  return new FermataError('invalid_state', 'the host is closed');
}

function mib(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`;
}
