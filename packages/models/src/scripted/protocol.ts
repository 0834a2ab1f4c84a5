/** What the protocols of the providers have in common for a scripted model: a request as it is read, and a reply as it is written. */

export interface AskedMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  text: string;
  /** Of an assistant's message. */
  calls: { id: string; name: string; arguments: unknown }[];
  /** The call whose result a message of a tool is. */
  callId?: string;
}

/** What reached the model. */
export interface Asked {
  model: string;
  stream: boolean;
  messages: AskedMessage[];
  functions: { name: string; description: string; parameters: unknown }[];
  maxTokens: number | undefined;
}

/** What the model says, whichever protocol it is said in. */
export interface Reply {
  /** From 1, of the replies that were made. */
  number: number;
  model: string;
  text: string;
  calls: { id: string; name: string; arguments: unknown }[];
  finish: 'stop' | 'length' | 'filter';
  usage: { inputTokens: number; outputTokens: number };
}

// biome-ignore lint/suspicious/noExplicitAny: what clients send is read leniently, as by a provider
export type Json = any;

export interface ModelProtocol {
  name: 'openai-chat' | 'openai-responses' | 'anthropic' | 'google';
  /** Of its requests, which are all POST. */
  path: RegExp;
  read(body: Json, path: string): Asked;
  /** The body of a reply that is not streamed. */
  whole(reply: Reply): unknown;
  /** The events of a stream, as they go over the wire. */
  events(reply: Reply, body: Json): string[];
  refusal(status: number, message: string): unknown;
}

/** The text of a content that is a text, or a list of parts of which some have one. */
export function textOf(content: Json): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return content === null || content === undefined ? '' : JSON.stringify(content);
  return content.map((part: Json) => (typeof part === 'string' ? part : (part.text ?? (part.content === undefined ? '' : textOf(part.content))))).join('');
}

/** Arguments as they were meant, or the text that should have been JSON. */
export function parsedArguments(text: Json): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : text;
  } catch {
    return text;
  }
}

const PIECE = 20;

/** A text as a model tells it, piece by piece. */
export function pieces(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; ) {
    // Between the two halves of a character outside of the BMP nothing is cut.
    const end = /[\ud800-\udbff]/.test(text[at + PIECE - 1] ?? '') ? at + PIECE + 1 : at + PIECE;
    found.push(text.slice(at, end));
    at = end;
  }
  return found;
}

export function serverSentEvent(data: unknown, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

export const CREATED_S = 1_700_000_000;
