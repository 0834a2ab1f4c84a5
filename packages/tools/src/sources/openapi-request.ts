/** The request of a call: each argument at its place and in its style, and the body in its type. */
import { ToolError } from '../tool.ts';
import { isRecord } from './openapi-document.ts';
import { type ArgumentPlace, BODY, type KeyPlace, type Operation } from './openapi-operations.ts';

export interface OperationRequest {
  url: URL;
  headers: Record<string, string>;
  cookies: string[];
  body?: string | Uint8Array;
}

/** Throws {@link ToolError} `InvalidArguments` for what cannot stand at its place. */
export async function requestOf(operation: Operation & { keyPlace?: KeyPlace | undefined }, args: Record<string, unknown>): Promise<OperationRequest> {
  const headers: Record<string, string> = {};
  const cookies: string[] = [];
  const query: string[] = [];
  const inPath = new Map<string, string>();
  const url = new URL(operation.baseUrl);
  const [pathname = '', fixed = ''] = operation.path.split('?');
  const taken = takenNames(operation, [url.search.slice(1), fixed]);
  for (const [argument, place] of Object.entries(operation.places)) {
    const value = args[argument];
    if (value === undefined || (value === null && place.in !== 'path')) continue;
    const refuse = (problem: string) => new ToolError(`${operation.name}: ${argument} ${problem}`, { name: 'InvalidArguments', data: { path: argument } });
    const other = place.explode && isRecord(value) && place.style !== 'deepObject' ? Object.keys(value).find((key) => taken(place, key)) : undefined;
    if (other !== undefined) throw refuse(`cannot say ${JSON.stringify(other)}, which is a parameter of its own`);
    if (place.in === 'query') query.push(...pairsOf(place, value));
    else if (place.in === 'cookie') cookies.push(...pairsOf(place, value));
    else if (place.in === 'header') {
      const text = place.json ? JSON.stringify(value) : simple(value, place.explode, String);
      if (/[\r\n\0]/.test(text)) throw refuse('has a line break in it');
      headers[place.name.toLowerCase()] = text;
    } else {
      const text = inPathStyle(place, value);
      if (/^\.{0,2}$/.test(text)) throw refuse('cannot go into the address');
      inPath.set(place.name, text);
    }
  }
  const path = pathname.replace(/\{([^{}]+)\}/g, (whole, name: string) => inPath.get(name) ?? whole);
  url.pathname = `${url.pathname.replace(/\/$/, '')}${path}`;
  url.search = [url.search.slice(1), fixed, ...query].filter(Boolean).join('&');
  const sent = operation.body && args[BODY] !== undefined ? await bodyOf(operation.body, args[BODY]) : undefined;
  if (sent) headers['content-type'] = sent.contentType;
  return { url, headers, cookies, ...(sent ? { body: sent.data } : {}) };
}

/** Whether a key of an argument whose keys become parameters would be taken for another parameter, or for one that the host sets. */
function takenNames({ places, keyPlace }: Operation & { keyPlace?: KeyPlace | undefined }, fixed: readonly string[]) {
  const names = new Map<string, Set<string>>([['query', new Set(fixed.flatMap((text) => [...new URLSearchParams(text).keys()]))]]);
  const add = (where: string, name: string) => names.set(where, (names.get(where) ?? new Set()).add(name));
  for (const place of Object.values(places)) add(place.in, place.name);
  if (keyPlace) add(keyPlace.in, keyPlace.name);
  return (place: ArgumentPlace, key: string) => key !== place.name && (names.get(place.in)?.has(key) ?? false);
}

/** `name=value`, encoded; several where the style repeats the name. */
function pairsOf({ name, style, explode, json }: ArgumentPlace, value: unknown): string[] {
  const pair = (key: string, text: string) => `${encodeURIComponent(key)}=${text}`;
  if (json) return [pair(name, encodeURIComponent(JSON.stringify(value)))];
  if (Array.isArray(value)) {
    if (explode) return value.map((item) => pair(name, encoded(item)));
    const separator = style === 'spaceDelimited' ? '%20' : style === 'pipeDelimited' ? '%7C' : ',';
    return value.length === 0 ? [] : [pair(name, value.map(encoded).join(separator))];
  }
  if (!isRecord(value)) return [pair(name, encoded(value))];
  if (style === 'deepObject') return deepPairs(name, value);
  const entries = Object.entries(value).filter(([, item]) => item !== null);
  return explode ? entries.map(([key, item]) => pair(key, encoded(item))) : [pair(name, simple(value, false, encoded))];
}

/** `filter[a][b]=1`; a list repeats its name. */
function deepPairs(name: string, value: unknown): string[] {
  if (Array.isArray(value)) return value.map((item) => `${bracketed(name)}=${encoded(item)}`);
  if (!isRecord(value)) return value === null ? [] : [`${bracketed(name)}=${encoded(value)}`];
  return Object.entries(value).flatMap(([key, item]) => deepPairs(`${name}[${key}]`, item));
}
const bracketed = (name: string) => encodeURIComponent(name).replaceAll('%5B', '[').replaceAll('%5D', ']');

function inPathStyle({ name, style, explode, json }: ArgumentPlace, value: unknown): string {
  if (json) return encodeURIComponent(JSON.stringify(value));
  if (style === 'label') return `.${simple(value, explode, encoded).replaceAll(',', explode ? '.' : ',')}`;
  if (style !== 'matrix') return simple(value, explode, encoded);
  const pair = (key: string, text: string) => `;${encodeURIComponent(key)}=${text}`;
  if (explode && Array.isArray(value)) return value.map((item) => pair(name, encoded(item))).join('');
  if (explode && isRecord(value))
    return Object.entries(value)
      .map(([key, item]) => pair(key, encoded(item)))
      .join('');
  return pair(name, simple(value, false, encoded));
}

/** `a,b`, `k,v,l,w`, or with `explode` `k=v,l=w`. */
function simple(value: unknown, explode: boolean, text: (value: unknown) => string): string {
  if (Array.isArray(value)) return value.map(text).join(',');
  if (!isRecord(value)) return text(value);
  return Object.entries(value)
    .map(([key, item]) => `${text(key)}${explode ? '=' : ','}${text(item)}`)
    .join(',');
}

const plainText = (value: unknown) => (value !== null && typeof value === 'object' ? JSON.stringify(value) : String(value));
const encoded = (value: unknown) => encodeURIComponent(plainText(value));

async function bodyOf({ type, contentType }: NonNullable<Operation['body']>, body: unknown): Promise<{ data: string | Uint8Array; contentType: string }> {
  switch (type) {
    case 'json':
      return { data: JSON.stringify(body), contentType };
    case 'form':
      return {
        data: isRecord(body)
          ? Object.entries(body)
              .flatMap(fieldsOf)
              .map(([key, text]) => `${encodeURIComponent(key)}=${encodeURIComponent(text)}`)
              .join('&')
          : String(body),
        contentType,
      };
    case 'multipart': {
      const form = new FormData();
      for (const [key, value] of Object.entries(isRecord(body) ? body : { body })) for (const item of Array.isArray(value) ? value : [value]) addPart(form, key, item);
      const encoding = new Response(form);
      return { data: new Uint8Array(await encoding.arrayBuffer()), contentType: encoding.headers.get('content-type') as string };
    }
    default:
      return { data: body instanceof Uint8Array ? body : plainText(body), contentType };
  }
}

function fieldsOf([key, value]: [string, unknown]): [string, string][] {
  return (Array.isArray(value) ? value : [value]).filter((item) => item !== null).map((item) => [key, plainText(item)]);
}

function addPart(form: FormData, key: string, item: unknown): void {
  if (item instanceof Uint8Array) form.append(key, new Blob([new Uint8Array(item)]), key);
  else if (item !== null && typeof item === 'object') form.append(key, new Blob([JSON.stringify(item)], { type: 'application/json' }));
  else if (item !== null) form.append(key, String(item));
}
