/** The endpoint over the real engine, two tenants that use it by the official client, and a scripted model that writes the program a question names. */
import { createScriptedServer, type ScriptedServer, type ScriptedStep } from '@fermata/models/scripted';
import { createKeyStore, createServer, type FermataServer } from '@fermata/server';
import { type OpenEngine, openEngine } from 'fermata';
import OpenAI from 'openai';

export interface ChatWorld extends AsyncDisposable {
  client: OpenAI;
  foreign: OpenAI;
  key: string;
  url: string;
  opened: OpenEngine;
  model: ScriptedServer;
}

/** A program for questions that have the word in parentheses. */
export const writes = (word: string, code: string): ScriptedStep => ({
  when: { has: [`(${word})`], functions: ['run_program'] },
  times: 'any',
  reply: { program: { language: 'javascript', code } },
});
/** The answer cites the result. */
const tells: ScriptedStep = { when: 'Now answer the user.', times: 'any', reply: ({ messages }) => `It is ${/as JSON:\n(.*)/.exec(messages.at(-1)?.text ?? '')?.[1]}.` };

export async function chatWorld(
  steps: ScriptedStep[],
  options: Partial<Parameters<typeof createServer>[0]> = {},
  engineOptions: Parameters<typeof openEngine>[0] = {},
): Promise<ChatWorld> {
  const model = await createScriptedServer([...steps, tells]);
  const opened = await openEngine({ models: { default: 'local/writer', providers: { local: { baseUrl: `${model.url}/v1` } } }, ...engineOptions });
  const { engine, store, registry, policy, models, close } = opened;
  const server: FermataServer = createServer({ engine, store, tools: registry, policy, close, models, ...options });
  const url = await server.listen({ port: 0 });
  const keys = createKeyStore(store);
  const [{ key }, { key: foreignKey }] = [await keys.create({ tenant: 'ours', scopes: ['run', 'read'] }), await keys.create({ tenant: 'theirs', scopes: ['run', 'read'] })];
  const clientOf = (apiKey: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
  const dispose = async () => {
    await server.close({ drainMs: 0 });
    await model.close();
  };
  return { client: clientOf(key), foreign: clientOf(foreignKey), key, url, opened, model, [Symbol.asyncDispose]: dispose };
}

const functionTool = (name: string): OpenAI.ChatCompletionTool => ({
  type: 'function',
  function: { name, description: `Does ${name}`, parameters: { type: 'object', properties: { x: {} } } },
});
export const TOOLS = ['first', 'second', 'third', 'pay'].map(functionTool);

/** A conversation with one question. */
export class Chat {
  readonly messages: OpenAI.ChatCompletionMessageParam[];
  readonly #client: OpenAI;

  constructor(client: OpenAI, question: string) {
    this.#client = client;
    this.messages = [{ role: 'user', content: question }];
  }

  /** The same messages by another client. */
  by(client: OpenAI): Chat {
    return this.with([], client);
  }
  /** With these messages more. */
  with(more: OpenAI.ChatCompletionMessageParam[], client = this.#client): Chat {
    const chat = new Chat(client, '');
    chat.messages.splice(0, 1, ...this.messages, ...more);
    return chat;
  }
  /** The answer, and the calls in it. */
  async ask(
    more: object = {},
    headers: Record<string, string> = {},
  ): Promise<{ completion: OpenAI.ChatCompletion; calls: { id: string; name: string; args: { x?: unknown } }[]; text: string | null; taskId: string | null; next: Chat }> {
    const asked = this.#client.chat.completions.create({ model: 'writer', messages: this.messages, tools: TOOLS, ...more } as OpenAI.ChatCompletionCreateParamsNonStreaming, {
      headers,
    });
    const { data: completion, response } = await asked.withResponse();
    const message = completion.choices[0]?.message as OpenAI.ChatCompletionMessage;
    const calls = (message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function' ? [{ id: call.id, name: call.function.name, args: JSON.parse(call.function.arguments) }] : [],
    );
    return { completion, calls, text: message.content, taskId: response.headers.get('fermata-task-id'), next: this.with([message]) };
  }
}

export const result = (id: string, content: unknown): OpenAI.ChatCompletionToolMessageParam => ({
  role: 'tool',
  tool_call_id: id,
  content: typeof content === 'string' ? content : JSON.stringify(content),
});
