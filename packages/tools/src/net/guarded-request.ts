/**
 * One HTTP request whose address was chosen by a user: it connects only to an address that was checked (the name is resolved
 * once, so it cannot change between the check and the connection), follows no redirect, and ends at a bound of time and size.
 */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { type AddressGuard, AddressRefused } from './address-guard.ts';

export interface GuardedRequest {
  url: string;
  method: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  timeoutMs: number;
  /** Bytes of the answer that are taken. */
  maxBytes: number;
  /** What happens to a longer answer. Default: `refuse`. */
  longer?: 'refuse' | 'cut';
  signal?: AbortSignal;
}

export interface GuardedResponse {
  status: number;
  headers: Record<string, string>;
  /** Names in small letters; one that came more than once is there more than once. */
  headerList: [string, string][];
  body: Buffer;
}

export type RequestFault = 'address_refused' | 'timeout' | 'too_large' | 'aborted' | 'network';

/** Why there is no answer. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly fault: RequestFault;
  constructor(fault: RequestFault, message: string, cause?: unknown) {
    super(message, { cause });
    this.fault = fault;
  }
}

export async function guardedRequest(given: GuardedRequest, guard: AddressGuard): Promise<GuardedResponse> {
  const url = new URL(given.url);
  const ending = AbortSignal.any([AbortSignal.timeout(given.timeoutMs), ...(given.signal ? [given.signal] : [])]);
  try {
    return await exchange(url, given, await checkedLookup(url, guard, ending), ending);
  } catch (error) {
    throw asRequestError(error, given);
  }
}

/** Finds the addresses of a URL's host, which were checked, and no others. Throws {@link RequestError} and {@link AddressRefused}. */
export async function checkedLookup(url: URL, guard: AddressGuard, signal: AbortSignal): Promise<LookupFunction> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new RequestError('address_refused', `${url.protocol} addresses are not requested`);
  if (url.username || url.password) throw new RequestError('address_refused', 'an address with a user name in it is not requested');
  const addresses = await abortable(guard.addresses(url.hostname), signal);
  return (_host, options, done) => {
    const [first] = addresses;
    if (options.all) done(null, addresses);
    else done(null, first?.address ?? '', first?.family ?? 4);
  };
}

async function exchange(url: URL, { method, headers = {}, body, maxBytes, longer }: GuardedRequest, lookup: LookupFunction, signal: AbortSignal): Promise<GuardedResponse> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const request = send(url, { method, headers: { ...headers, ...lengthOf(body) }, agent: false, lookup, signal });
  const answered = answerTo(request);
  request.end(body);
  const response = await answered;
  const taken = await readBody(response, maxBytes, longer ?? 'refuse');
  return { status: response.statusCode ?? 0, headers: flat(response), headerList: listed(response), body: taken };
}

/** The head of the answer. A connection that becomes another protocol, or ends before it has answered, would tell nobody by itself. */
export function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const otherProtocol = (connection: { destroy(): void }) => {
      connection.destroy();
      reject(new RequestError('network', 'the answer is a change of protocol (status 101), which was not asked for'));
    };
    request.on('response', (response) => (response.statusCode === 101 ? otherProtocol(response) : resolve(response)));
    request.on('upgrade', (_, socket) => otherProtocol(socket));
    request.on('error', reject);
    request.on('close', () => reject(new RequestError('network', 'the connection was closed without an answer')));
  });
}

async function readBody(response: IncomingMessage, maxBytes: number, longer: 'refuse' | 'cut'): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    chunks.push(chunk);
    if (bytes <= maxBytes) continue;
    response.destroy();
    if (longer === 'refuse') throw new RequestError('too_large', `the answer is longer than ${maxBytes} bytes`);
    break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

function asRequestError(error: unknown, { timeoutMs, signal }: GuardedRequest): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof AddressRefused) return new RequestError('address_refused', error.message, error);
  if (signal?.aborted) return new RequestError('aborted', 'the request was given up', error);
  const { name, code, message } = error as Error & { code?: string };
  if (name === 'TimeoutError' || name === 'AbortError') return new RequestError('timeout', `no whole answer within ${timeoutMs} ms`, error);
  return new RequestError('network', code && !message.includes(code) ? `${code}: ${message}` : message || code || 'the connection failed', error);
}

function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}

const lengthOf = (body: string | Uint8Array | undefined) => (body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) });
const listed = ({ rawHeaders }: IncomingMessage) =>
  Array.from({ length: rawHeaders.length / 2 }, (_, i): [string, string] => [(rawHeaders[2 * i] ?? '').toLowerCase(), rawHeaders[2 * i + 1] ?? '']);
const flat = ({ headers }: IncomingMessage) => Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
