/**
 * A server that is made of an OpenAPI document: it checks each request against the document, by means of its own, and answers
 * with what the document says of the answer.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { at, sample } from './sample.ts';

type Parts = Record<string, unknown>;
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema?: unknown;
  style?: string;
  explode?: boolean;
}

export interface DocumentServer {
  url: string;
  /** Method and path as the document has it, of each request that fitted. */
  served: string[];
  close(): void;
}

/** `prefix`: of all paths. A request without this bearer token, or what its document does not say, is a 4xx. */
export async function documentServer(document: Parts, { token, prefix = '' }: { token: string; prefix?: string }): Promise<DocumentServer> {
  const options = { strict: false, validateFormats: false, validateSchema: false, meta: false, logger: false } as const;
  // What is in an address is text.
  const [ajv, ofText] = [new Ajv2020(options), new Ajv2020({ ...options, coerceTypes: 'array' })];
  for (const one of [ajv, ofText]) one.addSchema(document, 'doc:/');
  const resolved = (part: unknown): Parts => (typeof (part as Parts)?.$ref === 'string' ? resolved(at(document, (part as { $ref: string }).$ref)) : (part as Parts));
  const served: string[] = [];
  const routes = Object.entries(document.paths as Record<string, Parts>).map(([path, item]) => ({
    ...{ path, item },
    pattern: new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]+\}/g, '([^/]+)')}$`),
    names: [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name as string),
  }));
  // Where several fit, the one with the fewest variables is meant.
  routes.sort((a, b) => a.names.length - b.names.length);

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const say = (status: number, body: unknown) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const url = new URL(request.url ?? '/', 'http://x');
    const path = url.pathname.slice(prefix.length);
    const method = (request.method ?? '').toLowerCase();
    const route = routes.find(({ pattern, item }) => pattern.test(path) && item[method]);
    if (request.headers.authorization !== `Bearer ${token}`) return say(401, { why: 'no token' });
    if (!route || !url.pathname.startsWith(prefix)) return say(404, { why: `no route ${method} ${path}` });
    const operation = route.item[method] as Parts;
    const inPath = Object.fromEntries((route.pattern.exec(path) ?? []).slice(1).map((value, i) => [route.names[i], decodeURIComponent(value)]));
    const parameters = [...((route.item.parameters as unknown[]) ?? []), ...((operation.parameters as unknown[]) ?? [])].map(resolved) as unknown as Parameter[];
    const faults: unknown[] = [];
    const fits = (schema: unknown, value: unknown, what: string) => {
      const linked = JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"doc:/#/'));
      const validate = (what === 'body' ? ajv : ofText).compile({ type: 'object', properties: { value: linked } });
      if (!validate({ value })) faults.push({ what, errors: validate.errors?.slice(0, 3), value });
    };
    const known = new Set<string>();
    for (const parameter of parameters) {
      const { name, required, schema = {}, explode = true } = parameter;
      if (parameter.in === 'query') {
        known.add(name);
        const all = url.searchParams.getAll(name);
        const plain = resolved(schema);
        const isRecord = plain.type === 'object' && explode;
        if (isRecord) for (const key of url.searchParams.keys()) if (key.startsWith(`${name}[`) || Object.hasOwn((plain.properties as Parts) ?? {}, key)) known.add(key);
        if (all.length > 0) fits(schema, plain.type === 'array' ? all.flatMap((one) => (explode ? [one] : one.split(','))) : all[0], `query ${name}`);
        else if (required && !isRecord) faults.push({ what: `query ${name} is missing` });
      } else if (parameter.in === 'path') fits(schema, inPath[name], `path ${name}`);
    }
    for (const key of url.searchParams.keys()) if (!known.has(key)) faults.push({ what: `query ${key} is not known` });
    const content = resolved(operation.requestBody ?? {}).content as Record<string, Parts> | undefined;
    const body = Buffer.concat(chunks).toString();
    if (body && !content) faults.push({ what: 'a body is not expected' });
    if (body && content) {
      const type = request.headers['content-type'] ?? '';
      if (!content[type]) faults.push({ what: `a body of type ${type} is not expected` });
      else fits(content[type].schema ?? {}, JSON.parse(body), 'body');
    }
    if (faults.length > 0) return say(400, faults);
    served.push(`${method} ${route.path}`);
    return say(200, answerOf(document, operation, resolved));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`, served, close: () => void server.close() };
}

/** What the document says of the answer of an operation, as a value. */
export function answerOf(document: Parts, operation: Parts, resolved: (part: unknown) => Parts): unknown {
  const responses = operation.responses as Record<string, unknown>;
  const success = Object.keys(responses).find((status) => /^2/.test(status));
  const content = success === undefined ? undefined : (resolved(responses[success]).content as Record<string, Parts> | undefined);
  const schema = content?.['application/json']?.schema;
  return schema === undefined ? null : sample(schema, document, 2);
}
