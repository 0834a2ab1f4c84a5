/**
 * Tools that are an HTTP endpoint: arguments go into the path, the query or a JSON body, and the answer is the result.
 *
 * Secrets are named in a definition and added here, so that no program sees them. Only public addresses are reached, unless
 * the configuration says otherwise; a redirect is followed on the same host only, and only for reading.
 */
import { FermataError, toWire, type ValueRecord } from '@fermata/protocol';
import type { HttpToolSpec } from '@fermata/protocol/wire';
import { type AddressGuard, createAddressGuard } from '../net/address-guard.ts';
import type { GuardedResponse } from '../net/guarded-request.ts';
import { askService, valueOfAnswer } from '../net/http-answer.ts';
import { defineTool, type Tool, type ToolCallInfo, ToolError } from '../tool.ts';
import { callLimitsOf } from './call-options.ts';
import { foreignParameters, foreignSchema } from './foreign-parameters.ts';
import { headerFault, type SecretLookup, secretHeaders } from './secret-headers.ts';

export interface HttpToolContext {
  guard?: AddressGuard;
  /** The value of a secret that a definition names. */
  secret?: SecretLookup;
}

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
    ...(spec.result ? { result: foreignSchema(spec.name, 'result', spec.result) } : {}),
    ...callLimitsOf(spec),
    execute: async (args: ValueRecord, info: ToolCallInfo) => valueOfAnswer(spec.name, await ask(spec, args, info, guard, context)),
  });
}

async function ask(spec: HttpToolSpec, args: ValueRecord, info: ToolCallInfo, guard: AddressGuard, { secret }: HttpToolContext): Promise<GuardedResponse> {
  const { url, rest } = placeInPath(spec, args);
  const headers: Record<string, string> = {
    accept: 'application/json, text/*;q=0.9, */*;q=0.1',
    'user-agent': 'fermata',
    ...(await secretHeaders(spec.name, spec.headers, secret)),
  };
  let body: string | undefined;
  if (placement(spec) === 'query') addQuery(spec.name, url, rest);
  else {
    body = JSON.stringify(toWire(rest));
    headers['content-type'] ??= 'application/json';
  }
  if (spec.method !== 'GET') headers['idempotency-key'] ??= info.idempotencyKey;
  const request = { url: url.href, method: spec.method, headers, timeoutMs: spec.timeout_seconds * 1000, maxBytes: spec.max_response_bytes, signal: info.signal };
  return askService(spec.name, { ...request, ...(body === undefined ? {} : { body }) }, guard);
}

function placeInPath(spec: HttpToolSpec, args: ValueRecord): { url: URL; rest: ValueRecord } {
  const url = new URL(spec.url);
  const placed = new Set<string>();
  url.pathname = pathOf(url).replace(/\{([^{}/]+)\}/g, (_, name: string) => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    placed.add(name);
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint' && typeof value !== 'boolean') {
      throw new ToolError(`${spec.name}: ${name} goes into the address and must be a string or a number`, { name: 'InvalidArguments', data: { path: name } });
    }
    if (/^\.{0,2}$/.test(String(value))) throw new ToolError(`${spec.name}: ${name} cannot go into the address`, { name: 'InvalidArguments', data: { path: name } });
    return encodeURIComponent(String(value));
  });
  return { url, rest: Object.fromEntries(Object.entries(args).filter(([name]) => !placed.has(name))) };
}

/** What the definition itself says in the query is not for arguments to say otherwise. */
function addQuery(tool: string, url: URL, args: ValueRecord): void {
  const fixed = new Set(url.searchParams.keys());
  for (const [name, value] of Object.entries(args)) {
    if (value === undefined || value === null) continue;
    if (fixed.has(name)) throw new ToolError(`${tool}: ${name} is fixed by the address of the tool`, { name: 'InvalidArguments', data: { path: name } });
    for (const item of Array.isArray(value) ? value : [value]) url.searchParams.append(name, typeof item === 'object' ? JSON.stringify(toWire(item)) : String(item));
  }
}

function checkSpec(spec: HttpToolSpec): void {
  const invalid = (message: string) => new FermataError('invalid_request', `tool ${spec.name}: ${message}`);
  const fault = headerFault(spec.headers);
  if (fault) throw invalid(fault);
  const url = new URL(spec.url);
  if (url.username || url.password) throw invalid('the address has a user name in it; use a header with a secret');
  if (/%7B|[{}]/i.test(url.search)) throw invalid('{name} can stand in the path of the address only; arguments go into the query by themselves');
  if (spec.arguments === 'body' && spec.method === 'GET') throw invalid('a GET has no body');
}

const placement = (spec: HttpToolSpec) => spec.arguments ?? (spec.method === 'GET' || spec.method === 'DELETE' ? 'query' : 'body');
const pathOf = (url: URL) => url.pathname.replaceAll('%7B', '{').replaceAll('%7D', '}');
