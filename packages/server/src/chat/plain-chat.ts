/** Chat without tools: the conversation goes to the model, and its reply comes back. Nothing of it is kept. */
import { randomUUID } from 'node:crypto';
import type { Model, ModelCallOptions } from '@fermata/protocol';
import { type ChatRequest, maxTokensOf, stopsOf } from './chat-request.ts';
import type { ChatAnswer } from './completion.ts';
import { conversationOf } from './conversation.ts';
import { cutAt } from './streamed-text.ts';

const FINISHES = { stop: 'stop', length: 'length', filter: 'content_filter', other: 'stop' } as const;

/** `key`: of the request; a provider that knows of such keys bills it once. */
export async function plainChat(
  model: Model,
  request: ChatRequest,
  { key = randomUUID(), ...how }: Pick<ModelCallOptions, 'signal' | 'onText' | 'onRestart'> & { key?: string | undefined },
): Promise<ChatAnswer> {
  const maxTokens = maxTokensOf(request);
  const asked = { messages: conversationOf(request.messages), ...(maxTokens === undefined ? {} : { maxTokens }) };
  const { text, finish, usage } = await model.generate(asked, { ...how, idempotencyKey: key });
  const { kept, isCut } = cutAt(text, stopsOf(request));
  return { text: kept, toolCalls: [], finish: isCut ? 'stop' : FINISHES[finish], usage };
}
