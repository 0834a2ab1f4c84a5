/** The models that a configuration names, under `models` of its JSON. */

import type { ModelsOptions, ProviderOptions } from '@fermata/models';
import { strictOptions } from '@fermata/protocol/schemas';
import { z } from 'zod';

const provider = strictOptions({
  kind: z.enum(['openai', 'anthropic', 'mistral', 'google', 'openai-compatible']).optional(),
  base_url: z.string().optional(),
  key_variable: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  timeout_seconds: z.number().positive().optional(),
  max_retries: z.int().min(0).optional(),
  max_retry_wait_seconds: z.number().positive().optional(),
  models: z
    .record(z.string(), strictOptions({ price: strictOptions({ input: z.number().min(0), output: z.number().min(0) }).optional(), max_tokens: z.int().min(1).optional() }))
    .optional(),
});
export const modelsSchema = strictOptions({ default: z.string().min(1).optional(), providers: z.record(z.string(), provider).optional() });

/** The same as `createModels` takes it, which judges the rest. */
export function modelsOptionsOf({ default: name, providers = {} }: z.output<typeof modelsSchema>): ModelsOptions {
  const entries = Object.entries(providers).map(([id, given]) => [id, providerOf(given)] as const);
  return { ...(name === undefined ? {} : { default: name }), providers: Object.fromEntries(entries) };
}

function providerOf({ base_url, key_variable, timeout_seconds, max_retries, max_retry_wait_seconds, models = {}, kind, headers }: z.output<typeof provider>): ProviderOptions {
  const known = Object.entries(models).map(([id, { price, max_tokens }]) => [id, defined({ price, maxTokens: max_tokens })] as const);
  return defined({
    ...{ kind, headers, baseUrl: base_url, keyVariable: key_variable, maxRetries: max_retries },
    ...{ timeoutMs: ms(timeout_seconds), maxRetryWaitMs: ms(max_retry_wait_seconds), models: Object.fromEntries(known) },
  });
}

const ms = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1000);

function defined<T extends object>(given: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: NonNullable<T[K]> };
}
