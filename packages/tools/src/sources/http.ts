/**
 * Tools that are an HTTP endpoint: arguments go into the path, the query or a JSON body, and the answer is the result.
 *
 * Secrets are named in a definition and added here, so that no program sees them. Only public addresses are reached, unless
 * the configuration says otherwise; a redirect is followed on the same host only, and only for reading.
 */
import { FermataError, toWire, type Value, type ValueRecord } from '@fermata/protocol';
import type { HttpToolSpec } from '@fermata/protocol/wire';
import { type AddressGuard, createAddressGuard } from '../net/address-guard.ts';
import { type GuardedResponse, guardedRequest, RequestError, type RequestFault } from '../net/guarded-request.ts';
import { defineTool, type Tool, type ToolCallInfo, ToolError } from '../tool.ts';
import { foreignParameters } from './foreign-parameters.ts';

export interface HttpToolContext {
  guard?: AddressGuard;
  /** The value of a secret that a definition names. */
  secret?: (name: string) => string | undefined | Promise<string | undefined>;
}

const MAX_REDIRECTS = 3;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const OURS = new Set(['host', 'content-length', 'transfer-encoding', 'connection', 'upgrade', 'te', 'trailer', 'expect', 'keep-alive', 'proxy-authorization']);
const FAULTS: Record<RequestFault, string> = {
  address_refused: 'AddressRefused',
  timeout: 'Timeout',
  too_large: 'ResponseTooLarge',
  aborted: 'Aborted',
  network: 'NetworkError',
};

/** Throws `invalid_request` where the definition cannot work. */
export function httpTool(spec: HttpToolSpec, context: HttpToolContext = {}): Tool {
  checkSpec(spec);
  const guard = context.guard ?? createAddressGuard();
  return defineTool({
    name: spec.name,
    description: spec.description ?? '',
    parameters: foreignParameters(spec),
    idempotent: spec.idempotent ?? ['GET', 'PUT', 'DELETE'].includes(spec.method),
    requiresApproval: spec.requires_approval ?? false,
    execute: async (args: ValueRecord, info: ToolCallInfo) => resultOf(spec, await ask(spec, args, info, guard, context)),
  });
}

async function ask(spec: HttpToolSpec, args: ValueRecord, info: ToolCallInfo, guard: AddressGuard, context: HttpToolContext): Promise<GuardedResponse> {
  const { url, rest } = placeInPath(spec, args);
  const headers: Record<string, string> = { accept: 'application/json, text/*;q=0.9, */*;q=0.1', 'user-agent': 'fermata', ...(await headersOf(spec, context)) };
  let body: string | undefined;
  if (placement(spec) === 'query') addQuery(url, rest);
  else {
    body = JSON.stringify(toWire(rest));
    headers['content-type'] ??= 'application/json';
  }
  if (spec.method !== 'GET') headers['idempotency-key'] ??= info.idempotencyKey;
  const request = { method: spec.method, headers, timeoutMs: spec.timeout_seconds * 1000, maxBytes: spec.max_response_bytes, signal: info.signal };
  try {
    return await follow(url, { ...request, ...(body === undefined ? {} : { body }) }, guard);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    throw new ToolError(`${spec.name}: ${error.message}`, { name: FAULTS[error.fault] });
  }
}

async function follow(start: URL, request: Omit<Parameters<typeof guardedRequest>[0], 'url'>, guard: AddressGuard): Promise<GuardedResponse> {
  let url = start;
  for (let redirects = 0; ; redirects++) {
    const response = await guardedRequest({ ...request, url: url.href }, guard);
    const location = response.headers.location;
    if (![301, 302, 303, 307, 308].includes(response.status) || location === undefined) return response;
    const next = URL.parse(location, url.href);
    if (request.method !== 'GET') throw new RequestError('address_refused', 'the answer is a redirect, which is followed for GET only');
    if (next?.origin !== url.origin) throw new RequestError('address_refused', 'the answer is a redirect to another host, which is not followed');
    if (redirects >= MAX_REDIRECTS) throw new RequestError('address_refused', `more than ${MAX_REDIRECTS} redirects`);
    url = next;
  }
}

function resultOf(spec: HttpToolSpec, { status, headers, body }: GuardedResponse): Value {
  const text = () => body.toString('utf8');
  const type = headers['content-type'] ?? '';
  if (status < 200 || status > 299) {
    throw new ToolError(`${spec.name}: the service answered ${status}`, { name: 'HttpError', data: { status, body: text().slice(0, 4000) } });
  }
  if (body.length === 0) return null;
  if (/^application\/([^;]*\+)?json\b/i.test(type)) {
    try {
      return JSON.parse(text()) as Value;
    } catch {
      throw new ToolError(`${spec.name}: the service answered with JSON that cannot be read`, { name: 'HttpError', data: { status, body: text().slice(0, 4000) } });
    }
  }
  return /^(text\/|application\/(xml|javascript|x-www-form-urlencoded))/i.test(type) || type === '' ? text() : new Uint8Array(body);
}

function placeInPath(spec: HttpToolSpec, args: ValueRecord): { url: URL; rest: ValueRecord } {
  const rest = { ...args };
  const url = new URL(spec.url);
  url.pathname = pathOf(url).replace(/\{([^{}/]+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint' && typeof value !== 'boolean') {
      throw new ToolError(`${spec.name}: ${name} goes into the address and must be a string or a number`, { name: 'InvalidArguments', data: { path: name } });
    }
    if (/^\.{0,2}$/.test(String(value))) throw new ToolError(`${spec.name}: ${name} cannot go into the address`, { name: 'InvalidArguments', data: { path: name } });
    return encodeURIComponent(String(value));
  });
  return { url, rest };
}

function addQuery(url: URL, args: ValueRecord): void {
  for (const [name, value] of Object.entries(args)) {
    if (value === undefined || value === null) continue;
    for (const item of Array.isArray(value) ? value : [value]) url.searchParams.append(name, typeof item === 'object' ? JSON.stringify(toWire(item)) : String(item));
  }
}

async function headersOf(spec: HttpToolSpec, { secret }: HttpToolContext): Promise<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(spec.headers ?? {})) {
    if (typeof value === 'string') {
      headers[name.toLowerCase()] = value;
      continue;
    }
    const found = await secret?.(value.secret);
    if (found === undefined) throw new ToolError(`${spec.name}: the server has no secret ${JSON.stringify(value.secret)}`, { name: 'SecretMissing' });
    headers[name.toLowerCase()] = `${value.prefix ?? ''}${found}`;
  }
  return headers;
}

function checkSpec(spec: HttpToolSpec): void {
  const invalid = (message: string) => new FermataError('invalid_request', `tool ${spec.name}: ${message}`);
  for (const [name, value] of Object.entries(spec.headers ?? {})) {
    if (!HEADER_NAME.test(name)) throw invalid(`${JSON.stringify(name)} cannot be the name of a header`);
    if (OURS.has(name.toLowerCase())) throw invalid(`the header ${name} cannot be set`);
    if (/[\r\n\0]/.test(typeof value === 'string' ? value : (value.prefix ?? ''))) throw invalid(`the header ${name} has a line break in it`);
  }
  const url = new URL(spec.url);
  if (url.username || url.password) throw invalid('the address has a user name in it; use a header with a secret');
  if (/%7B|[{}]/i.test(url.search)) throw invalid('{name} can stand in the path of the address only; arguments go into the query by themselves');
  if (spec.arguments === 'body' && spec.method === 'GET') throw invalid('a GET has no body');
}

const placement = (spec: HttpToolSpec) => spec.arguments ?? (spec.method === 'GET' || spec.method === 'DELETE' ? 'query' : 'body');
const pathOf = (url: URL) => url.pathname.replaceAll('%7B', '{').replaceAll('%7D', '}');
