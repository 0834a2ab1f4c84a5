/**
 * Which task runs next: of the tenants that have something to run, the one with the least running; of its tasks, the one with
 * the highest priority, and among equals the oldest.
 *
 * It holds only names; the store knows what is in it, and an engine that starts fills it again.
 */
import { keyOf, type TaskRef, type TaskRow } from '@fermata/protocol';

export interface QueueOptions {
  maxRunning: number;
  maxRunningPerTenant: number;
}

interface Queued {
  ref: TaskRef;
  priority: number;
  /** Names of gates that let through a number of tasks at a time: a batch, a session. */
  gates: Gate[];
}
export interface Gate {
  name: string;
  width: number;
}

export class Queue {
  readonly #options: QueueOptions;
  /** Per tenant, in the order in which they are to run. */
  readonly #waiting = new Map<string, Queued[]>();
  readonly #running = new Map<string, number>();
  /** Tasks that are in a gate. */
  readonly #inGate = new Map<string, number>();
  readonly #arriving = new Map<string, number>();
  /** Names of all that wait. */
  readonly #names = new Set<string>();
  #all = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#names.size;
  }
  /** With those that are on their way into it. */
  get fullSize(): number {
    return this.#names.size + [...this.#arriving.values()].reduce((sum, count) => sum + count, 0);
  }
  fullSizeOf(tenant: string): number {
    return (this.#waiting.get(tenant)?.length ?? 0) + (this.#arriving.get(tenant) ?? 0);
  }
  /** Counts tasks that will be added, until the function that is given back is called. */
  expect(tenant: string, count: number): () => void {
    const change = (by: number) => this.#arriving.set(tenant, (this.#arriving.get(tenant) ?? 0) + by);
    change(count);
    return () => {
      change(-count);
      if (this.#arriving.get(tenant) === 0) this.#arriving.delete(tenant);
    };
  }
  get running(): number {
    return this.#all;
  }

  add({ tenant, taskId, priority }: Pick<TaskRow, 'tenant' | 'taskId' | 'priority'>, gates: Gate[] = []): void {
    const line = this.#waiting.get(tenant) ?? [];
    const name = keyOf({ tenant, taskId });
    if (this.#names.has(name)) return;
    this.#names.add(name);
    const queued: Queued = { ref: { tenant, taskId }, priority, gates };
    let at = line.length;
    while (at > 0 && (line[at - 1] as Queued).priority < priority) at--;
    line.splice(at, 0, queued);
    this.#waiting.set(tenant, line);
  }

  remove({ tenant, taskId }: TaskRef): void {
    const line = this.#waiting.get(tenant);
    if (!line || !this.#names.delete(keyOf({ tenant, taskId }))) return;
    line.splice(
      line.findIndex(({ ref }) => ref.taskId === taskId),
      1,
    );
    if (line.length === 0) this.#waiting.delete(tenant);
  }

  /** Takes the next task that may run, if there is one; `done` is to be called when it does not run any more. */
  take(): { ref: TaskRef; done: () => void } | undefined {
    if (this.#all >= this.#options.maxRunning) return undefined;
    const tenants = [...this.#waiting.keys()].sort((a, b) => (this.#running.get(a) ?? 0) - (this.#running.get(b) ?? 0));
    for (const tenant of tenants) {
      if ((this.#running.get(tenant) ?? 0) >= this.#options.maxRunningPerTenant) continue;
      const next = this.#waiting.get(tenant)?.find(({ gates }) => gates.every((gate) => this.#isOpen(gate)));
      if (!next) continue;
      this.remove(next.ref);
      // Served last from now on among those with as many running.
      const line = this.#waiting.get(tenant);
      if (line) {
        this.#waiting.delete(tenant);
        this.#waiting.set(tenant, line);
      }
      return { ref: next.ref, done: this.#enter(tenant, next.gates) };
    }
    return undefined;
  }

  /** How many are before it in its tenant's line, and what else than its place holds it up. */
  placeOf({ tenant, taskId }: TaskRef): { position: number; reason: string | null } | undefined {
    const line = this.#waiting.get(tenant) ?? [];
    const position = line.findIndex(({ ref }) => ref.taskId === taskId);
    const queued = line[position];
    if (!queued) return undefined;
    const shut = queued.gates.find((gate) => !this.#isOpen(gate));
    if (shut) return { position, reason: `${shut.name}: ${shut.width} of it may run at the same time` };
    if ((this.#running.get(tenant) ?? 0) >= this.#options.maxRunningPerTenant) return { position, reason: `${this.#options.maxRunningPerTenant} tasks of the tenant run already` };
    return { position, reason: this.#all >= this.#options.maxRunning ? `${this.#options.maxRunning} tasks run already` : null };
  }

  #isOpen({ name, width }: Gate): boolean {
    return (this.#inGate.get(name) ?? 0) < width;
  }

  #enter(tenant: string, gates: readonly Gate[]): () => void {
    const add = (counts: Map<string, number>, key: string, by: number) => {
      const count = (counts.get(key) ?? 0) + by;
      if (count === 0) counts.delete(key);
      else counts.set(key, count);
    };
    const count = (by: number) => {
      this.#all += by;
      add(this.#running, tenant, by);
      for (const { name } of gates) add(this.#inGate, name, by);
    };
    count(1);
    let inside = true;
    return () => {
      if (inside) count(-1);
      inside = false;
    };
  }
}
