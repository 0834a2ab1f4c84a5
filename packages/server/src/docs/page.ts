/** The OpenAPI document as one page that needs nothing else: no script, no font, no other host. */
import { ERROR_CODES } from '@fermata/protocol';
import type { OpenApiDocument } from './openapi.ts';

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
  additionalProperties?: boolean | Schema;
  description?: string;
  minimum?: number;
  maximum?: number;
}
interface Content {
  content?: Record<string, { schema?: Schema }>;
  description?: string;
}
interface Operation {
  tags?: string[];
  summary?: string;
  description?: string;
  security?: Record<string, string[]>[];
  parameters?: { name: string; in: string; required?: boolean; schema?: Schema; description?: string }[];
  requestBody?: Content;
  responses?: Record<string, Content>;
}

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1f;background:#fff}
code,pre{font:14px/1.45 ui-monospace,monospace}h2{margin-top:2.5rem;border-bottom:1px solid #ccc}
details{border:1px solid #ddd;border-radius:6px;margin:.5rem 0;padding:.4rem .8rem}summary{cursor:pointer}
table{border-collapse:collapse;width:100%;margin:.5rem 0}td,th{text-align:left;vertical-align:top;padding:.2rem .6rem;border-top:1px solid #eee}
.method{font-weight:700;display:inline-block;min-width:4.5rem}.scope{color:#666;float:right}
@media (prefers-color-scheme:dark){body{color:#e6e6ea;background:#17171b}details{border-color:#444}td,th{border-color:#333}a{color:#9ab8ff}}`;

export function docsPage(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({ path, method, operation })),
  );
  const groups = [...new Set(operations.map(({ operation }) => operation.tags?.[0] ?? 'Others'))];
  const sections = groups.map((group) => {
    const members = operations.filter(({ operation }) => (operation.tags?.[0] ?? 'Others') === group);
    return `<h2 id="${slug(group)}">${escaped(group)}</h2>${members.map(showOperation).join('')}`;
  });
  const schemas = Object.entries(document.components?.schemas ?? {}).map(
    ([name, schema]) => `<details id="schema-${escaped(name)}"><summary><code>${escaped(name)}</code></summary>${showSchema(schema as Schema)}</details>`,
  );
  const codes = Object.entries(ERROR_CODES).map(([code, { text }]) => `<tr id="${code}"><td><code>${code}</code></td><td>${escaped(text)}</td></tr>`);
  const links = [...groups, 'Schemas', 'Errors'].map((group) => `<a href="#${slug(group)}">${escaped(group)}</a>`).join(' · ');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(document.info.title)} API</title><style>${STYLE}</style></head>
<body><h1>${escaped(document.info.title)} API</h1><p>${escaped(document.info.description ?? '')} As OpenAPI 3.1: <a href="/openapi.json">openapi.json</a>.</p><p>Send <code>Authorization: Bearer fm_...</code> with every request.</p><nav>${links}</nav>
${sections.join('')}<h2 id="schemas">Schemas</h2>${schemas.join('')}<h2 id="errors">Errors</h2><p>Problem details (RFC 9457); <code>code</code> is stable.</p><table>${codes.join('')}</table></body></html>`;
}

function showOperation({ path, method, operation }: { path: string; method: string; operation: Operation }): string {
  const scopes = (operation.security ?? []).flatMap((one) => one.apiKey ?? []);
  const parameters = (operation.parameters ?? []).map(
    ({ name, in: where, required, schema = {}, description }) =>
      `<tr><td><code>${escaped(name)}</code></td><td>${where}${required ? ', required' : ''}</td><td>${typeOf(schema)}</td><td>${escaped(description ?? schema.description ?? '')}</td></tr>`,
  );
  const bodies = Object.entries(operation.requestBody?.content ?? {}).map(([type, { schema = {} }]) => `<p>Body, <code>${escaped(type)}</code>: ${typeOf(schema)}</p>`);
  const answers = Object.entries(operation.responses ?? {}).map(
    ([status, { description, content = {} }]) =>
      `<tr><td>${status}</td><td>${Object.values(content)
        .map(({ schema = {} }) => typeOf(schema))
        .join(', ')}</td><td>${escaped(description ?? '')}</td></tr>`,
  );
  return `<details><summary><span class="scope">${escaped(scopes.join(' or '))}</span><span class="method">${method.toUpperCase()}</span><code>${escaped(path)}</code> ${escaped(operation.summary ?? '')}</summary>
<p>${escaped(operation.description ?? '')}</p>${parameters.length > 0 ? `<table>${parameters.join('')}</table>` : ''}${bodies.join('')}<table>${answers.join('')}</table></details>`;
}

function showSchema(schema: Schema): string {
  const rows = Object.entries(schema.properties ?? {}).map(
    ([name, inner]) =>
      `<tr><td><code>${escaped(name)}</code></td><td>${schema.required?.includes(name) ? 'always' : ''}</td><td>${typeOf(inner)}</td><td>${escaped([bounds(inner), inner.description].filter(Boolean).join('. '))}</td></tr>`,
  );
  const text = schema.description ? `<p>${escaped(schema.description)}</p>` : '';
  return `${text}${rows.length > 0 ? `<table>${rows.join('')}</table>` : `<p>${typeOf(schema)}</p>`}`;
}

function typeOf(schema: Schema): string {
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined) return `<a href="#schema-${escaped(name)}">${escaped(name)}</a>`;
  if (schema.enum) return schema.enum.map((value) => `<code>${escaped(JSON.stringify(value))}</code>`).join(' | ');
  if (schema.const !== undefined) return `<code>${escaped(JSON.stringify(schema.const))}</code>`;
  const either = schema.oneOf ?? schema.anyOf;
  if (either) return either.map(typeOf).join(' | ');
  if (schema.allOf) return schema.allOf.map(typeOf).join(' &amp; ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`;
  if (schema.properties)
    return `{ ${Object.entries(schema.properties)
      .map(([key, inner]) => `${escaped(key)}: ${typeOf(inner)}`)
      .join(', ')} }`;
  return escaped([schema.type ?? 'any'].flat().join(' | '));
}

function bounds({ minimum, maximum }: Schema): string {
  return [minimum === undefined ? '' : `at least ${minimum}`, maximum === undefined || maximum > 1e15 ? '' : `at most ${maximum}`].filter(Boolean).join(', ');
}

const slug = (text: string) => text.toLowerCase().replaceAll(' ', '-');
const escaped = (text: string) => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
