/** `fetch` over a local socket. */
import { request } from 'node:http';
import { Readable } from 'node:stream';

/** The host in the address has no meaning; only its path is used. */
export const LOCAL_URL = 'http://fermata.local';

export function socketFetch(socketPath: string): typeof globalThis.fetch {
  return (input, init = {}) =>
    new Promise((resolve, reject) => {
      const { pathname, search } = new URL(String(input));
      const { method = 'GET', signal, body } = init;
      const sent = request({ socketPath, path: `${pathname}${search}`, method, headers: Object.fromEntries(new Headers(init.headers)), ...(signal ? { signal } : {}) });
      sent.on('error', reject);
      sent.on('response', (answer) => {
        const status = answer.statusCode ?? 500;
        const empty = status === 204 || status === 304;
        if (empty) answer.resume();
        const headers = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) => values.map((value): [string, string] => [name, value]));
        resolve(new Response(empty ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>), { status, headers }));
      });
      sent.end(body as string | Uint8Array | undefined);
    });
}
