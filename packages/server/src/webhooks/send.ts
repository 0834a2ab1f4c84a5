/** One try of telling one endpoint: signed, to a checked address, within bounds, following no redirect. */
import type { WebhookPayload } from '@fermata/protocol/wire';
import { type AddressGuard, guardedRequest, RequestError } from '@fermata/tools/registry';
import { Webhook } from 'standardwebhooks';

export interface SendResult {
  taken: boolean;
  status: number | null;
  error: string | null;
  /** The endpoint says that it is no more. */
  gone: boolean;
  /** What it asks for by `Retry-After`. */
  askedMs: number;
}

const MAX_ANSWER_BYTES = 64 * 1024;

export async function send(
  { id, url, secret, payload, at, timeoutMs }: { id: string; url: string; secret: string; payload: WebhookPayload; at: number; timeoutMs: number },
  guard: AddressGuard,
  signal: AbortSignal,
): Promise<SendResult> {
  const body = JSON.stringify(payload);
  const when = new Date(at);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'fermata-webhooks',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, when, body),
  };
  try {
    const response = await guardedRequest({ url, method: 'POST', headers, body, timeoutMs, maxBytes: MAX_ANSWER_BYTES, longer: 'cut', signal }, guard);
    const taken = response.status >= 200 && response.status < 300;
    const error = taken ? null : response.status >= 300 && response.status < 400 ? 'answered with a redirect, which is not followed' : `answered ${response.status}`;
    return { taken, status: response.status, error, gone: response.status === 410, askedMs: askedFor(response.headers['retry-after'], at) };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return { taken: false, status: null, error: error.message, gone: false, askedMs: 0 };
  }
}

function askedFor(retryAfter: string | undefined, now: number): number {
  if (retryAfter === undefined) return 0;
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}
