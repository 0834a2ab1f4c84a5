/** Tool sources over the wire: MCP servers and OpenAPI documents, whose tools lie under the name of their source. */
import { z } from 'zod';
import { strictOptions } from '../strict-options.ts';
import { nameSchema, recordSchema, timeSchema } from './scalars.ts';
import { callLimitsShape, callRetrySchema } from './tools.ts';

/** It stands before the dot of its tools' names, and is an identifier in both languages. */
export const SOURCE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

const sourceNameSchema = z.string().regex(SOURCE_NAME, 'letters, digits and _ are allowed, 64 at most, no digit first');
const webUrlSchema = z.url({ protocol: /^https?$/ }).max(2000);
/** A secret is named here; its value is in the configuration of the server. */
const secretSchema = z.union([z.string().max(8000), strictOptions({ secret: nameSchema, prefix: z.string().max(100).optional() })]);
const headersSchema = z.record(z.string().max(256), secretSchema).meta({ description: 'A secret is named here; its value is in the configuration of the server' });
const timeoutSchema = z.number().min(0.1).max(3600);

const limitsShape = {
  ...callLimitsShape,
  retry: callRetrySchema,
  tools: z
    .record(
      z.string().min(1).max(256),
      strictOptions({ ...callLimitsShape, retry: callRetrySchema, idempotent: z.boolean().optional(), requires_approval: z.boolean().optional() }),
    )
    .optional()
    .meta({ description: 'Other options for some of its tools, by their names here without that of the source; `*` stands for any characters' }),
};

export const mcpSourceSchema = strictOptions({
  kind: z.literal('mcp'),
  name: sourceNameSchema,
  url: webUrlSchema.optional().meta({ description: 'Of its streamable HTTP endpoint' }),
  headers: headersSchema.optional(),
  oauth: strictOptions({ issuer: webUrlSchema, client_id: z.string().min(1).max(1000), client_secret: secretSchema, scope: z.string().max(4000).optional() })
    .optional()
    .meta({ description: 'The host signs in by the client credentials grant, at the authorization server `issuer` and no other' }),
  command: z
    .string()
    .min(1)
    .max(4000)
    .optional()
    .meta({ description: 'In the place of `url`, where the configuration of the server allows it: a program that speaks MCP on stdin and stdout' }),
  args: z.array(z.string().max(8000)).max(200).optional(),
  env: z.record(z.string().max(256), z.string().max(32_000)).optional().meta({ description: 'All that the program has in its environment, besides PATH' }),
  timeout_seconds: timeoutSchema.default(60).meta({ description: 'Of a call; each progress that the server tells of begins it anew' }),
  ...limitsShape,
}).meta({ id: 'McpSource' });

export const openApiAuthSchema = z
  .union([
    strictOptions({ bearer: secretSchema }),
    strictOptions({ basic: strictOptions({ username: z.string().max(1000), password: secretSchema }) }),
    strictOptions({ api_key: secretSchema, name: z.string().min(1).max(256).optional(), in: z.enum(['header', 'query', 'cookie']).optional() }),
  ])
  .meta({ description: 'Added to each request; no program sees it. Name and place of an API key are those of the document where they are not given' });

export const openApiSourceSchema = strictOptions({
  kind: z.literal('openapi'),
  name: sourceNameSchema,
  document: z
    .union([z.string().max(16_000_000), recordSchema])
    .optional()
    .meta({ description: 'OpenAPI 3.0 or 3.1; a text is JSON or YAML' }),
  url: webUrlSchema.optional().meta({ description: 'Where the document is, in the place of `document`; it is read once' }),
  base_url: webUrlSchema.optional().meta({ description: 'In the place of the servers that the document names' }),
  auth: openApiAuthSchema.optional(),
  headers: headersSchema.optional(),
  timeout_seconds: timeoutSchema.default(30),
  max_response_bytes: z
    .int()
    .min(1)
    .max(64 * 1024 * 1024)
    .default(1024 * 1024),
  ...limitsShape,
}).meta({ id: 'OpenApiSource' });

export const createToolSourceSchema = z.discriminatedUnion('kind', [mcpSourceSchema, openApiSourceSchema]).meta({ id: 'CreateToolSource' });

const shownSource = {
  name: z.string(),
  kind: z.enum(['mcp', 'openapi']),
  state: z.enum(['connecting', 'connected', 'failed']),
  error: z.string().nullable().meta({ description: 'Why it failed; its tools stay as they were known, and the next call of one tries again' }),
  tool_count: z.int(),
  created_at: timeSchema.nullable().meta({ description: 'null: part of the configuration' }),
};
export const toolSourceSchema = z
  .object({ ...shownSource, tools: z.array(z.object({ name: z.string(), original_name: z.string().meta({ description: 'What the source itself calls it' }) })) })
  .meta({ id: 'ToolSource' });
export const toolSourcesSchema = z.object({ items: z.array(z.object(shownSource)) }).meta({ id: 'ToolSources' });

export type CreateToolSourceWire = z.input<typeof createToolSourceSchema>;
export type ToolSourceSpec = z.output<typeof createToolSourceSchema>;
export type ToolSourceWire = z.output<typeof toolSourceSchema>;
export type ToolSourcesWire = z.output<typeof toolSourcesSchema>;
