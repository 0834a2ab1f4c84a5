/** Server-sent events out of the bytes of an answer. */
export interface ServerEvent {
  /** Of this event, or the last one before it that had one. */
  id: string;
  event: string;
  data: string;
}

export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
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
    await reader.cancel().catch(() => {});
  }
}
