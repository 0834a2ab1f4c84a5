/** The models of the AI SDK, by the protocol of their provider. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createMistral } from '@ai-sdk/mistral';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { type LanguageModelMiddleware, wrapLanguageModel } from 'ai';
import type { ProviderKind } from './models-options.ts';

export type LanguageModel = ReturnType<typeof wrapLanguageModel>;

interface Settings {
  apiKey?: string;
  baseURL?: string;
  headers?: Record<string, string>;
}

/** The variables that the providers' own clients read; the first of the keys that is set counts. */
export const VARIABLES: Record<ProviderKind, { keys: readonly string[]; baseUrl?: string }> = {
  openai: { keys: ['OPENAI_API_KEY'], baseUrl: 'OPENAI_BASE_URL' },
  anthropic: { keys: ['ANTHROPIC_API_KEY'], baseUrl: 'ANTHROPIC_BASE_URL' },
  mistral: { keys: ['MISTRAL_API_KEY'] },
  google: { keys: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'] },
  'openai-compatible': { keys: [] },
};

/** What `provider` serves under the name `model`. Nothing is asked of the provider yet. */
export function languageModel(provider: string, kind: ProviderKind, model: string, settings: Settings): LanguageModel {
  return wrapLanguageModel({ model: bare(provider, kind, model, settings), middleware: silent });
}

function bare(provider: string, kind: ProviderKind, model: string, settings: Settings) {
  switch (kind) {
    case 'openai':
      return createOpenAI(settings)(model);
    case 'anthropic':
      return createAnthropic(settings)(model);
    case 'mistral':
      return createMistral(settings)(model);
    case 'google':
      return createGoogle(settings)(model);
    case 'openai-compatible':
      return createOpenAICompatible({ ...settings, name: provider, baseURL: settings.baseURL ?? '', includeUsage: true })(model);
  }
}

/** The SDK would print what it remarks of a request, as a warning of the process. */
const silent: LanguageModelMiddleware = {
  specificationVersion: 'v4',
  wrapStream: async ({ doStream }) => {
    const { stream, ...rest } = await doStream();
    type Part = typeof stream extends ReadableStream<infer P> ? P : never;
    const quiet = new TransformStream<Part, Part>({ transform: (part, out) => out.enqueue(part.type === 'stream-start' ? { ...part, warnings: [] } : part) });
    return { stream: stream.pipeThrough(quiet), ...rest };
  },
};
