/**
 * The network of a program: two tools, by which `fetch`, `urllib.request` and `requests` in the machine ask for a URL.
 *
 * Every request is a call like any other: judged by policy, journaled, and answered from the journal when a task is run again.
 * Reading is idempotent, everything else is not, so that it is never repeated unnoticed. What is reached must be named by the
 * rules and be a public address, or one that the configuration allows besides; the name is resolved once, and the connection goes
 * to the address that was checked. Redirects are the program's to follow, by a request of their own.
 */
import type { ValueRecord } from '@fermata/protocol';
import { OF_THE_CONNECTION } from '../sources/secret-headers.ts';
import { defineTool, type Tool, type ToolCallInfo, ToolError } from '../tool.ts';
import { type AddressGuard, type AddressGuardOptions, createAddressGuard } from './address-guard.ts';
import { type GuardedResponse, guardedRequest, RequestError, type RequestFault } from './guarded-request.ts';
import { type HostRules, hostRules } from './host-rules.ts';

export const NETWORK_GET = 'network.get';
export const NETWORK_SEND = 'network.send';

/** A header that the host adds to requests to some hosts, so that the program never sees its value. */
export interface AddedHeader {
  /** As in {@link NetworkOptions.hosts}. It is sent over https alone, and over http to those that begin with `http://`. */
  hosts: readonly string[];
  name: string;
  /** Asked at each request. */
  value: () => string | undefined | Promise<string | undefined>;
}

export interface NetworkOptions {
  /** Host names, `*.` wildcards, addresses and CIDRs, each with an optional port; `true`: all that are public. */
  hosts: readonly string[] | true;
  /** Of one request, in milliseconds. Default: 30,000. A program may ask for less. */
  timeoutMs?: number;
  /** Bytes of an answer's body that are taken; a longer one is refused. Default: 16 MiB. */
  maxBytes?: number;
  /** Besides public addresses. */
  network?: AddressGuardOptions;
  /** Addresses that `hosts` says, and `localhost`, may be private: whoever has written them may reach them anyway. */
  trustHosts?: boolean;
  headers?: readonly AddedHeader[];
}

const MiB = 1024 * 1024;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const FAULTS: Record<RequestFault, string> = {
  address_refused: 'NetworkDenied',
  timeout: 'NetworkTimeout',
  too_large: 'NetworkError',
  aborted: 'NetworkError',
  network: 'NetworkError',
};

interface Asked {
  url: string;
  method: string;
  headers?: [string, string][];
  body?: string | Uint8Array;
  timeout_ms?: number;
}

const parametersOf = (methods: readonly string[]) => ({
  type: 'object',
  properties: {
    url: { type: 'string' },
    method: { type: 'string', enum: methods },
    headers: { type: 'array', items: { type: 'array', items: { type: 'string' } } },
    body: {},
    timeout_ms: { type: 'number' },
  },
  required: ['url', 'method'],
});

/** Throws `invalid_request` for a rule that cannot be understood. */
export function networkTools(options: NetworkOptions): Tool[] {
  const { hosts, timeoutMs = 30_000, maxBytes = 16 * MiB } = options;
  const guard = createAddressGuard(options.network);
  const anywhere = createAddressGuard({ allowPrivate: true });
  const rules = hosts === true ? undefined : hostRules(hosts);
  const added = (options.headers ?? []).map((header) => ({ ...header, goesTo: goesTo(header.hosts) }));
  const execute = async (args: ValueRecord, { signal, spent }: ToolCallInfo) => {
    const asked = args as unknown as Asked;
    const url = allowed(asked.url, rules);
    const headers = { ...headersOf(asked.headers ?? []), ...(await addedTo(url, added)) };
    const request = {
      ...{ url: url.href, method: asked.method, headers, maxBytes, signal },
      timeoutMs: Math.max(1, Math.min(asked.timeout_ms ?? timeoutMs, timeoutMs)),
      ...(asked.body === undefined || asked.body === null ? {} : { body: bodyOf(asked.body) }),
    };
    const answer = await requested(request, options.trustHosts && rules?.namesPlace(url) ? anywhere : guard);
    spent?.({ networkBytes: Buffer.byteLength(request.body ?? '') + answer.body.length });
    return answered(answer, url);
  };
  const tool = (name: string, description: string, methods: readonly string[], idempotent: boolean): Tool => {
    const made = defineTool({ name, description, parameters: parametersOf(methods), idempotent, execute: execute as never });
    const check = (args: ValueRecord) => {
      made.check(args);
      return judged(args);
    };
    return { ...made, check, judged };
  };
  return [
    tool(NETWORK_GET, 'Asks for a URL, as fetch does', ['GET', 'HEAD', 'OPTIONS'], true),
    tool(NETWORK_SEND, 'Sends something to a URL, as fetch does', ['POST', 'PUT', 'PATCH', 'DELETE'], false),
  ];
}

/**
 * What a person approves and the journal keeps must read as what is asked for, so an address that is taken for another once it
 * is understood is refused: dots that lead up, backslashes, and characters that are dropped. Rules see the one that is asked for.
 */
function judged(args: ValueRecord): ValueRecord {
  const text = String(args.url);
  const url = URL.parse(text);
  if (!url) return args;
  const [, path = ''] = /^[a-z]+:\/\/[^/?#]*([^?#]*)/i.exec(text) ?? [];
  if (/[\\\p{Cc}]|^\s|\s$/u.test(text) || path.split('/').some((part) => /^(\.|%2e){1,2}$/i.test(part))) {
    throw new ToolError(`the address ${JSON.stringify(text.slice(0, 200))} is not in its plain form: ask for ${url.href.slice(0, 300)}`, { name: 'NetworkError' });
  }
  return { ...args, url: url.href };
}

function allowed(text: string, rules: HostRules | undefined): URL {
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) throw denied(`${text.slice(0, 200)} is not an http or https address`);
  if (rules && !rules.allows(url)) throw denied(`this task may not reach ${url.host}: its network_access does not name it`);
  return url;
}

async function requested(request: Parameters<typeof guardedRequest>[0], guard: AddressGuard): Promise<GuardedResponse> {
  try {
    return await guardedRequest(request, guard);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    throw new ToolError(`${request.method} ${request.url.slice(0, 200)}: ${error.message}`, { name: FAULTS[error.fault] });
  }
}

function answered({ status, headerList, body }: GuardedResponse, url: URL) {
  return { url: url.href, status, headers: headerList, body: new Uint8Array(body) };
}

function headersOf(given: readonly [string, string][]): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (const [name = '', value = ''] of given) {
    const key = name.toLowerCase();
    if (!HEADER_NAME.test(name)) throw new ToolError(`${JSON.stringify(name)} cannot be the name of a header`, { name: 'NetworkError' });
    if (/[\r\n\0]/.test(value)) throw new ToolError(`the header ${name} has a line break in it`, { name: 'NetworkError' });
    if (!OF_THE_CONNECTION.has(key)) headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`;
  }
  return { 'user-agent': 'fermata', accept: '*/*', ...headers };
}

/** Where a header goes: whoever reads along must not learn it, unless its rule says so. */
function goesTo(hosts: readonly string[]): (url: URL) => boolean {
  const rules = hosts.map((given) => {
    const [, scheme = 'https', host = given] = /^(https?):\/\/(.*)$/i.exec(given) ?? [];
    return { protocol: `${scheme.toLowerCase()}:`, host: hostRules([host]) };
  });
  return (url) => rules.some(({ protocol, host }) => protocol === url.protocol && host.allows(url));
}

async function addedTo(url: URL, added: readonly (AddedHeader & { goesTo: (url: URL) => boolean })[]): Promise<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const { name, value, goesTo } of added) {
    if (!goesTo(url)) continue;
    const found = await value();
    if (found === undefined) throw new ToolError(`the host has no value for the header ${name} of ${url.host}`, { name: 'SecretMissing' });
    headers[name.toLowerCase()] = found;
  }
  return headers;
}

function bodyOf(body: unknown): string | Uint8Array {
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  throw new ToolError('the body of a request is a text or bytes', { name: 'NetworkError' });
}

function denied(message: string): ToolError {
  return new ToolError(message, { name: 'NetworkDenied' });
}
