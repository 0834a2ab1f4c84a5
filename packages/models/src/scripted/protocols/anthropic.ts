/** Anthropic's messages. */
import { type Asked, type AskedMessage, type Json, type ModelProtocol, pieces, type Reply, serverSentEvent, textOf } from '../protocol.ts';

const FINISH = { stop: 'end_turn', length: 'max_tokens', filter: 'refusal' } as const;

function read(body: Json): Asked {
  const system = body.system === undefined ? [] : [{ role: 'system' as const, text: textOf(body.system), calls: [] }];
  return {
    model: body.model,
    stream: body.stream === true,
    messages: [...system, ...(body.messages ?? []).flatMap(messages)],
    functions: (body.tools ?? []).map(({ name, description, input_schema }: Json) => ({ name, description: description ?? '', parameters: input_schema })),
    maxTokens: body.max_tokens,
  };
}

/** Results of tools are parts of a user's message here; they are read as messages of their own. */
function messages({ role, content }: Json): AskedMessage[] {
  const parts: Json[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const results = parts
    .filter(({ type }) => type === 'tool_result')
    .map((part): AskedMessage => ({ role: 'tool', text: textOf(part.content), calls: [], callId: part.tool_use_id }));
  const calls = parts.filter(({ type }) => type === 'tool_use').map(({ id, name, input }) => ({ id, name, arguments: input }));
  const text = textOf(parts.filter(({ type }) => type === 'text'));
  return text === '' && calls.length === 0 && results.length > 0 ? results : [...results, { role, text, calls }];
}

function content({ text, calls }: Reply) {
  const said = text === '' && calls.length > 0 ? [] : [{ type: 'text', text, citations: null }];
  return [...said, ...calls.map(({ id, name, arguments: input }) => ({ type: 'tool_use', id, name, input }))];
}

const stopReason = ({ finish, calls }: Reply) => (calls.length > 0 && finish === 'stop' ? 'tool_use' : FINISH[finish]);
const usage = ({ usage: { inputTokens, outputTokens } }: Reply) => ({
  ...{ input_tokens: inputTokens, output_tokens: outputTokens, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
});

function whole(reply: Reply) {
  const { number, model } = reply;
  return { id: `msg_${number}`, type: 'message', role: 'assistant', model, content: content(reply), stop_reason: stopReason(reply), stop_sequence: null, usage: usage(reply) };
}

function events(reply: Reply): string[] {
  const told: Json[] = [{ type: 'message_start', message: { ...whole(reply), content: [], stop_reason: null, usage: { ...usage(reply), output_tokens: 0 } } }, { type: 'ping' }];
  for (const [index, block] of content(reply).entries()) {
    const isText = 'text' in block;
    told.push({ type: 'content_block_start', index, content_block: isText ? { ...block, text: '' } : { ...block, input: {} } });
    const deltas = isText
      ? pieces(block.text).map((text) => ({ type: 'text_delta', text }))
      : pieces(JSON.stringify(block.input)).map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    for (const delta of deltas) told.push({ type: 'content_block_delta', index, delta });
    told.push({ type: 'content_block_stop', index });
  }
  told.push(
    { type: 'message_delta', delta: { stop_reason: stopReason(reply), stop_sequence: null }, usage: { output_tokens: reply.usage.outputTokens } },
    { type: 'message_stop' },
  );
  return told.map((event) => serverSentEvent(event, event.type));
}

const ERRORS: Record<number, string> = { 401: 'authentication_error', 403: 'permission_error', 404: 'not_found_error', 429: 'rate_limit_error', 529: 'overloaded_error' };

export const anthropic: ModelProtocol = {
  name: 'anthropic',
  path: /^(\/v1)?\/messages$/,
  read,
  whole,
  events,
  refusal: (status, message) => ({ type: 'error', error: { type: ERRORS[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error'), message } }),
};
