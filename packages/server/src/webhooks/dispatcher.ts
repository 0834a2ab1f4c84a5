/**
 * Tells the outside what the outbox holds, until it is taken or a day is over.
 *
 * At least once: a row leaves the outbox in the commit that logs its end, so a crash between an answer and that commit sends
 * the same `webhook-id` again. What is sent is the task or batch as it is at that moment.
 */
import type { Engine } from '@fermata/engine';
import { FermataError, type OutboxRow } from '@fermata/protocol';
import type { AddressGuard } from '@fermata/tools/registry';
import type { ServerStore, WebhookMoment } from '../server-options.ts';
import { shownBatch } from '../show/batch.ts';
import { showTask } from '../show/task.ts';
import { showTime } from '../show/time.ts';
import type { Delivery, DeliveryLog, WebhookBody } from './delivery-log.ts';
import type { Endpoint, Endpoints } from './endpoints.ts';
import { nextTryIn } from './schedule.ts';
import { type SendResult, send } from './send.ts';

export interface DispatcherOptions {
  engine: Pick<Engine, 'task' | 'batch' | 'tasks'>;
  store: ServerStore;
  endpoints: Endpoints;
  deliveries: DeliveryLog;
  guard: AddressGuard;
  timeoutMs: number;
  pollMs: number;
  now: () => number;
  moment: (moment: WebhookMoment) => void;
  onError: (error: unknown, where: string) => void;
}

const AT_ONCE = 16;
/** To one endpoint, so that one that is slow does not hold up the others. */
const AT_ONCE_EACH = 2;
const ROWS = 500;

export class WebhookDispatcher {
  readonly #options: DispatcherOptions;
  readonly #sending = new Map<string, { target: string; work: Promise<void> }>();
  readonly #closed = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.wake(), this.#options.pollMs);
    this.wake();
  }

  /** Looks for what is due now. */
  wake(): void {
    if (this.#closed.signal.aborted || this.#looking) return;
    this.#looking = this.#look()
      .catch((error: unknown) => this.#options.onError(error, 'webhooks'))
      .finally(() => {
        this.#looking = undefined;
      });
  }

  /** What is being sent is given up, and sent again by the next one. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closed.abort();
    await this.#looking;
    await Promise.all([...this.#sending.values()].map(({ work }) => work));
  }

  async #look(): Promise<void> {
    const { store, now, onError } = this.#options;
    for (const row of await store.outboxDue(now(), ROWS)) {
      if (row.kind !== 'webhook' || this.#sending.has(row.id)) continue;
      if (this.#sending.size >= AT_ONCE) return;
      const target = targetOf(row);
      if ([...this.#sending.values()].filter((other) => other.target === target).length >= AT_ONCE_EACH) continue;
      const work = this.#serve(row).then(
        () => this.#done(row),
        (error: unknown) => {
          // It is due still: the next look tries it again.
          this.#sending.delete(row.id);
          onError(error, `webhook ${row.id}`);
        },
      );
      this.#sending.set(row.id, { target, work });
    }
  }

  #done(row: OutboxRow): void {
    this.#sending.delete(row.id);
    this.wake();
  }

  async #serve(row: OutboxRow): Promise<void> {
    const body = JSON.parse(row.body) as WebhookBody;
    if (body.url === undefined && body.webhook_id === undefined) return this.#spread(row, body);
    const endpoint = body.webhook_id === undefined ? undefined : await this.#options.endpoints.get(row.tenant, body.webhook_id);
    const url = endpoint?.url ?? body.url;
    if (url === undefined || (endpoint && endpoint.disabledReason !== null)) return this.#options.store.commit([{ dropOutbox: [row.id] }]);
    await this.#tell(row, body, url, endpoint);
  }

  /** One row for each endpoint that wants this; their ids follow from the row's, so that a repeat makes no more of them. */
  async #spread(row: OutboxRow, body: WebhookBody): Promise<void> {
    const { endpoints, store, now } = this.#options;
    const listening = await endpoints.listening(row.tenant, body.type);
    const outbox = listening.map(({ webhookId }) => ({ ...row, id: `${row.id}.${webhookId}`, dueAt: now(), tries: 0, body: JSON.stringify({ ...body, webhook_id: webhookId }) }));
    await store.commit([{ outbox, dropOutbox: [row.id] }]);
  }

  async #tell(row: OutboxRow, body: WebhookBody, url: string, endpoint: Endpoint | undefined): Promise<void> {
    const { deliveries, endpoints, store, guard, timeoutMs, now, moment } = this.#options;
    const before = await deliveries.find(row.tenant, row.id);
    const started = now();
    const data = await this.#data(row.tenant, body);
    const secret = endpoint?.secret ?? (await endpoints.callbackSecret(row.tenant));
    const createdAt = before?.createdAt ?? started;
    const payload = { type: body.type, created_at: showTime(createdAt), data };
    moment('webhook.before');
    const result: SendResult =
      data === undefined
        ? { taken: false, status: null, error: 'what it is about is gone', gone: true, askedMs: 0 }
        : await send({ id: row.id, url, secret, payload, at: started, timeoutMs }, guard, this.#closed.signal);
    moment('webhook.after');
    if (this.#closed.signal.aborted && !result.taken) return;
    const tries = row.tries + 1;
    const wait = result.taken || result.gone ? undefined : nextTryIn(tries, Math.random(), result.askedMs);
    const nextAt = wait === undefined ? null : now() + wait;
    const attempt = { at: started, status: result.status, error: result.error, durationMs: Math.round(now() - started) };
    const status = result.taken ? 'delivered' : nextAt === null ? 'failed' : 'pending';
    const delivery: Delivery = { ...body, id: row.id, url, status, createdAt, nextAt, tries, attempts: [...(before?.attempts ?? []), attempt] };
    const logged = await deliveries.entry(row.tenant, delivery, now());
    await store.commit([nextAt === null ? { ...logged, dropOutbox: [row.id] } : { ...logged, outbox: [{ ...row, tries, dueAt: nextAt }] }]);
    if (endpoint && result.status === 410) await endpoints.disable(endpoint, 'it answered 410 Gone');
  }

  /** Undefined where the task or batch has been purged. */
  async #data(tenant: string, { task_id: taskId, batch_id: batchId }: WebhookBody): Promise<unknown> {
    const { engine } = this.#options;
    try {
      if (taskId !== undefined) return showTask(await engine.task({ tenant, taskId }));
      return await shownBatch(engine, tenant, await engine.batch(tenant, batchId ?? ''));
    } catch (error) {
      if (error instanceof FermataError && error.code === 'not_found') return undefined;
      throw error;
    }
  }
}

/** Whom it is for: an endpoint, or the host of an address. */
function targetOf({ tenant, body }: OutboxRow): string {
  const { webhook_id: webhookId, url } = JSON.parse(body) as WebhookBody;
  return webhookId ? `${tenant} ${webhookId}` : url === undefined ? '' : (URL.parse(url)?.host ?? url);
}
