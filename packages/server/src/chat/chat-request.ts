/**
 * What a chat request asks for. Fields that are not known are tolerated, as its clients expect; known ones that would change the
 * answer, and that cannot be had here, are refused by name.
 */
import { metadataSchema, recordSchema } from '@fermata/protocol/wire';
import { z } from 'zod';
import { ChatRefusal } from './openai-error.ts';

const part = z.looseObject({ type: z.string(), text: z.string().optional() });
const content = z.union([z.string(), z.array(part)], 'a text, or a list of parts, is wanted').nullish();
const toolCall = z.looseObject({ id: z.string(), type: z.string().optional(), function: z.looseObject({ name: z.string(), arguments: z.string() }).optional() });

const chatMessageSchema = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content,
  refusal: z.string().nullish(),
  name: z.string().optional(),
  tool_calls: z.array(toolCall).nullish(),
  tool_call_id: z.string().optional(),
});

const chatToolSchema = z.looseObject({
  type: z.string(),
  function: z
    .looseObject({
      name: z.string().min(1).max(256),
      description: z.string().max(100_000).nullish(),
      parameters: recordSchema.nullish(),
    })
    .optional(),
});

/** Of a stop sequence: each piece of a streamed answer is looked through for them. */
const LONGEST_STOP = 1_000;
const stop = z.string().max(LONGEST_STOP);
const tokens = z.int().min(1).nullish();

export const chatRequestSchema = z
  .looseObject({
    model: z.string().min(1).max(256),
    messages: z.array(chatMessageSchema).min(1).max(10_000),
    tools: z.array(chatToolSchema).max(1000).nullish(),
    tool_choice: z.union([z.string(), z.looseObject({ type: z.string() })]).nullish(),
    parallel_tool_calls: z.boolean().nullish().meta({ description: 'false: one call in each answer' }),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    max_tokens: tokens,
    max_completion_tokens: tokens,
    stop: z.union([stop, z.array(stop).max(4)]).nullish(),
    n: z.int().nullish(),
    temperature: z.number().nullish().meta({ description: 'Taken and not used, as are other settings of sampling' }),
    user: z.string().nullish(),
    metadata: metadataSchema.nullish(),
    response_format: z.looseObject({ type: z.string() }).nullish(),
  })
  .meta({ id: 'ChatRequest', description: "OpenAI's chat completion request" });

export type ChatRequest = z.output<typeof chatRequestSchema>;
export type ChatMessage = z.output<typeof chatMessageSchema>;
export interface ChatFunction {
  name: string;
  description?: string;
  parameters?: Record<string, unknown>;
}

/** Fields whose value, where it is not one of these, asks for what cannot be had. */
const ONLY: Record<string, readonly unknown[]> = { n: [1], logprobs: [false], top_logprobs: [0] };
/** Fields that cannot be had whatever they say. */
const NEVER: Record<string, string> = {
  audio: 'answers are text',
  functions: 'send them as tools',
  function_call: 'send tools and tool_choice',
  web_search_options: 'there is no web search here',
};

/** Throws {@link ChatRefusal} where the answer could not be what is asked for. */
export function refuseUnsupported(request: ChatRequest): void {
  for (const [field, allowed] of Object.entries(ONLY)) {
    const value = request[field];
    if (value != null && !allowed.includes(value)) throw unsupported(field, `only ${JSON.stringify(allowed[0])} can be had`);
  }
  for (const [field, why] of Object.entries(NEVER)) if (request[field] != null) throw unsupported(field, why);
  const { modalities, logit_bias: bias, response_format: format, tool_choice: choice } = request;
  if (Array.isArray(modalities) && modalities.some((one) => one !== 'text')) throw unsupported('modalities', 'answers are text');
  if (bias != null && typeof bias === 'object' && Object.keys(bias).length > 0) throw unsupported('logit_bias', 'tokens cannot be weighted here');
  if (format && format.type !== 'text') throw unsupported('response_format', 'answers are plain text');
  if (choice != null && choice !== 'auto' && choice !== 'none') {
    throw unsupported('tool_choice', 'the model writes a program, which calls what it needs: only "auto" and "none" can be had');
  }
  request.messages.forEach(refuseParts);
  request.tools?.forEach((tool, i) => {
    if (tool.type !== 'function' || !tool.function) throw unsupported(`tools[${i}]`, 'only tools of the type "function" can be had');
  });
}

function refuseParts(message: ChatMessage, i: number): void {
  if (message.role === 'function') throw unsupported(`messages[${i}].role`, 'send results as messages of the role "tool"');
  if (message.role === 'tool' && message.tool_call_id === undefined)
    throw new ChatRefusal(`messages[${i}]: a tool message needs its tool_call_id`, { param: `messages[${i}].tool_call_id` });
  if (!Array.isArray(message.content)) return;
  message.content.forEach(({ type, text }, j) => {
    const at = `messages[${i}].content[${j}]`;
    if (type !== 'text' && type !== 'refusal') throw unsupported(at, `only text can be read here, not ${JSON.stringify(type)}`);
    if (type === 'text' && text === undefined) throw new ChatRefusal(`${at}: a part of the type "text" needs its text`, { param: at });
  });
}

/** The text of a message, its parts put together. */
export function textOf({ content }: Pick<ChatMessage, 'content'>): string {
  if (Array.isArray(content)) return content.map(({ text = '' }) => text).join('');
  return content ?? '';
}

/** The functions that the model may have called; none where the request says so. */
export function functionsOf({ tools, tool_choice: choice }: ChatRequest): ChatFunction[] {
  if (choice === 'none') return [];
  return (tools ?? []).flatMap(({ function: given }) => {
    if (!given) return [];
    const { name, description, parameters } = given;
    return [{ name, ...(description == null ? {} : { description }), ...(parameters == null ? {} : { parameters }) }];
  });
}

/** Undefined: no bound but the model's own. */
export function maxTokensOf({ max_tokens: old, max_completion_tokens: given }: ChatRequest): number | undefined {
  return given ?? old ?? undefined;
}

export function stopsOf({ stop }: ChatRequest): string[] {
  return (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((text) => text !== '');
}

const unsupported = (field: string, why: string) => new ChatRefusal(`${field}: ${why}`, { param: field, code: 'unsupported_value' });
