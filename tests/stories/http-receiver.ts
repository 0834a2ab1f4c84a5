/** A local HTTP server that keeps every request it gets, and answers as it is told. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
}
/** `never`: the request is taken, and there is no answer. */
export type Reply = { status: number; headers?: Record<string, string>; body?: string } | 'never';

export class HttpReceiver implements AsyncDisposable {
  readonly received: Received[] = [];
  readonly #server: Server;
  #heard = Promise.withResolvers<void>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(reply: (request: Received, number: number) => Reply = () => ({ status: 200 })): Promise<HttpReceiver> {
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { method = '', url = '', headers } = request;
      const one: Received = { method, path: url, headers, body: Buffer.concat(chunks).toString('utf8'), at: Date.now() };
      const number = receiver.received.push(one);
      const answer = reply(one, number);
      receiver.#heard.resolve();
      receiver.#heard = Promise.withResolvers();
      if (answer !== 'never') response.writeHead(answer.status, answer.headers).end(answer.body);
    });
    const receiver = new HttpReceiver(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async count(wanted: number): Promise<void> {
    while (this.received.length < wanted) await this.#heard.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
