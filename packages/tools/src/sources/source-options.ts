/** Tool sources as the configuration and the wire say them. */
import { FermataError, parseOptions } from '@fermata/protocol';
import { strictOptions } from '@fermata/protocol/schemas';
import { SOURCE_NAME, type ToolSourceSpec } from '@fermata/protocol/wire';
import { z } from 'zod';
import { type SourceCallOptions, sourceCallOptionsOf, sourceCallShape } from './call-options.ts';
import { headerFault, type SecretHeaders, type SecretText } from './secret-headers.ts';

/** Credentials of a client, by which the host signs in itself (the client credentials grant). */
export interface McpOAuth {
  /** The authorization server. The credentials are shown to no other one, whichever the MCP server tells of. */
  issuer: string;
  clientId: string;
  clientSecret: SecretText;
  scope?: string | undefined;
}

/** A server on stdin and stdout of a process (`command`), or at a streamable HTTP endpoint (`url`). */
export interface McpSourceOptions extends SourceCallOptions {
  command?: string;
  args?: readonly string[];
  /** All that the process has in its environment, besides PATH. */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  url?: string;
  headers?: SecretHeaders;
  oauth?: McpOAuth;
  /** Of a call; each progress that the server tells of begins it anew. Default: 60 s. */
  timeoutMs?: number;
  /** Default: 30 s. */
  connectTimeoutMs?: number;
}

/** What the host adds to each request. Name and place of an API key are those of the document where they are not given. */
export type OpenApiAuth =
  | { bearer: SecretText }
  | { basic: { username: string; password: SecretText } }
  | { apiKey: SecretText; name?: string | undefined; in?: 'header' | 'query' | 'cookie' | undefined };

export interface OpenApiSourceOptions extends SourceCallOptions {
  /** The document: a file, where it is on the web, or itself (a text is JSON or YAML). */
  file?: string;
  url?: string;
  document?: string | Readonly<Record<string, unknown>>;
  /** In the place of the servers that the document names. */
  baseUrl?: string;
  auth?: OpenApiAuth;
  headers?: SecretHeaders;
  /** Of a request. Default: 30 s. */
  timeoutMs?: number;
  /** Default: 1 MiB. */
  maxResponseBytes?: number;
}

/** By their names, which their tools' names begin with. */
export interface ToolSourcesOptions {
  mcp?: Readonly<Record<string, McpSourceOptions>>;
  openapi?: Readonly<Record<string, OpenApiSourceOptions>>;
}

export type SourceSpec = { name: string } & ({ kind: 'mcp'; options: McpSourceOptions } | { kind: 'openapi'; options: OpenApiSourceOptions });

const secretSchema = z.union([z.string(), strictOptions({ secret: z.string(), prefix: z.string().optional() })]);
const headersSchema = z.record(z.string(), secretSchema);
const webUrlSchema = z.url({ protocol: /^https?$/, error: 'an address that begins with http:// or https:// is wanted' });
const timeoutSchema = z.number().positive();

const mcpSchema = strictOptions({
  command: z.string().min(1).optional(),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  cwd: z.string().optional(),
  url: webUrlSchema.optional(),
  headers: headersSchema.optional(),
  oauth: strictOptions({ issuer: webUrlSchema, clientId: z.string().min(1), clientSecret: secretSchema, scope: z.string().optional() }).optional(),
  timeoutMs: timeoutSchema.optional(),
  connectTimeoutMs: timeoutSchema.optional(),
  ...sourceCallShape,
} satisfies Record<keyof McpSourceOptions, z.ZodType>);

const authSchema = z.union(
  [
    strictOptions({ bearer: secretSchema }),
    strictOptions({ basic: strictOptions({ username: z.string(), password: secretSchema }) }),
    strictOptions({ apiKey: secretSchema, name: z.string().optional(), in: z.enum(['header', 'query', 'cookie']).optional() }),
  ],
  '{ bearer }, { basic: { username, password } } or { apiKey, name?, in? } is wanted',
);
const openApiSchema = strictOptions({
  file: z.string().optional(),
  url: webUrlSchema.optional(),
  document: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
  baseUrl: webUrlSchema.optional(),
  auth: authSchema.optional(),
  headers: headersSchema.optional(),
  timeoutMs: timeoutSchema.optional(),
  maxResponseBytes: z.int().positive().optional(),
  ...sourceCallShape,
} satisfies Record<keyof OpenApiSourceOptions, z.ZodType>);

/** What the tools file and the library give. */
export const toolSourcesShape = { mcp: z.record(z.string(), z.unknown()).optional(), openapi: z.record(z.string(), z.unknown()).optional() };

/** The sources of a configuration. Throws `invalid_request` with the place of what is wrong. `at`: what the configuration is called. */
export function sourceSpecs({ mcp = {}, openapi = {} }: ToolSourcesOptions, at = ''): SourceSpec[] {
  const place = (kind: string, name: string) => `${at ? `${at}.` : ''}${kind}.${name}`;
  const specs = [
    ...Object.entries(mcp).map(([name, given]): SourceSpec => ({ kind: 'mcp', name, options: parseOptions(mcpSchema, given, place('mcp', name)) as McpSourceOptions })),
    ...Object.entries(openapi).map(
      ([name, given]): SourceSpec => ({ kind: 'openapi', name, options: parseOptions(openApiSchema, given, place('openapi', name)) as OpenApiSourceOptions }),
    ),
  ];
  for (const spec of specs) checkSource(spec, place(spec.kind, spec.name));
  const twice = Object.keys(mcp).find((name) => Object.hasOwn(openapi, name));
  if (twice !== undefined) throw new FermataError('invalid_request', `${at ? `${at}: ` : ''}two tool sources have the name ${twice}`);
  return specs;
}

/** What was asked over the wire. Throws `invalid_request`. */
export function sourceSpecOf(spec: ToolSourceSpec): SourceSpec {
  const { name, kind, timeout_seconds, url, headers } = spec;
  const common = { timeoutMs: timeout_seconds * 1000, ...present({ url, headers }), ...sourceCallOptionsOf(spec) };
  if (spec.kind === 'mcp') {
    const { command, args, env, oauth: given } = spec;
    const oauth = given && { issuer: given.issuer, clientId: given.client_id, clientSecret: given.client_secret, ...present({ scope: given.scope }) };
    const made: SourceSpec = { name, kind: spec.kind, options: { ...common, ...present({ command, args, env, oauth }) } as McpSourceOptions };
    checkSource(made, `the tool source ${name}`);
    return made;
  }
  const { document, base_url: baseUrl, auth: given, max_response_bytes: maxResponseBytes } = spec;
  const auth = given && 'api_key' in given ? { apiKey: given.api_key, ...present({ name: given.name, in: given.in }) } : given;
  const made: SourceSpec = { name, kind: kind as 'openapi', options: { ...common, maxResponseBytes, ...present({ document, baseUrl, auth }) } as OpenApiSourceOptions };
  checkSource(made, `the tool source ${name}`);
  return made;
}

function checkSource({ name, kind, options }: SourceSpec, at: string): void {
  const refuse = (problem: string, hint?: string) => new FermataError('invalid_request', `${at}: ${problem}`, hint === undefined ? {} : { hint });
  if (!SOURCE_NAME.test(name))
    throw refuse(`${JSON.stringify(name)} cannot be the name of a tool source`, 'Use letters, digits and _, and no digit first: programs write tools.<name>.<tool>.');
  const fault = headerFault(options.headers);
  if (fault) throw refuse(fault);
  if (kind === 'mcp') {
    const { command, url, args, env, cwd, headers, oauth } = options;
    if ((command === undefined) === (url === undefined)) throw refuse('give either command or url');
    if (command === undefined && (args ?? env ?? cwd) !== undefined) throw refuse('args, env and cwd go with command');
    if (url === undefined && headers !== undefined) throw refuse('headers go with url');
    if (url === undefined && oauth !== undefined) throw refuse('oauth goes with url');
    if (oauth && Object.keys(headers ?? {}).some((header) => header.toLowerCase() === 'authorization')) throw refuse('give either oauth or the header Authorization');
    return;
  }
  const { file, url, document } = options;
  if ([file, url, document].filter((one) => one !== undefined).length !== 1) throw refuse('give the document in one way: file, url or document');
}

function present<T extends Record<string, unknown>>(record: T): Partial<T> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Partial<T>;
}
