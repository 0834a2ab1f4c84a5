/**
 * Tool sources that are OpenAPI documents: each operation is a tool.
 *
 * Authentication is added here, so that no program sees it. Only public addresses are reached, unless the configuration says
 * otherwise. GET, HEAD, PUT and DELETE are idempotent, as HTTP has it.
 */
import { readFile } from 'node:fs/promises';
import { FermataError } from '@fermata/protocol';
import { askService, valueOfAnswer } from '../net/http-answer.ts';
import type { ToolCallInfo } from '../tool.ts';
import { sourceCalls } from './call-options.ts';
import { foreignTool } from './foreign-tool.ts';
import type { Json } from './openapi-document.ts';
import { type KeyPlace, type Operation, type OperationListing, operationsOf } from './openapi-operations.ts';
import { type OperationRequest, requestOf } from './openapi-request.ts';
import { secretHeaders, secretText } from './secret-headers.ts';
import type { OpenApiSourceOptions } from './source-options.ts';
import type { SourceContext, SourceTool, ToolSource } from './tool-source.ts';

const TIMEOUT_MS = 30_000;
const MAX_RESPONSE_BYTES = 1024 * 1024;
const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024;
const IDEMPOTENT = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);

export function openApiSource(name: string, options: OpenApiSourceOptions, context: SourceContext): ToolSource {
  const calls = sourceCalls(options);
  return {
    kind: 'openapi',
    changes: false,
    list: async () => operationsOf(name, await documentOf(name, options, context), options, options.url),
    toolsOf: (listing) => toolsOf(name, listing as OperationListing, options, context, calls),
    close: async () => {},
  };
}

async function documentOf(name: string, { document, file, url, timeoutMs }: OpenApiSourceOptions, { guard }: SourceContext): Promise<string | Json> {
  if (document !== undefined) return document;
  try {
    if (file !== undefined) return await readFile(file, 'utf8');
    const request = { url: url as string, method: 'GET', headers: { accept: 'application/json, application/yaml, */*;q=0.5', 'user-agent': 'fermata' } };
    const { status, body } = await askService('its document', { ...request, timeoutMs: timeoutMs ?? TIMEOUT_MS, maxBytes: MAX_DOCUMENT_BYTES }, guard);
    if (status === 200) return body.toString('utf8');
    throw new Error(`its document: the service answered ${status}`);
  } catch (cause) {
    throw new FermataError('source_failed', `the tool source ${name} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

function toolsOf(
  source: string,
  { operations, defs, resultDefs = {}, keyPlace }: OperationListing,
  options: OpenApiSourceOptions,
  context: SourceContext,
  calls: ReturnType<typeof sourceCalls>,
): SourceTool[] {
  const [needed, neededByResults] = [definitionsOf(defs), definitionsOf(resultDefs)];
  return operations.map((operation) => {
    const name = `${source}.${operation.name}`;
    const used = needed(operation.parameters);
    const tool = foreignTool({
      ...{ name, description: operation.description },
      ...calls(source, operation.name, { idempotent: IDEMPOTENT.has(operation.method), requiresApproval: false }),
      ...(operation.result ? { result: { ...operation.result, $defs: neededByResults(operation.result) } } : {}),
      parameters: Object.keys(used).length > 0 ? { ...operation.parameters, $defs: used } : operation.parameters,
      keepBytes: operation.body?.type === 'multipart' || operation.body?.type === 'binary' || operation.body?.type === 'text',
      execute: (args, info) => performed({ ...operation, name }, args, info, { ...context, ...options, keyPlace }),
    });
    return { tool, originalName: operation.originalName };
  });
}

async function performed(
  operation: Operation,
  args: Record<string, unknown>,
  info: ToolCallInfo,
  how: SourceContext & OpenApiSourceOptions & { keyPlace: KeyPlace | undefined },
): Promise<unknown> {
  const { name, method } = operation;
  const request = await requestOf({ ...operation, keyPlace: how.keyPlace }, args);
  if (!operation.open) await authenticate(name, request, how);
  const headers: Record<string, string> = {
    accept: 'application/json, text/*;q=0.9, */*;q=0.1',
    'user-agent': 'fermata',
    ...request.headers,
    ...(await secretHeaders(name, how.headers, how.secret)),
  };
  if (!IDEMPOTENT.has(method)) headers['idempotency-key'] ??= info.idempotencyKey;
  if (request.cookies.length > 0) headers.cookie = request.cookies.join('; ');
  const { timeoutMs = TIMEOUT_MS, maxResponseBytes: maxBytes = MAX_RESPONSE_BYTES } = how;
  const { url, body } = request;
  const sent = { url: url.href, method, headers, timeoutMs, maxBytes, signal: info.signal, ...(body === undefined ? {} : { body }) };
  return valueOfAnswer(name, await askService(name, sent, how.guard));
}

async function authenticate(
  label: string,
  { url, headers, cookies }: OperationRequest,
  { auth, secret, keyPlace }: OpenApiSourceOptions & Pick<SourceContext, 'secret'> & { keyPlace: KeyPlace | undefined },
): Promise<void> {
  if (!auth) return;
  if ('bearer' in auth) headers.authorization = `Bearer ${await secretText(label, auth.bearer, secret)}`;
  else if ('basic' in auth) headers.authorization = `Basic ${Buffer.from(`${auth.basic.username}:${await secretText(label, auth.basic.password, secret)}`).toString('base64')}`;
  else if (keyPlace) {
    const key = await secretText(label, auth.apiKey, secret);
    if (keyPlace.in === 'header') headers[keyPlace.name.toLowerCase()] = key;
    else if (keyPlace.in === 'query') url.search = [url.search.slice(1), `${encodeURIComponent(keyPlace.name)}=${encodeURIComponent(key)}`].filter(Boolean).join('&');
    else cookies.push(`${keyPlace.name}=${encodeURIComponent(key)}`);
  }
}

/** For a schema, those of the definitions that it leads to. */
function definitionsOf(defs: Record<string, unknown>): (schema: unknown) => Record<string, unknown> {
  const direct = new Map(Object.entries(defs).map(([name, schema]) => [name, linksOf(schema)]));
  return (schema) => {
    const found = new Set<string>();
    const open = linksOf(schema);
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      if (found.has(name)) continue;
      found.add(name);
      open.push(...(direct.get(name) ?? []));
    }
    return Object.fromEntries([...found].sort().map((name) => [name, defs[name]]));
  };
}

function linksOf(schema: unknown): string[] {
  if (schema === null || typeof schema !== 'object') return [];
  const { $ref } = schema as { $ref?: unknown };
  const own = typeof $ref === 'string' && $ref.startsWith('#/$defs/') ? [$ref.slice('#/$defs/'.length)] : [];
  return [...own, ...Object.values(schema).flatMap(linksOf)];
}
