/** Server-sent events out of the bytes of an answer. */
export interface ServerEvent {
  /** Of this event, or the last one before it that had one. */
  id: string;
  event: string;
  data: string;
}

/** Ends when the signal aborts, also where the stream itself knows nothing of it: that of a server in the same process. */
export async function* readEvents(body: ReadableStream<Uint8Array>, signal?: AbortSignal): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const stop = () => void reader.cancel().catch(() => {});
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop, { once: true });
  const decoder = new TextDecoder();
  let [text, id, event, data] = ['', '', '', [] as string[]];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const lines = text.split(/\r\n|\n|\r(?!$)/);
      text = lines.pop() ?? '';
      for (const line of lines) {
        if (line === '') {
          if (data.length > 0) yield { id, event: event || 'message', data: data.join('\n') };
          [event, data] = ['', []];
          continue;
        }
        const [, field = '', content = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
        if (field === 'id') id = content;
        else if (field === 'event') event = content;
        else if (field === 'data') data.push(content);
      }
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    await reader.cancel().catch(() => {});
  }
}
