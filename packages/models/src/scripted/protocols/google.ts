/** Google's generateContent. */
import { type Asked, type AskedMessage, type Json, type ModelProtocol, pieces, type Reply, serverSentEvent, textOf } from '../protocol.ts';

const PATH = /^\/(v1beta|v1)\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;
const FINISH = { stop: 'STOP', length: 'MAX_TOKENS', filter: 'SAFETY' } as const;

function read(body: Json, path: string): Asked {
  const [, , model = '', method] = PATH.exec(path) ?? [];
  const system = body.systemInstruction === undefined ? [] : [{ role: 'system' as const, text: textOf(body.systemInstruction.parts), calls: [] }];
  const declared = (body.tools ?? []).flatMap((tool: Json) => tool.functionDeclarations ?? []);
  return {
    model,
    stream: method === 'streamGenerateContent',
    messages: [...system, ...(body.contents ?? []).flatMap(messages)],
    functions: declared.map((it: Json) => ({ name: it.name, description: it.description ?? '', parameters: it.parameters ?? it.parametersJsonSchema })),
    maxTokens: body.generationConfig?.maxOutputTokens,
  };
}

function messages({ role, parts }: Json): AskedMessage[] {
  const results = parts
    .filter((part: Json) => part.functionResponse)
    .map(({ functionResponse: it }: Json): AskedMessage => ({ role: 'tool', text: JSON.stringify(it.response), calls: [], callId: it.id ?? it.name }));
  const calls = parts.filter((part: Json) => part.functionCall).map(({ functionCall: it }: Json) => ({ id: it.id ?? it.name, name: it.name, arguments: it.args }));
  const text = textOf(parts.filter((part: Json) => part.text !== undefined));
  return text === '' && calls.length === 0 && results.length > 0 ? results : [...results, { role: role === 'model' ? 'assistant' : 'user', text, calls }];
}

function chunk(reply: Reply, parts: unknown[], last: boolean) {
  const { inputTokens, outputTokens } = reply.usage;
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, ...(last ? { finishReason: FINISH[reply.finish] } : {}) }],
    ...(last ? { usageMetadata: { promptTokenCount: inputTokens, candidatesTokenCount: outputTokens, totalTokenCount: inputTokens + outputTokens } } : {}),
    ...{ modelVersion: reply.model, responseId: `resp-${reply.number}` },
  };
}

const callParts = ({ calls }: Reply) => calls.map(({ id, name, arguments: args }) => ({ functionCall: { id, name, args } }));

function events(reply: Reply): string[] {
  const texts = pieces(reply.text).map((text) => chunk(reply, [{ text }], false));
  return [...texts, chunk(reply, callParts(reply), true)].map((data) => serverSentEvent(data));
}

const STATUS: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

export const google: ModelProtocol = {
  name: 'google',
  path: PATH,
  read,
  whole: (reply) => chunk(reply, [...(reply.text === '' ? [] : [{ text: reply.text }]), ...callParts(reply)], true),
  events,
  refusal: (status, message) => ({ error: { code: status, message, status: STATUS[status] ?? 'INTERNAL' } }),
};
