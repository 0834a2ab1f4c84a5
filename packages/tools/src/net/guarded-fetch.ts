/**
 * `fetch` for addresses that users chose: it connects only to an address that was checked, follows no redirect, and streams the
 * answer. A message of it - the whole of it, or a line of an event stream - has a bound.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressGuard } from './address-guard.ts';
import { answerTo, checkedLookup } from './guarded-request.ts';

const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const LINE_FEED = 10;

/** Bodies are texts, or the fields of a form. */
export function guardedFetch(guard: AddressGuard): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (given, { method = 'GET', headers, body, signal } = {}) => {
    const url = new URL(given);
    const ending = signal ?? new AbortController().signal;
    ending.throwIfAborted();
    const lookup = await checkedLookup(url, guard, ending);
    const sent = typeof body === 'string' || body instanceof URLSearchParams ? String(body) : undefined;
    const told = { ...Object.fromEntries(new Headers(headers)), ...(sent === undefined ? {} : { 'content-length': String(Buffer.byteLength(sent)) }) };
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send(url, { method, headers: told, agent: false, lookup, signal: ending });
    const answered = answerTo(request);
    request.end(sent);
    return answerOf(await answered);
  };
}

function answerOf(message: IncomingMessage): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headers)) for (const one of [value].flat()) if (one !== undefined) headers.append(name, one);
  const status = message.statusCode ?? 502;
  if ([204, 205, 304].includes(status)) {
    message.resume();
    return new Response(null, { status, headers });
  }
  return new Response(bodyOf(message, headers.get('content-type')?.startsWith('text/event-stream') ?? false), { status, headers });
}

function bodyOf(message: IncomingMessage, isStream: boolean): ReadableStream<Uint8Array> {
  const chunks = (message as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  let bytes = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value: chunk, done } = await chunks.next();
      if (done) return controller.close();
      const end = isStream ? chunk.lastIndexOf(LINE_FEED) : -1;
      bytes = end < 0 ? bytes + chunk.length : chunk.length - end - 1;
      if (bytes > MAX_MESSAGE_BYTES) {
        message.destroy();
        throw new Error(`a message is longer than ${MAX_MESSAGE_BYTES} bytes`);
      }
      controller.enqueue(new Uint8Array(chunk));
    },
    cancel() {
      message.destroy();
    },
  });
}
