/** The operations of an OpenAPI document, each as one tool: what it takes as a JSON Schema, and where each argument goes. */
import { isRecord, type Json, OpenApiDocument } from './openapi-document.ts';
import { OpenApiSchemas } from './openapi-schema.ts';
import { safeName, safeNames } from './safe-name.ts';
import { OF_THE_CONNECTION } from './secret-headers.ts';
import type { OpenApiSourceOptions } from './source-options.ts';

export interface ArgumentPlace {
  in: 'path' | 'query' | 'header' | 'cookie';
  /** What the service calls it. */
  name: string;
  style: string;
  explode: boolean;
  /** It is sent as JSON. */
  json?: boolean;
}

export interface OperationBody {
  type: 'json' | 'form' | 'multipart' | 'text' | 'binary';
  contentType: string;
}

export interface Operation {
  name: string;
  /** `operationId`, or method and path. */
  originalName: string;
  method: string;
  path: string;
  baseUrl: string;
  description: string;
  /** JSON Schema without its definitions. */
  parameters: Json;
  /** The same of what it answers, where the document says so. */
  result?: Json;
  /** By the names of arguments. */
  places: Record<string, ArgumentPlace>;
  /** The argument `body` is sent as this. */
  body?: OperationBody;
  /** The document says that it needs no authentication. */
  open?: boolean;
}

export interface KeyPlace {
  in: 'header' | 'query' | 'cookie';
  name: string;
}

/** What is kept of a document. */
export interface OperationListing {
  operations: Operation[];
  /** What `#/$defs/<name>` in their parameters stands for. */
  defs: Record<string, unknown>;
  /** The same in their results. */
  resultDefs?: Record<string, unknown>;
  /** Where the API key goes. */
  keyPlace?: KeyPlace;
}

export const BODY = 'body';
const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head'];
/** Headers that are the host's own business. */
const NOT_PARAMETERS = new Set(['accept', 'content-type', 'authorization', 'cookie', ...OF_THE_CONNECTION]);
const DEFAULT_STYLE = { path: 'simple', query: 'form', header: 'simple', cookie: 'form' } as const;
/** Characters of a description that are kept. */
const TOLD = 500;

/** Throws `invalid_request` where the document cannot be used. `documentUrl`: relative servers are meant from there. */
export function operationsOf(name: string, given: string | Json, options: OpenApiSourceOptions, documentUrl?: string): OperationListing {
  const document = new OpenApiDocument(name, given);
  const schemas = new OpenApiSchemas(document);
  const answers = new OpenApiSchemas(document, 'answered');
  const keyPlace = keyPlaceOf(document, options);
  const { root } = document;
  const found = Object.entries(root.paths as Json).flatMap(([path, given]) => {
    const item = document.part(given);
    return METHODS.flatMap((method) => (isRecord(item[method]) ? [{ path, item, method, operation: item[method] as Json }] : []));
  });
  const originals = found.map(({ path, method, operation }) =>
    typeof operation.operationId === 'string' && operation.operationId ? operation.operationId : `${method.toUpperCase()} ${path}`,
  );
  const names = safeNames(originals, `the tool source ${name}`, nameOf);
  const operations = found.map(({ path, item, method, operation }, i): Operation => {
    const parameters = parametersOf(document, item, operation).filter((one) => !isSetByHost(one, keyPlace));
    const body = bodyOf(document, operation);
    const { places, schema } = argumentsOf(schemas, parameters, body);
    const result = resultOf(document, operation, answers);
    const security = (operation.security ?? root.security) as unknown;
    return {
      ...{ name: names[i] as string, originalName: originals[i] as string, method: method.toUpperCase(), path },
      baseUrl: baseUrlOf(document, options, [operation, item, root], documentUrl),
      ...{ description: descriptionOf(operation), parameters: schema, places },
      ...(body ? { body: body.sent } : {}),
      ...(result ? { result } : {}),
      ...(Array.isArray(security) && security.length === 0 ? { open: true } : {}),
    };
  });
  return { operations, defs: schemas.defs, resultDefs: answers.defs, ...(keyPlace ? { keyPlace } : {}) };
}

function nameOf(original: string): string {
  const [, method, path] = /^([A-Z]+) (\/.*)$/.exec(original) ?? [];
  return safeName(method === undefined ? original : [method.toLowerCase(), ...(path as string).split(/[^A-Za-z0-9]+/).filter(Boolean)].join('_'));
}

function parametersOf(document: OpenApiDocument, item: Json, operation: Json): Json[] {
  const byPlace = new Map<string, Json>();
  for (const given of [item.parameters, operation.parameters]) {
    for (const one of Array.isArray(given) ? given : []) {
      const parameter = document.part(one);
      if (typeof parameter.name !== 'string' || !Object.hasOwn(DEFAULT_STYLE, String(parameter.in))) continue;
      if (parameter.in === 'header' && NOT_PARAMETERS.has(parameter.name.toLowerCase())) continue;
      byPlace.set(`${parameter.in} ${parameter.name}`, parameter);
    }
  }
  return [...byPlace.values()];
}

function isSetByHost(parameter: Json, keyPlace: KeyPlace | undefined): boolean {
  return keyPlace !== undefined && parameter.in === keyPlace.in && String(parameter.name).toLowerCase() === keyPlace.name.toLowerCase();
}

function argumentsOf(schemas: OpenApiSchemas, parameters: readonly Json[], body: Body | undefined): { places: Record<string, ArgumentPlace>; schema: Json } {
  const places: Record<string, ArgumentPlace> = {};
  const properties: Json = {};
  const required: string[] = [];
  for (const parameter of parameters) {
    const { name, in: where, description } = parameter as { name: string; in: ArgumentPlace['in']; description?: unknown };
    const plain = safeName(name);
    let argument = plain;
    for (let n = 1; Object.hasOwn(places, argument) || (body && argument === BODY); n++) argument = `${plain}_${where}${n > 1 ? n : ''}`;
    const content = isRecord(parameter.content) ? Object.values(parameter.content)[0] : undefined;
    const style = typeof parameter.style === 'string' ? parameter.style : DEFAULT_STYLE[where];
    const explode = typeof parameter.explode === 'boolean' ? parameter.explode : style === 'form';
    places[argument] = { in: where, name, style, explode, ...(content ? { json: true } : {}) };
    properties[argument] = described(schemas.converted(isRecord(content) ? content.schema : parameter.schema), description);
    if (parameter.required === true || where === 'path') required.push(argument);
  }
  if (body) {
    properties[BODY] = described(schemas.converted(body.schema), body.description);
    if (body.required) required.push(BODY);
  }
  return { places, schema: { type: 'object', properties, ...(required.length > 0 ? { required } : {}), additionalProperties: false } };
}

function described(schema: unknown, description: unknown): unknown {
  if (typeof description !== 'string' || !isRecord(schema) || typeof schema.description === 'string') return schema;
  return { ...schema, description };
}

interface Body {
  sent: OperationBody;
  schema: unknown;
  description: unknown;
  required: boolean;
}

const BODY_TYPES: [RegExp, OperationBody['type']][] = [
  [/^application\/([^;]*\+)?json\b/i, 'json'],
  [/^application\/x-www-form-urlencoded\b/i, 'form'],
  [/^multipart\/form-data\b/i, 'multipart'],
  [/^text\/|^application\/([^;]*\+)?xml\b/i, 'text'],
  [/./, 'binary'],
];

/** Of several types, the one that says most. */
function bodyOf(document: OpenApiDocument, operation: Json): Body | undefined {
  const { content, description, required } = document.part(operation.requestBody);
  if (!isRecord(content)) return undefined;
  for (const [pattern, type] of BODY_TYPES) {
    const contentType = Object.keys(content).find((key) => pattern.test(key));
    if (contentType === undefined) continue;
    const { schema } = document.part(content[contentType]);
    const asBytes = type === 'binary' ? { format: 'binary' } : schema;
    return { sent: { type, contentType: contentType.includes('*') ? 'application/octet-stream' : contentType }, schema: asBytes, description, required: required === true };
  }
  return undefined;
}

/** Of the JSON that the first kind of success answers. */
function resultOf(document: OpenApiDocument, { responses }: Json, answers: OpenApiSchemas): Json | undefined {
  if (!isRecord(responses)) return undefined;
  const status = Object.keys(responses).find((key) => /^2/.test(key));
  const { content } = document.part(status === undefined ? undefined : responses[status]);
  const type = isRecord(content) ? Object.keys(content).find((key) => /^application\/([^;]*\+)?json\b/i.test(key)) : undefined;
  const { schema } = document.part(type === undefined ? undefined : (content as Json)[type]);
  const result = isRecord(schema) ? answers.converted(schema) : undefined;
  return isRecord(result) ? result : undefined;
}

function baseUrlOf(document: OpenApiDocument, { baseUrl }: OpenApiSourceOptions, levels: readonly Json[], documentUrl: string | undefined): string {
  if (baseUrl !== undefined) return baseUrl;
  const servers = levels.map(({ servers }) => servers).find((list): list is unknown[] => Array.isArray(list) && list.length > 0);
  const server = document.part(servers?.[0]);
  const variables = isRecord(server.variables) ? server.variables : {};
  const url = String(server.url ?? '/').replace(/\{([^}]+)\}/g, (_, name: string) => String(document.part(variables[name]).default ?? ''));
  const full = URL.parse(url, documentUrl);
  if (!full || !/^https?:$/.test(full.protocol)) throw document.refusal(`its document does not say at which address the service is (${JSON.stringify(url)})`, 'Give it a baseUrl.');
  return full.href;
}

function keyPlaceOf(document: OpenApiDocument, { auth }: OpenApiSourceOptions): KeyPlace | undefined {
  if (!auth || !('apiKey' in auth)) return undefined;
  const schemes = isRecord(document.root.components) && isRecord(document.root.components.securitySchemes) ? document.root.components.securitySchemes : {};
  const scheme = Object.values(schemes)
    .map((given) => document.part(given))
    .find(({ type }) => type === 'apiKey');
  const [name, where] = [auth.name ?? scheme?.name, auth.in ?? (auth.name === undefined ? scheme?.in : 'header')];
  if (typeof name !== 'string' || (where !== 'header' && where !== 'query' && where !== 'cookie'))
    throw document.refusal('its document does not say where an API key goes', 'Give name and in.');
  return { name, in: where };
}

function descriptionOf({ summary, description }: Json): string {
  const first = typeof description === 'string' ? (description.trim().split(/\n\s*\n/)[0] ?? '') : '';
  const parts = [typeof summary === 'string' ? summary.trim() : '', first.trim()].filter(Boolean);
  const text = parts[0] === parts[1] ? (parts[0] ?? '') : parts.join('\n');
  return text.length > TOLD ? `${text.slice(0, TOLD - 1)}…` : text;
}
