/** A server's socket for clients that cannot send a key: it is added to their requests, which are passed on as they are otherwise, but for the protocol's version where one is given. */

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';

export interface WithKey {
  url: string;
  close(): Promise<void>;
}

export async function listenWithKey(fetch: (request: Request) => Response | Promise<Response>, key: string, version?: string): Promise<WithKey> {
  const withKey = (request: Request) => {
    const headers = new Headers(request.headers);
    headers.set('authorization', `Bearer ${key}`);
    if (version !== undefined && headers.has('mcp-protocol-version')) headers.set('mcp-protocol-version', version);
    return fetch(new Request(request, { headers }));
  };
  const server = createAdaptorServer({ fetch: withKey }) as Server;
  await new Promise<void>((listening) => server.listen({ host: '127.0.0.1', port: 0 }, listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
