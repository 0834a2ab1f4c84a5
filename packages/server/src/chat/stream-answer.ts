/**
 * An answer as OpenAI's clients take it while it is made: server-sent events, with comments in between so that nothing on the way
 * takes the connection for dead. What goes wrong after the beginning is told as an event with an error, which they throw.
 */
import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { ServerContext } from '../server-options.ts';
import { type ChatAnswer, CompletionChunks, type CompletionHead } from './completion.ts';
import { isOurFault, openaiError } from './openai-error.ts';
import { StreamedText } from './streamed-text.ts';

export interface AnswerTelling {
  signal: AbortSignal;
  onText: (text: string) => void;
  onRestart: () => void;
}

export interface StreamOptions {
  head: CompletionHead;
  stops: readonly string[];
  withUsage: boolean;
  /** Makes the answer; told text of it on the way, of which nothing is told twice. `signal` aborts when the client has gone. */
  answer: (telling: AnswerTelling) => Promise<ChatAnswer>;
  onEnd: () => void;
}

export function streamAnswer(c: Context, { heartbeatMs, onError }: ServerContext, { head, stops, withUsage, answer, onEnd }: StreamOptions): Response {
  const gone = new AbortController();
  const chunks = new CompletionChunks(head, withUsage);
  const text = new StreamedText(stops);
  c.header('X-Accel-Buffering', 'no');
  return streamSSE(c, async (stream) => {
    stream.onAbort(() => gone.abort());
    let written: Promise<unknown> = Promise.resolve();
    const write = (...events: string[]) => {
      for (const data of events) written = written.then(() => stream.writeSSE({ data }));
    };
    const tell = (more: string) => {
      if (more !== '') write(chunks.text(more));
    };
    const beat = setInterval(() => {
      written = written.then(() => stream.write(': it goes on\n\n'));
    }, heartbeatMs);
    try {
      write(chunks.begin());
      const made = await answer({ signal: gone.signal, onText: (piece) => tell(text.push(piece)), onRestart: () => text.restart() });
      tell(text.end(made.text ?? ''));
      for (const [index, call] of made.toolCalls.entries()) write(...chunks.call(call, index));
      write(...chunks.end(made.finish, made.usage));
    } catch (error) {
      if (isOurFault(error)) onError(error, 'a chat');
      write(JSON.stringify(openaiError(error).body));
    } finally {
      clearInterval(beat);
      await written.catch(() => {});
      onEnd();
    }
  });
}
