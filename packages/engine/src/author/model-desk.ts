/**
 * Requests to models on their way.
 *
 * What it guarantees: a reply is a fact. It is recorded whoever has the task by then - also while the task is paused or the engine
 * closes - unless the task has ended. While this process lives no request is made twice; after a crash it is made again under the same key.
 */
import { createHash } from 'node:crypto';
import { FermataError, keyOf, type Model, type Models, type TaskRef, type TaskRequest } from '@fermata/protocol';
import type { Moment } from '../engine-options.ts';
import type { LiveTasks } from '../live-tasks.ts';
import type { Ask } from './story.ts';

export interface ModelDeskOptions {
  models: Models | undefined;
  tasks: LiveTasks;
  moment: (moment: Moment) => void;
  /** Told what passes and is not kept: the text of a reply as it comes. */
  tell: (ref: TaskRef, kind: string, data: unknown) => void;
}

interface Flight {
  n: number;
  controller: AbortController;
  done: Promise<void>;
}

/** Between two tries to record a reply while the store fails; doubled for each after it. */
const RECORD_AGAIN_MS = 200;
const RECORD_TRIES = 5;

export class ModelDesk {
  readonly #options: ModelDeskOptions;
  readonly #flights = new Map<string, Flight>();

  constructor(options: ModelDeskOptions) {
    this.#options = options;
  }

  /** The name of the model that a task asks. Throws `model_error` where it cannot be had. */
  nameFor({ model }: Pick<TaskRequest, 'model'>): string {
    const { models } = this.#options;
    const name = model?.name ?? models?.defaultName;
    if (models && name !== undefined) return models.find(name).name;
    throw new FermataError('model_error', 'no model is configured, so an instruction cannot be turned into a program', {
      hint: 'Name one (`model.name`), or set FERMATA_MODEL or models.default of the configuration, see docs/models.md; or send code and its language.',
    });
  }

  /** Resolves when the reply is recorded. Rejects with what the model says; the same request can be made again then. */
  ask(ref: TaskRef, ask: Ask): Promise<void> {
    const key = keyOf(ref);
    const before = this.#flights.get(key);
    if (before?.n === ask.n) return before.done;
    const controller = new AbortController();
    const flight: Flight = { n: ask.n, controller, done: Promise.resolve() };
    this.#flights.set(key, flight);
    flight.done = this.#flown(ref, ask, controller.signal).finally(() => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    });
    // Nobody may be waiting for it any more.
    flight.done.catch(() => {});
    return flight.done;
  }

  /** Nobody wants the reply any more. */
  abort(ref: TaskRef): void {
    this.#flights.get(keyOf(ref))?.controller.abort(new FermataError('invalid_state', 'the task was cancelled'));
  }
  /** Until every reply that is on its way is recorded. */
  async idle(): Promise<void> {
    await Promise.all([...this.#flights.values()].map(({ done }) => done.catch(() => {})));
  }
  close(): void {
    for (const { controller } of this.#flights.values()) controller.abort(new FermataError('invalid_state', 'the engine is closed'));
  }

  async #flown(ref: TaskRef, { n, phase, model: name, messages, functions }: Ask, signal: AbortSignal): Promise<void> {
    const { models, moment, tell } = this.#options;
    const model = models?.find(name);
    if (!model) throw new FermataError('model_error', `the model ${name} is not configured any more`, { hint: 'Configure it again, and resume the task or send it anew.' });
    moment('model.before');
    let told = 0;
    const onText = (text: string) => {
      tell(ref, 'model', { n, phase, text, at: told });
      told += text.length;
    };
    const onRestart = () => {
      tell(ref, 'model', { n, phase, restart: true });
      told = 0;
    };
    const reply = await model.generate(
      { messages, functions },
      {
        signal,
        idempotencyKey: keyOfAsk(ref, n),
        ...{ onText, onRestart },
      },
    );
    moment('model.after');
    await this.#recorded(ref, n, reply);
  }

  async #recorded(ref: TaskRef, n: number, reply: Awaited<ReturnType<Model['generate']>>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#options.tasks.use(ref, async (live) => {
          if (live.ended) return;
          const { modelTokens = 0, modelCost, ...usage } = live.row.usage;
          const { text, calls, finish, model } = reply;
          const { inputTokens, outputTokens, cost } = reply.usage;
          const spent = cost === undefined ? modelCost : (modelCost ?? 0) + cost;
          live.change({ usage: { ...usage, modelTokens: modelTokens + inputTokens + outputTokens, ...(spent === undefined ? {} : { modelCost: spent }) } });
          live.record('model_replied', { n, text, calls, finish, model, usage: reply.usage });
          await live.flush();
        });
      } catch (error) {
        if (tries >= RECORD_TRIES || (error instanceof FermataError && error.code === 'not_found')) throw error;
        // The store failed; the reply is paid for, and is not lost while we are here.
        await new Promise((resolve) => setTimeout(resolve, RECORD_AGAIN_MS * 2 ** (tries - 1)).unref());
      }
    }
  }
}

/** The same for the same request, whoever makes it; it tells a provider nothing of tenants and tasks. */
function keyOfAsk({ tenant, taskId }: TaskRef, n: number): string {
  return createHash('sha256').update(`${tenant}/${taskId}/${n}`).digest('hex');
}
