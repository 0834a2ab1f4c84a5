/**
 * The contract of a language model: it is given messages, and replies once. It keeps nothing between two requests, and whoever
 * asks writes down what it has replied, so that no reply is paid for twice.
 */
export type ModelRole = 'system' | 'user' | 'assistant';

export interface ModelMessage {
  role: ModelRole;
  content: string;
}

/** A function that the model may call in place of replying with text; what comes of it is not told to the model by itself. */
export interface ModelFunction {
  name: string;
  description: string;
  /** JSON Schema of an object. */
  parameters: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  messages: readonly ModelMessage[];
  functions?: readonly ModelFunction[];
  /** Of the reply. */
  maxTokens?: number;
}

export interface ModelCallOptions {
  signal: AbortSignal;
  /** The same whenever the same request is made again, as after a crash: a provider that knows of such keys bills it once. */
  idempotencyKey: string;
  /** Told the text of the reply as it comes. A try that fails after some text begins again: `onRestart` takes back what was told. */
  onText?: (text: string) => void;
  onRestart?: () => void;
}

/** What was billed. */
export interface ModelUsage {
  inputTokens: number;
  outputTokens: number;
  /** US dollars; absent where no price is configured. */
  cost?: number;
}

export interface ModelReply {
  text: string;
  /** Calls of the request's functions. */
  calls: readonly { name: string; arguments: unknown }[];
  /** `length`: it was cut at `maxTokens`. */
  finish: 'stop' | 'length' | 'filter' | 'other';
  /** As the provider names what has replied. */
  model: string;
  usage: ModelUsage;
}

export interface Model {
  /** `<provider>/<model>`, as a task asks for it. */
  readonly name: string;
  /**
   * Tries again by itself where the provider is overloaded, limits rates, or the connection breaks, for as long as it is configured to.
   * Rejects with `model_error`: what failed, and what to do about it.
   */
  generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelReply>;
}

/** The models that a deployment has. */
export interface Models {
  /** What a task gets that names none; undefined where none is configured. */
  readonly defaultName: string | undefined;
  /** Full names of those that the configuration names. Others may be had as well. */
  readonly known?: readonly string[];
  /** Throws `model_error` for a name that cannot be had, with what to configure. */
  find(name: string): Model;
}
