/** OpenAI's responses. */
import { type Asked, type AskedMessage, CREATED_S, type Json, type ModelProtocol, parsedArguments, pieces, type Reply, serverSentEvent, textOf } from '../protocol.ts';
import { openaiChat } from './openai-chat.ts';

function read(body: Json): Asked {
  const input = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : (body.input ?? []);
  const instructions = body.instructions ? [{ role: 'system', content: body.instructions }] : [];
  return {
    model: body.model,
    stream: body.stream === true,
    messages: [...instructions, ...input].map(message),
    functions: (body.tools ?? []).map(({ name, description, parameters }: Json) => ({ name, description: description ?? '', parameters })),
    maxTokens: body.max_output_tokens ?? undefined,
  };
}

function message(item: Json): AskedMessage {
  if (item.type === 'function_call') return { role: 'assistant', text: '', calls: [{ id: item.call_id, name: item.name, arguments: parsedArguments(item.arguments) }] };
  if (item.type === 'function_call_output') return { role: 'tool', text: textOf(item.output), calls: [], callId: item.call_id };
  return { role: item.role === 'developer' ? 'system' : item.role, text: textOf(item.content), calls: [] };
}

function output({ number, text, calls }: Reply) {
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }];
  const said = text === '' && calls.length > 0 ? [] : [{ type: 'message', id: `msg_${number}`, role: 'assistant', status: 'completed', content }];
  const asked = calls.map(({ id, name, arguments: args }) => ({ type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: JSON.stringify(args), status: 'completed' }));
  return [...said, ...asked];
}

const REASON = { stop: null, length: 'max_output_tokens', filter: 'content_filter' } as const;

function whole(reply: Reply) {
  const { number, model, finish, usage } = reply;
  return {
    ...{ id: `resp_${number}`, object: 'response', created_at: CREATED_S, model, status: finish === 'stop' ? 'completed' : 'incomplete', error: null },
    ...{ incomplete_details: finish === 'stop' ? null : { reason: REASON[finish] }, instructions: null, output: output(reply) },
    ...{ parallel_tool_calls: true, tool_choice: 'auto', tools: [], metadata: {} },
    usage: {
      ...{ input_tokens: usage.inputTokens, input_tokens_details: { cached_tokens: 0 } },
      ...{ output_tokens: usage.outputTokens, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: usage.inputTokens + usage.outputTokens },
    },
  };
}

function events(reply: Reply): string[] {
  const response = whole(reply);
  const told: [string, object][] = [];
  const begun = { ...response, status: 'in_progress', output: [], usage: null, incomplete_details: null };
  told.push(['response.created', { response: begun }], ['response.in_progress', { response: begun }]);
  for (const [output_index, item] of response.output.entries()) {
    const at = { output_index, item_id: item.id };
    if ('content' in item) {
      const part = { type: 'output_text', text: '', annotations: [], logprobs: [] };
      told.push(['response.output_item.added', { output_index, item: { ...item, status: 'in_progress', content: [] } }]);
      told.push(['response.content_part.added', { ...at, content_index: 0, part }]);
      for (const delta of pieces(reply.text)) told.push(['response.output_text.delta', { ...at, content_index: 0, delta, logprobs: [] }]);
      told.push(['response.output_text.done', { ...at, content_index: 0, text: reply.text, logprobs: [] }]);
      told.push(['response.content_part.done', { ...at, content_index: 0, part: { ...part, text: reply.text } }]);
    } else {
      told.push(['response.output_item.added', { output_index, item: { ...item, status: 'in_progress', arguments: '' } }]);
      for (const delta of pieces(item.arguments)) told.push(['response.function_call_arguments.delta', { ...at, delta }]);
      told.push(['response.function_call_arguments.done', { ...at, name: item.name, arguments: item.arguments }]);
    }
    told.push(['response.output_item.done', { output_index, item }]);
  }
  told.push([reply.finish === 'stop' ? 'response.completed' : 'response.incomplete', { response }]);
  return told.map(([type, data], sequence_number) => serverSentEvent({ type, sequence_number, ...data }, type));
}

export const openaiResponses: ModelProtocol = { name: 'openai-responses', path: /^(\/v1)?\/responses$/, read, whole, events, refusal: openaiChat.refusal };
