/** The models of the AI SDK, by the protocol of their provider. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createMistral } from '@ai-sdk/mistral';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { type LanguageModelMiddleware, wrapLanguageModel } from 'ai';
import type { ProviderKind } from './models-options.ts';

export type LanguageModel = ReturnType<typeof wrapLanguageModel>;

export interface ProviderAccess {
  apiKey?: string;
  baseURL?: string;
  headers?: Record<string, string>;
}

/** What `provider` serves under the name `model`. Nothing is asked of the provider yet. */
export function languageModel(provider: string, kind: ProviderKind, model: string, settings: ProviderAccess): LanguageModel {
  return wrapLanguageModel({ model: bare(provider, kind, model, settings), middleware: silent });
}

function bare(provider: string, kind: ProviderKind, model: string, settings: ProviderAccess) {
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
