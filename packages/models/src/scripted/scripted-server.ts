/**
 * A model server for tests and demos: real HTTP on a loopback address, in the protocols of OpenAI, Mistral, Anthropic and Google, with
 * replies from a script. What reaches it otherwise than the script expects is answered with an error that says what is missing, and
 * kept: `check` and `close` throw it, so that a test fails whatever became of the error on its way.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FermataError } from '@fermata/protocol';
import { deliver, refuse } from './deliver.ts';
import type { Asked, Json, ModelProtocol } from './protocol.ts';
import { anthropic } from './protocols/anthropic.ts';
import { google } from './protocols/google.ts';
import { openaiChat } from './protocols/openai-chat.ts';
import { openaiResponses } from './protocols/openai-responses.ts';
import { checkScript, type Script, type ScriptedStep } from './script.ts';
import { type Billed, ScriptPlayer } from './script-player.ts';

export interface ServedRequest {
  protocol: ModelProtocol['name'];
  path: string;
  headers: IncomingHttpHeaders;
  body: Json;
  /** Of the body. */
  bytes: number;
  /** Its idempotency key. */
  key: string | undefined;
  /** The same, whichever protocol it came in. */
  asked: Asked;
  /** The step that it took, from 1. */
  step: number | undefined;
  /** `again`: the reply that was recorded under its key; `refused`: it was not what the script expects. */
  answer: 'reply' | 'again' | 'fault' | 'refused';
}

export interface ScriptedServer extends AsyncDisposable {
  /** Without a path: `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** In the order in which they came. */
  readonly requests: readonly ServedRequest[];
  readonly billed: Readonly<Billed>;
  readonly unmet: readonly string[];
  /** Throws where something that came was not as expected, or a step was not taken. */
  check(): void;
  /** Ends it. The first one to close it is told what was not as expected, by a rejection. */
  close(): Promise<void>;
}

const PROTOCOLS = [openaiChat, openaiResponses, anthropic, google];
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Serves a script, or the list of its steps. Throws `invalid_request` where it is wrong. */
export async function createScriptedServer(given: Script | ScriptedStep[], { port = 0 }: { port?: number } = {}): Promise<ScriptedServer> {
  const script = checkScript(given);
  const player = new ScriptPlayer(script);
  const requests: ServedRequest[] = [];
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      player.unmet.push(`a request of ${request.url} could not be served: ${error instanceof Error ? error.message : error}`);
      response.destroy();
    });
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').replace(/\?.*$/, '');
    if (request.method === 'GET' && /^(\/v1)?\/models$/.test(path)) {
      const data = (script.models ?? ['scripted']).map((id) => ({ id, object: 'model', type: 'model', created: 0, owned_by: 'scripted', display_name: id }));
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ object: 'list', data, has_more: false }));
    }
    const protocol = PROTOCOLS.find((candidate) => request.method === 'POST' && candidate.path.test(path));
    if (!protocol) return refuse(response, openaiChat, 404, `there is no ${request.method} ${path} here`);
    const text = await bodyOf(request);
    const body: Json = JSON.parse(text);
    const asked = protocol.read(body, path);
    const { headers } = request;
    const key = headers['idempotency-key'] === undefined ? undefined : String(headers['idempotency-key']);
    const answer = player.answer({ asked, headers, body: text, key });
    requests.push({
      ...{ protocol: protocol.name, path, headers, body, bytes: Buffer.byteLength(text), key, asked },
      step: 'step' in answer ? answer.step : undefined,
      answer: 'refused' in answer ? 'refused' : answer.again ? 'again' : 'fault' in answer ? 'fault' : 'reply',
    });
    if ('refused' in answer) return refuse(response, protocol, 400, `the scripted model: ${answer.refused}`);
    const { delayMs = 0, pieceDelayMs = 0 } = player.stepOf(answer) ?? {};
    return deliver(response, { protocol, body, stream: asked.stream, ...answer, delayMs, pieceDelayMs });
  }

  const failIf = (wrong: string[]) => {
    if (wrong.length > 0) throw new FermataError('model_error', `what reached the scripted model is not what its script expects:\n${wrong.join('\n')}`);
  };
  let closed = false;
  async function close(): Promise<void> {
    if (closed) return;
    closed = true;
    const ended = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await ended;
    failIf(player.unmet);
  }

  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ requests, billed: player.billed, unmet: player.unmet, close },
    check: () => failIf([...player.unmet, ...player.leftOver.map((step) => `step ${step} was not taken`)]),
    [Symbol.asyncDispose]: close,
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) throw new Error('its body is too large');
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}
