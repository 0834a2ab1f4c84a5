/** One request to a provider, by the AI SDK: streamed, so that text is told as it comes and a reply that breaks off is known as such. */
import type { ModelReply, ModelRequest } from '@fermata/protocol';
import { jsonSchema, streamText, type ToolSet, tool } from 'ai';
import type { LanguageModel } from './language-models.ts';

/** A reply of which the end is missing. */
export class BrokenReply extends Error {
  override readonly name = 'BrokenReply';
}

export interface OneTry {
  request: ModelRequest;
  maxTokens: number | undefined;
  headers: Record<string, string>;
  signal: AbortSignal;
  onText: (text: string) => void;
}

const BYTES_OF_TOKEN = 4;
const FINISH = { stop: 'stop', 'tool-calls': 'stop', length: 'length', 'content-filter': 'filter', other: 'other' } as const;

/** Rejects with whatever the SDK, the provider or the network has failed with. */
export async function tryOnce(
  model: LanguageModel,
  { request, maxTokens, headers, signal, onText }: OneTry,
): Promise<Omit<ModelReply, 'usage'> & { usage: { inputTokens: number; outputTokens: number } }> {
  const { stream } = streamText({
    ...{ model, headers, abortSignal: signal, maxRetries: 0, telemetry: { isEnabled: false }, onError: () => {} },
    ...{ messages: request.messages.map((message) => ({ ...message })), allowSystemInMessages: true },
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    ...(request.functions?.length ? { tools: toolsOf(request.functions) } : {}),
  });
  let text = '';
  const calls: ModelReply['calls'][number][] = [];
  for await (const part of stream) {
    switch (part.type) {
      case 'text-delta':
        text += part.text;
        onText(part.text);
        break;
      case 'tool-call':
        calls.push({ name: part.toolName, arguments: part.input });
        break;
      case 'error':
        throw part.error;
      case 'abort':
        throw signal.reason;
      case 'finish-step': {
        const { finishReason, usage, response } = part;
        if (finishReason === 'interrupted' || finishReason === 'error') throw new BrokenReply('the reply broke off');
        // Some servers of one's own count nothing; a budget must hold there too.
        const inputTokens = usage.inputTokens ?? guessTokens(JSON.stringify([request.messages, request.functions]));
        const outputTokens = usage.outputTokens ?? guessTokens(text + (calls.length > 0 ? JSON.stringify(calls) : ''));
        return { text, calls, finish: FINISH[finishReason], model: response.modelId, usage: { inputTokens, outputTokens } };
      }
      default:
    }
  }
  throw signal.aborted ? signal.reason : new BrokenReply('there was no reply');
}

function toolsOf(functions: NonNullable<ModelRequest['functions']>): ToolSet {
  return Object.fromEntries(functions.map(({ name, description, parameters }) => [name, tool({ description, inputSchema: jsonSchema(parameters) })]));
}

function guessTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_OF_TOKEN);
}
