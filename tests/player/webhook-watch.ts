/** The receivers of a case's webhooks, and what the case expects of what they got. */
import type { FermataClient } from '@fermata/client';
import { Webhook } from 'standardwebhooks';
import { HttpReceiver, type Received, type Reply } from '../stories/http-receiver.ts';
import type { Json, ScenarioStep } from './case-bank.ts';

const TYPES: Record<string, string> = { 'task.completed': 'task.succeeded' };
const LATE_MS = Number(process.env.FERMATA_TEST_LATE_MS ?? 2000);
/** A delivery that is not there after so long does not come. */
const LONGEST_MS = 120_000;
/** So long it is watched whether more come than there should. */
const AFTER_MS = 500;
const HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

interface Watched {
  receiver: HttpReceiver;
  secret: string;
}
interface Wanted {
  url?: string;
  deliveries?: number;
  same?: string[];
  signature_valid?: boolean;
  signature_over?: string;
  tamper_each_must_fail?: ('id' | 'timestamp' | 'body')[];
  timestamp_fresh_s?: number;
  deliveries_per_event?: number;
  within_ms?: number;
  retried?: boolean;
}
type Signed = { body: string; headers: Record<string, string> };

export class WebhookWatch implements AsyncDisposable {
  readonly #watched = new Map<string, Watched>();

  async add(client: FermataClient, { on, respond = [200], url = '' }: { on: string; respond?: Json[]; url?: string }): Promise<void> {
    const replies = url === 'hang' ? [] : respond.map(replyOf);
    const receiver = await HttpReceiver.start((_, number) => replies[Math.min(number, replies.length) - 1] ?? 'never');
    const { secret } = await client.webhooks.create({ url: `${receiver.url}/${url}`, types: [TYPES[on] ?? on] });
    this.#watched.set(url, { receiver, secret });
  }

  /** What is wrong, in words. `events`: how many there were; `endedAt`: when the last one was. */
  async judge(step: ScenarioStep, events: number, endedAt: number): Promise<string[]> {
    const wanted = step.expect_webhook as Wanted;
    const { receiver, secret } = this.#watched.get(wanted.url ?? '') as Watched;
    const count = wanted.deliveries ?? (wanted.retried ? 2 : (wanted.deliveries_per_event ?? 1) * events);
    await Promise.race([receiver.count(count), new Promise((resolve) => setTimeout(resolve, LONGEST_MS).unref())]);
    if (!wanted.retried) await new Promise((resolve) => setTimeout(resolve, AFTER_MS));
    const got = receiver.received;
    const [first] = got;
    if (!first || got.length < count || (!wanted.retried && got.length > count)) return [`${got.length} deliveries, not ${count}`];
    const problems: string[] = [];
    const ids = got.map(({ headers }) => headers['webhook-id']);
    if (wanted.same?.includes('webhook-id') && new Set(ids).size !== 1) problems.push(`the ids of tries differ: ${ids}`);
    if (wanted.same?.includes('body') && new Set(got.map(({ body }) => body)).size !== 1) problems.push('the bodies of tries differ');
    if (wanted.deliveries_per_event === 1 && new Set(ids).size !== events) problems.push(`${new Set(ids).size} ids for ${events} events`);
    if (wanted.within_ms !== undefined && first.at - endedAt > wanted.within_ms + LATE_MS) problems.push(`told after ${first.at - endedAt} ms`);
    for (const one of got) if (!isValid(secret, signed(one))) problems.push('a signature is not valid');
    for (const part of wanted.tamper_each_must_fail ?? []) if (isValid(secret, tampered(signed(first), part))) problems.push(`the signature does not cover the ${part}`);
    const age = first.at / 1000 - Number(first.headers['webhook-timestamp']);
    if (wanted.timestamp_fresh_s !== undefined && Math.abs(age) > wanted.timestamp_fresh_s) problems.push(`the time stamp is ${age} s old`);
    return problems;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { receiver } of this.#watched.values()) await receiver[Symbol.asyncDispose]();
  }
}

function replyOf(given: Json): Reply {
  if (typeof given === 'number') return { status: given };
  const { status, location } = given as { status: number; location: string };
  return { status, headers: { location } };
}

function signed({ body, headers }: Received): Signed {
  return { body, headers: Object.fromEntries(HEADERS.map((name) => [name, String(headers[name])])) };
}

function tampered({ body, headers }: Signed, part: 'id' | 'timestamp' | 'body'): Signed {
  if (part === 'body') return { body: body.replace('{', '{ '), headers };
  const name = `webhook-${part}`;
  const changed = part === 'id' ? `${headers[name]}x` : String(Number(headers[name]) + 1);
  return { body, headers: { ...headers, [name]: changed } };
}

function isValid(secret: string, { body, headers }: Signed): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}
