/** Tasks over the wire. */
import type {
  CheckpointWire,
  ControlWire,
  CreatedTaskWire,
  CreateTaskWire,
  EventWire,
  ForkWire,
  JournalWire,
  TaskCodeWire,
  TaskLogWire,
  TaskPageWire,
  TaskQueryWire,
  TaskStateWire,
  TaskWire,
  VerifiedWire,
} from '@fermata/protocol/wire';
import { FermataApiError } from './api-error.ts';
import { readEvents } from './event-stream.ts';
import { sleep } from './sleep.ts';
import { part, type Transport } from './transport.ts';

export interface Waiting {
  /** Default: for as long as it takes. */
  timeoutSeconds?: number;
  signal?: AbortSignal;
}

const LONGEST_POLL_SECONDS = 25;
const RECONNECT_MS = 500;
const MAX_RECONNECT_MS = 10_000;

export class Tasks {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** With `wait_seconds` the whole task comes back. */
  create(task: CreateTaskWire & { wait_seconds: number }, signal?: AbortSignal): Promise<TaskWire>;
  create(task: CreateTaskWire, signal?: AbortSignal): Promise<CreatedTaskWire>;
  create(task: CreateTaskWire, signal?: AbortSignal): Promise<TaskWire | CreatedTaskWire> {
    return this.#transport.json('POST', '/tasks', { json: task, creates: true, signal });
  }

  get(id: string, signal?: AbortSignal): Promise<TaskWire> {
    return this.#transport.json('GET', `/tasks/${part(id)}`, { signal });
  }

  list(query: TaskQueryWire = {}): Promise<TaskPageWire> {
    return this.#transport.json('GET', '/tasks', { query: query as Record<string, string> });
  }

  /** The task when it has ended, is paused or waits for somebody; or as it is when the time is over. */
  async wait(id: string, { timeoutSeconds = Number.POSITIVE_INFINITY, signal }: Waiting = {}): Promise<TaskWire> {
    const until = Date.now() + timeoutSeconds * 1000;
    for (;;) {
      const left = Math.max(0, (until - Date.now()) / 1000);
      const query = { wait_seconds: Math.min(left, LONGEST_POLL_SECONDS) };
      const task = await this.#transport.json<TaskWire>('GET', `/tasks/${part(id)}`, { query, signal });
      if ((task.status !== 'pending' && task.status !== 'running') || Date.now() >= until) return task;
    }
  }

  pause(id: string, options: Omit<ControlWire, 'action'> = {}): Promise<TaskWire> {
    return this.#control(id, { action: 'pause', ...options });
  }
  resume(id: string, options: Omit<ControlWire, 'action'> = {}): Promise<TaskWire> {
    return this.#control(id, { action: 'resume', ...options });
  }
  cancel(id: string, options: Omit<ControlWire, 'action'> = {}): Promise<TaskWire> {
    return this.#control(id, { action: 'cancel', ...options });
  }

  fork(id: string, options: ForkWire = {}): Promise<TaskWire> {
    return this.#transport.json('POST', `/tasks/${part(id)}/fork`, { json: options, creates: true });
  }
  verify(id: string): Promise<VerifiedWire> {
    return this.#transport.json('POST', `/tasks/${part(id)}/verify`);
  }
  /** Of a task that has ended: everything is gone but a tombstone. */
  purge(id: string): Promise<void> {
    return this.#transport.json('DELETE', `/tasks/${part(id)}`);
  }

  code(id: string): Promise<TaskCodeWire> {
    return this.#transport.json('GET', `/tasks/${part(id)}/code`);
  }
  log(id: string): Promise<TaskLogWire> {
    return this.#transport.json('GET', `/tasks/${part(id)}/log`);
  }
  journal(id: string, query: { after?: number; limit?: number } = {}): Promise<JournalWire> {
    return this.#transport.json('GET', `/tasks/${part(id)}/journal`, { query });
  }
  /** Of a stopped task. */
  state(id: string): Promise<TaskStateWire> {
    return this.#transport.json('GET', `/tasks/${part(id)}/state`);
  }
  checkpoints(id: string): Promise<{ items: CheckpointWire[] }> {
    return this.#transport.json('GET', `/tasks/${part(id)}/checkpoints`);
  }
  checkpoint(id: string): Promise<CheckpointWire> {
    return this.#transport.json('POST', `/tasks/${part(id)}/checkpoints`, { creates: true });
  }

  /** What happens in the task until it has ended, each recorded event once, however often the connection breaks. */
  async *events(id: string, { after = 0, live = true, signal }: { after?: number; live?: boolean; signal?: AbortSignal } = {}): AsyncGenerator<EventWire> {
    let [last, pause] = [after, RECONNECT_MS];
    for (;;) {
      try {
        const headers = { accept: 'text/event-stream', 'last-event-id': String(last) };
        const response = await this.#transport.send('GET', `/tasks/${part(id)}/events`, { headers, query: { live }, signal });
        if (response.status === 204 || !response.body) return;
        for await (const { event, data } of readEvents(response.body)) {
          if (event === 'end') return;
          if (event === 'shutdown' || event === 'error') break;
          const told = JSON.parse(data) as EventWire;
          if (told.seq !== null) last = told.seq;
          pause = RECONNECT_MS;
          yield told;
        }
      } catch (error) {
        if (signal?.aborted) return;
        if (error instanceof FermataApiError && error.status !== 0 && error.status < 500 && error.status !== 429) throw error;
      }
      if (signal?.aborted) return;
      await sleep(pause, signal).catch(() => {});
      pause = Math.min(pause * 2, MAX_RECONNECT_MS);
    }
  }

  #control(id: string, body: ControlWire): Promise<TaskWire> {
    return this.#transport.json('POST', `/tasks/${part(id)}/control`, { json: body });
  }
}
