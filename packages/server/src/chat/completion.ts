/** Answers in OpenAI's form, whole and in pieces. */
import { z } from 'zod';
import type { ChatUsage } from './chat-turn.ts';

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export interface ChatToolCall {
  id: string;
  name: string;
  /** JSON. */
  arguments: string;
}

/** What is answered. */
export interface ChatAnswer {
  text: string | null;
  toolCalls: readonly ChatToolCall[];
  finish: FinishReason;
  usage: ChatUsage;
}

/** What all pieces of an answer say of it. */
export interface CompletionHead {
  id: string;
  /** Seconds. */
  created: number;
  model: string;
}

const toolCallSchema = z.object({ id: z.string(), type: z.literal('function'), function: z.object({ name: z.string(), arguments: z.string() }) });
const usageSchema = z.object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() });

export const completionSchema = z
  .object({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.int(),
        message: z.object({ role: z.literal('assistant'), content: z.string().nullable(), refusal: z.null(), tool_calls: z.array(toolCallSchema).optional() }),
        logprobs: z.null(),
        finish_reason: z.enum(['stop', 'length', 'tool_calls', 'content_filter']),
      }),
    ),
    usage: usageSchema,
  })
  .meta({ id: 'ChatCompletion' });

export type CompletionWire = z.output<typeof completionSchema>;

export function completionOf(head: CompletionHead, { text, toolCalls, finish, usage }: ChatAnswer): CompletionWire {
  const called = toolCalls.length > 0 ? { tool_calls: toolCalls.map(shownCall) } : {};
  const message = { role: 'assistant' as const, content: text, refusal: null, ...called };
  return { ...head, object: 'chat.completion', choices: [{ index: 0, message, logprobs: null, finish_reason: finish }], usage: shownUsage(usage) };
}

/** The pieces of an answer, each the data of one event. `withUsage`: the client has asked for a last one that says what was spent. */
export class CompletionChunks {
  readonly #head: CompletionHead;
  readonly #withUsage: boolean;

  constructor(head: CompletionHead, withUsage: boolean) {
    this.#head = head;
    this.#withUsage = withUsage;
  }

  begin(): string {
    return this.#chunk({ role: 'assistant', content: '', refusal: null });
  }
  text(content: string): string {
    return this.#chunk({ content });
  }
  call(call: ChatToolCall, index: number): string[] {
    const { id, type, function: called } = shownCall(call);
    return [
      this.#chunk({ tool_calls: [{ index, id, type, function: { name: called.name, arguments: '' } }] }),
      this.#chunk({ tool_calls: [{ index, function: { arguments: called.arguments } }] }),
    ];
  }
  end(finish: FinishReason, usage: ChatUsage): string[] {
    const last = this.#withUsage ? [JSON.stringify({ ...this.#frame, choices: [], usage: shownUsage(usage) })] : [];
    return [this.#chunk({}, finish), ...last, '[DONE]'];
  }

  get #frame() {
    return { ...this.#head, object: 'chat.completion.chunk' };
  }
  #chunk(delta: object, finish: FinishReason | null = null): string {
    return JSON.stringify({ ...this.#frame, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...(this.#withUsage ? { usage: null } : {}) });
  }
}

const shownCall = ({ id, name, arguments: args }: ChatToolCall) => ({ id, type: 'function' as const, function: { name, arguments: args } });
const shownUsage = ({ inputTokens, outputTokens }: ChatUsage) => ({ prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens });
