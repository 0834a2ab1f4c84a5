/**
 * The newest messages to one client, so that a stream that was cut off goes on (`Last-Event-ID`). They are in memory and bounded: who
 * comes too late is told so, and asks for its tasks instead, which are kept.
 */
import type { EventStore } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

interface Kept {
  id: string;
  streamId: string;
  message: JSONRPCMessage;
  chars: number;
}

export interface RecentEventsOptions {
  maxEvents?: number;
  /** Of all messages as JSON. The newest one is kept, however large. */
  maxChars?: number;
}

export class RecentEvents implements EventStore {
  readonly #maxEvents: number;
  readonly #maxChars: number;
  readonly #kept: Kept[] = [];
  #chars = 0;
  #count = 0;

  constructor({ maxEvents = 500, maxChars = 1024 * 1024 }: RecentEventsOptions = {}) {
    this.#maxEvents = maxEvents;
    this.#maxChars = maxChars;
  }

  async storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    const id = String(++this.#count);
    const chars = JSON.stringify(message).length;
    this.#kept.push({ id, streamId, message, chars });
    this.#chars += chars;
    while (this.#kept.length > 1 && (this.#kept.length > this.#maxEvents || this.#chars > this.#maxChars)) this.#chars -= this.#kept.shift()?.chars ?? 0;
    return id;
  }

  async getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    return this.#kept.find(({ id }) => id === eventId)?.streamId;
  }

  async replayEventsAfter(lastEventId: string, { send }: { send: (eventId: string, message: JSONRPCMessage) => Promise<void> }): Promise<string> {
    const at = this.#kept.findIndex(({ id }) => id === lastEventId);
    const { streamId = '' } = this.#kept[at] ?? {};
    for (const event of this.#kept.slice(at + 1)) {
      // The first event of a stream only gives it an id.
      if (event.streamId === streamId && 'jsonrpc' in event.message) await send(event.id, event.message);
    }
    return streamId;
  }
}
