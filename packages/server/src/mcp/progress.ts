/** What a task is at, told now and then while somebody waits for it: the line and step, the tools at work, what the program says of its progress. */
import type { FermataClient } from '@fermata/client';

const BETWEEN_MS = 250;
/** Clients that count the time since they heard something hear this. */
const STILL_THERE_MS = 5_000;
const MOST_CALLS = 3;

// biome-ignore lint/suspicious/noExplicitAny: what an event holds follows from its kind
type Data = Record<string, any>;

/** Listens until the signal aborts or the task has ended. */
export function tellProgress({ tasks }: FermataClient, taskId: string, tell: (message: string) => void, signal: AbortSignal): void {
  const place = new Place();
  const began = performance.now();
  let told: { text: string; at: number } | undefined;
  const look = (now = performance.now()) => {
    const text = place.text();
    if (told && now - told.at < (text === told.text ? STILL_THERE_MS : BETWEEN_MS)) return;
    const again = told?.text === text;
    told = { text, at: now };
    tell(again ? `${text} (${Math.round((now - began) / 1000)} s)` : text);
  };
  const timer = setInterval(look, BETWEEN_MS);
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  const listen = async () => {
    for await (const { kind, data } of tasks.events(taskId, { signal })) {
      if (signal.aborted) return;
      place.follow(kind, data as Data);
      look();
    }
  };
  // Who waits is told the outcome anyway.
  listen()
    .catch(() => {})
    .finally(() => clearInterval(timer));
}

class Place {
  readonly #calls = new Map<number, string>();
  #state = 'pending';
  #line: number | undefined;
  #step: string | undefined;
  #fraction: number | undefined;

  follow(kind: string, data: Data): void {
    if (kind === 'position') this.#line = data.line;
    else if (kind === 'step') this.#step = data.name;
    else if (kind === 'progress') this.#fraction = data.value;
    else if (kind === 'call') this.#calls.set(data.n, data.tool);
    else if (kind === 'call_settled') this.#calls.delete(data.n);
    else this.#state = STATES[kind] ?? this.#state;
  }

  text(): string {
    const calls = [...this.#calls.values()];
    const parts = [this.#state];
    if (this.#line !== undefined) parts.push(`line ${this.#line}`);
    if (this.#step !== undefined) parts.push(`step ${this.#step}`);
    if (this.#fraction !== undefined) parts.push(`${Math.round(this.#fraction * 100)}%`);
    if (calls.length > 0) parts.push(`calls ${calls.slice(0, MOST_CALLS).join(', ')}${calls.length > MOST_CALLS ? ` and ${calls.length - MOST_CALLS} more` : ''}`);
    return parts.join(', ');
  }
}

/** What the task is after an event. */
const STATES: Record<string, string> = {
  ...{ leased: 'running', queued: 'pending', waiting: 'waiting', paused: 'paused' },
  ...{ succeeded: 'succeeded', failed: 'failed', cancelled: 'cancelled' },
};
