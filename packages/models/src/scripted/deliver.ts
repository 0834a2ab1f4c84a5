/** Sends what a script says over HTTP: a reply at once or in pieces, or what goes wrong with it. */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json, ModelProtocol, Reply } from './protocol.ts';
import type { ScriptedFault } from './script.ts';

export interface Delivery {
  protocol: ModelProtocol;
  body: Json;
  stream: boolean;
  reply?: Reply;
  fault?: ScriptedFault;
  delayMs?: number;
  pieceDelayMs?: number;
}

const EVENT_STREAM = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
const JSON_TYPE = { 'content-type': 'application/json' };

/** Resolves when all is sent, or nobody is there any more. */
export async function deliver(response: ServerResponse, { protocol, body, stream, reply, fault, delayMs = 0, pieceDelayMs = 0 }: Delivery): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const wait = (ms: number) => (ms > 0 ? sleep(ms, undefined, { signal: gone.signal, ref: false }).catch(() => {}) : undefined);
  await wait(delayMs);
  if (gone.signal.aborted || (fault && 'hang' in fault)) return;
  if (fault && 'status' in fault) return refuse(response, protocol, fault.status, fault.message ?? `a scripted ${fault.status}`, fault.headers);
  if (fault && 'empty' in fault) return void response.writeHead(200, stream ? EVENT_STREAM : JSON_TYPE).end();
  if (fault && 'garbage' in fault) return void response.writeHead(200, stream ? EVENT_STREAM : JSON_TYPE).end(`${stream ? 'data: ' : ''}{"choices": [what\n\n`);
  if (!reply) return;
  if (!stream) return sendWhole(response, JSON.stringify(protocol.whole(reply)), fault);
  response.writeHead(200, EVENT_STREAM);
  const events = protocol.events(reply, body);
  for (const event of fault ? events.slice(0, Math.floor(events.length * fault.cut)) : events) {
    if (gone.signal.aborted) return;
    response.write(event);
    await wait(pieceDelayMs);
  }
  end(response, fault);
}

export function refuse(response: ServerResponse, protocol: ModelProtocol, status: number, message: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { ...JSON_TYPE, ...headers }).end(JSON.stringify(protocol.refusal(status, message)));
}

type Cut = Extract<ScriptedFault, { cut: number }>;

function sendWhole(response: ServerResponse, text: string, cut: Cut | undefined): void {
  const bytes = Buffer.from(text);
  response.writeHead(200, cut?.clean ? JSON_TYPE : { ...JSON_TYPE, 'content-length': bytes.length });
  response.write(cut ? bytes.subarray(0, Math.floor(bytes.length * cut.cut)) : bytes);
  end(response, cut);
}

function end(response: ServerResponse, cut: Cut | undefined): void {
  if (!cut || cut.clean) return void response.end();
  // What was written goes out first: half a reply is the point of it.
  const socket = response.socket;
  response.write('', () => socket?.destroySoon());
}
