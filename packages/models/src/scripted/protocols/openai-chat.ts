/** OpenAI's chat completions, which Mistral and many servers speak too. */
import { type Asked, type AskedMessage, CREATED_S, type Json, type ModelProtocol, parsedArguments, pieces, type Reply, serverSentEvent, textOf } from '../protocol.ts';

const FINISH = { stop: 'stop', length: 'length', filter: 'content_filter' } as const;

function read(body: Json): Asked {
  return {
    model: body.model,
    stream: body.stream === true,
    messages: (body.messages ?? []).map(message),
    functions: (body.tools ?? []).map(({ function: it }: Json) => ({ name: it.name, description: it.description ?? '', parameters: it.parameters })),
    maxTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
  };
}

function message({ role, content, tool_calls, tool_call_id }: Json): AskedMessage {
  return {
    role: role === 'developer' ? 'system' : role,
    text: textOf(content),
    calls: (tool_calls ?? []).map((call: Json) => ({ id: call.id, name: call.function.name, arguments: parsedArguments(call.function.arguments) })),
    ...(tool_call_id ? { callId: tool_call_id } : {}),
  };
}

const finishOf = ({ finish, calls }: Reply) => (calls.length > 0 && finish === 'stop' ? 'tool_calls' : FINISH[finish]);
const toolCall = ({ id, name, arguments: args }: Reply['calls'][number]) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args) } });
const head = ({ number, model }: Reply, object: string) => ({ id: `chatcmpl-${number}`, object, created: CREATED_S, model });
const usage = ({ usage: { inputTokens, outputTokens } }: Reply) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
});

function whole(reply: Reply) {
  const { text, calls } = reply;
  const message = { role: 'assistant', content: text === '' && calls.length > 0 ? null : text, refusal: null, ...(calls.length > 0 ? { tool_calls: calls.map(toolCall) } : {}) };
  return { ...head(reply, 'chat.completion'), choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(reply) }], usage: usage(reply) };
}

function events(reply: Reply, body: Json): string[] {
  const chunk = (delta: unknown, finish_reason: string | null = null, more = {}) =>
    serverSentEvent({ ...head(reply, 'chat.completion.chunk'), choices: [{ index: 0, delta, logprobs: null, finish_reason }], ...more });
  // OpenAI tells calls piece by piece, and the usage in a chunk of its own to who asks for that. Mistral tells each call whole, and the
  // usage always, in the last chunk; its client takes nothing else, and knows of no such wish.
  const apart = body.stream_options?.include_usage === true;
  const calls = reply.calls.map(toolCall).flatMap((call, index) => {
    if (!apart) return [chunk({ tool_calls: [{ index, ...call }] })];
    const { name, arguments: args } = call.function;
    const rest = pieces(args).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
    return [chunk({ tool_calls: [{ index, ...call, function: { name, arguments: '' } }] }), ...rest];
  });
  const last = chunk({}, finishOf(reply), apart ? {} : { usage: usage(reply) });
  const counted = apart ? [serverSentEvent({ ...head(reply, 'chat.completion.chunk'), choices: [], usage: usage(reply) })] : [];
  return [chunk({ role: 'assistant', content: '' }), ...pieces(reply.text).map((content) => chunk({ content })), ...calls, last, ...counted, serverSentEvent('[DONE]')];
}

export const openaiChat: ModelProtocol = {
  name: 'openai-chat',
  path: /^(\/v1)?\/chat\/completions$/,
  read,
  whole,
  events,
  refusal: (status, message) => ({
    error: { message, type: status === 429 ? 'rate_limit_error' : status < 500 ? 'invalid_request_error' : 'server_error', param: null, code: null },
  }),
};
