/**
 * A model for tests: it replies by a script, and bills each idempotency key once, as a provider that honours them does. It lives
 * as long as its test, through all engines that ask it.
 */
import type { Model, ModelCallOptions, ModelReply, ModelRequest, Models } from '@fermata/protocol';

export type Scripted = string | (Partial<ModelReply> & { error?: Error });
export interface Asked {
  key: string;
  request: ModelRequest;
  options: ModelCallOptions;
}

export class BilledModel implements Model {
  readonly name = 'test/billed';
  /** Every request that reached it. */
  readonly asked: Asked[] = [];
  /** Replies that were paid for, by key. */
  readonly billed = new Map<string, ModelReply>();
  readonly #script: (request: ModelRequest, number: number) => Scripted | Promise<Scripted>;

  /** `script`: the reply to each new request, by the number of those before it. */
  constructor(script: readonly Scripted[] | ((request: ModelRequest, number: number) => Scripted | Promise<Scripted>)) {
    this.#script = typeof script === 'function' ? script : (_, number) => script[number] ?? { error: new Error(`the script has no reply ${number}`) };
  }

  async generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelReply> {
    this.asked.push({ key: options.idempotencyKey, request, options });
    const known = this.billed.get(options.idempotencyKey);
    if (known) return known;
    const scripted = await this.#script(request, this.billed.size);
    options.signal.throwIfAborted();
    const { error, ...told } = typeof scripted === 'string' ? { text: scripted, error: undefined } : scripted;
    if (error) throw error;
    const reply: ModelReply = { text: '', calls: [], finish: 'stop', model: 'billed-1', usage: { inputTokens: 100, outputTokens: 10, cost: 0.5 }, ...told };
    for (const text of reply.text.match(/[\s\S]{1,20}/g) ?? []) options.onText?.(text);
    this.billed.set(options.idempotencyKey, reply);
    return reply;
  }
}

export function only(model: Model): Models {
  return { defaultName: model.name, find: () => model };
}

export const js = (code: string) => `Here it is.\n\n\`\`\`javascript\n${code}\n\`\`\``;
export const python = (code: string) => `\`\`\`python\n${code}\n\`\`\``;
/** What the model was told last. */
export const last = ({ messages }: ModelRequest) => messages.at(-1)?.content ?? '';
