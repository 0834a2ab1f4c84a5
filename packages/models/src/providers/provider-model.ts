/**
 * A model of a provider. A request is made again, with the same key, where the provider is overloaded, limits rates, or the reply
 * breaks off; it keeps nothing, so a process that dies in the middle makes the request anew, and the key tells the provider so.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { FermataError, type Model, type ModelCallOptions, type ModelReply, type ModelRequest } from '@fermata/protocol';
import type { FailedTry } from './failed-try.ts';
import type { ProviderAccess } from './language-models.ts';
import type { ProviderKind, TokenPrice } from './models-options.ts';

export interface ProviderModelSettings {
  /** `<provider>/<model>` */
  name: string;
  provider: string;
  kind: ProviderKind;
  /** As the provider knows it. */
  model: string;
  access: ProviderAccess;
  headers: Record<string, string>;
  timeoutMs: number;
  maxRetries: number;
  maxRetryWaitMs: number;
  maxTokens: number | undefined;
  price: TokenPrice | undefined;
  /** What to do about a failure, where it is known. */
  advice: (failed: FailedTry) => string | undefined;
}

const FIRST_WAIT_MS = 500;
const LONGEST_SAID = 500;

export function createProviderModel(settings: ProviderModelSettings): Model {
  return { name: settings.name, generate: (request, options) => generate(settings, request, options) };
}

async function generate(settings: ProviderModelSettings, request: ModelRequest, { signal, idempotencyKey, onText, onRestart }: ModelCallOptions): Promise<ModelReply> {
  const { timeoutMs, maxRetries, maxRetryWaitMs } = settings;
  // The SDK is large; who asks no model does not load it.
  const [{ languageModel }, { tryOnce }, { failedTry }] = await Promise.all([import('./language-models.ts'), import('./one-try.ts'), import('./failed-try.ts')]);
  const model = languageModel(settings.provider, settings.kind, settings.model, settings.access);
  const headers = { ...settings.headers, 'idempotency-key': idempotencyKey };
  for (let retries = 0; ; retries++) {
    signal.throwIfAborted();
    const late = AbortSignal.timeout(timeoutMs);
    let told = false;
    const tell = (text: string) => {
      told = true;
      onText?.(text);
    };
    try {
      const maxTokens = request.maxTokens ?? settings.maxTokens;
      const reply = await tryOnce(model, { request, maxTokens, headers, signal: AbortSignal.any([signal, late]), onText: tell });
      return { ...reply, usage: { ...reply.usage, ...costOf(settings.price, reply.usage) } };
    } catch (error) {
      signal.throwIfAborted();
      const failed: FailedTry = late.aborted ? { said: `no whole reply came within ${timeoutMs / 1000} s`, again: true } : failedTry(error);
      const waitMs = failed.waitMs ?? Math.min(maxRetryWaitMs, FIRST_WAIT_MS * 2 ** retries * (0.5 + Math.random() / 2));
      if (!failed.again || retries >= maxRetries || waitMs > maxRetryWaitMs) throw failure(settings, failed, retries);
      if (told) onRestart?.();
      await sleep(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

function failure({ name, access: { apiKey: key }, maxRetryWaitMs, advice }: ProviderModelSettings, failed: FailedTry, retries: number): FermataError {
  const { status, waitMs } = failed;
  const shown = key === undefined ? failed.said : failed.said.replaceAll(key, '***');
  const said = shown.length > LONGEST_SAID ? `${shown.slice(0, LONGEST_SAID)}...` : shown;
  const tries = retries > 0 ? `, after ${retries + 1} tries` : '';
  const wait = waitMs !== undefined && waitMs > maxRetryWaitMs ? `; it wants nothing to be asked for ${Math.ceil(waitMs / 1000)} s` : '';
  const hint = advice(failed);
  const message = `the model ${name} has not answered${tries}: ${status === undefined ? '' : `status ${status}: `}${said}${wait}`;
  return new FermataError('model_error', message, hint === undefined ? {} : { hint });
}

function costOf(price: TokenPrice | undefined, { inputTokens, outputTokens }: { inputTokens: number; outputTokens: number }): { cost?: number } {
  return price ? { cost: (inputTokens * price.input + outputTokens * price.output) / 1_000_000 } : {};
}
