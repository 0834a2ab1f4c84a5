/** Which models a deployment has: the providers, where they are, whose key is used, what a token costs. */
import { FermataError, parseOptions } from '@fermata/protocol';
import { strictOptions } from '@fermata/protocol/schemas';
import { z } from 'zod';

export const PROVIDER_KINDS = ['openai', 'anthropic', 'mistral', 'google', 'openai-compatible'] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

/** US dollars for a million tokens. */
export interface TokenPrice {
  input: number;
  output: number;
}

export interface ModelOptions {
  price?: TokenPrice;
  /** Of a reply, where the request names none. Default: that of the provider. */
  maxTokens?: number;
}

export interface ProviderOptions {
  /** Whose protocol it speaks. Default: that of the provider that has its name, else `openai-compatible`. */
  kind?: ProviderKind;
  /** Default: that of the provider; a server of one's own needs one. */
  baseUrl?: string;
  /** The variable of the environment that holds the key. Default: the provider's own; none for an openai-compatible server. */
  keyVariable?: string;
  /** Sent with each request. */
  headers?: Record<string, string>;
  /** Of each try, until the whole reply is there. Default: 10 min. */
  timeoutMs?: number;
  /** After the first one. Default: 4. */
  maxRetries?: number;
  /** Of one wait before a retry; a provider that asks for a longer one is not asked again. Default: 60 s. */
  maxRetryWaitMs?: number;
  /** What is known of its models, by their names. Others can be asked for as well. */
  models?: Record<string, ModelOptions>;
}

export interface ModelsOptions {
  /** `<provider>/<model>`, or `scripted:<file>`. Default: the variable FERMATA_MODEL. */
  default?: string;
  providers?: Record<string, ProviderOptions>;
  /** Where keys, and the default, are looked up. Default: that of the process. */
  environment?: Record<string, string | undefined>;
  /**
   * Any task may name `scripted:<file>`, which loads that file. Default: only `default` may. For a folder whose tasks are all its
   * owner's.
   */
  anyScript?: boolean;
}

const positive = z.number().positive();
const modelSchema = strictOptions({ price: strictOptions({ input: z.number().min(0), output: z.number().min(0) }).optional(), maxTokens: z.int().min(1).optional() });
const providerSchema = strictOptions({
  kind: z.enum(PROVIDER_KINDS).optional(),
  baseUrl: z.url({ protocol: /^https?$/, error: 'an address that begins with http:// or https:// is wanted' }).optional(),
  keyVariable: z.string().min(1).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  timeoutMs: positive.optional(),
  maxRetries: z.int().min(0).max(100).optional(),
  maxRetryWaitMs: positive.optional(),
  models: z.record(z.string().min(1), modelSchema).optional(),
});
const optionsSchema = strictOptions({
  default: z.string().min(1).optional(),
  providers: z.record(z.string().regex(/^[A-Za-z0-9_.-]+$/, 'a name of letters, digits, _ . and - is wanted'), providerSchema).optional(),
  environment: z.custom<Record<string, string | undefined>>((value) => typeof value === 'object' && value !== null).optional(),
  anyScript: z.boolean().optional(),
});

/** Throws `invalid_request` with the place of what is wrong. */
export function checkModelsOptions(options: ModelsOptions, at = 'createModels'): void {
  parseOptions(optionsSchema, options, at);
  for (const [name, { kind, baseUrl }] of Object.entries(options.providers ?? {})) {
    if (kindOf(name, kind) === 'openai-compatible' && baseUrl === undefined) {
      throw new FermataError('invalid_request', `${at}.providers.${name}: a server of one's own needs a base URL`, {
        hint: `Known without one are openai, anthropic, mistral and google; else give for instance http://127.0.0.1:11434/v1.`,
      });
    }
  }
}

export function kindOf(name: string, kind: ProviderKind | undefined): ProviderKind {
  return kind ?? PROVIDER_KINDS.find((known) => known === name) ?? 'openai-compatible';
}

/** The variables that the providers' own clients read; the first of the keys that is set counts. */
export const VARIABLES: Record<ProviderKind, { keys: readonly string[]; baseUrl?: string }> = {
  openai: { keys: ['OPENAI_API_KEY'], baseUrl: 'OPENAI_BASE_URL' },
  anthropic: { keys: ['ANTHROPIC_API_KEY'], baseUrl: 'ANTHROPIC_BASE_URL' },
  mistral: { keys: ['MISTRAL_API_KEY'] },
  google: { keys: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'] },
  'openai-compatible': { keys: [] },
};
