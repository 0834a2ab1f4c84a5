/** Tools that are registered over the wire, images, and the state of the server. */
import { z } from 'zod';
import { strictOptions } from '../strict-options.ts';
import { constraintsSchema } from './constraints.ts';
import { nameSchema, recordSchema, timeSchema } from './scalars.ts';
import { languageSchema } from './task-request.ts';

const result = recordSchema.optional().meta({ description: 'JSON Schema of what it returns: told in stubs; a result that does not fit is a failure' });
export const callLimitsShape = {
  max_concurrent: z.int().min(1).max(1_000_000).optional().meta({ description: 'Calls that are under way at the same time; others wait for their turn' }),
  circuit_breaker: strictOptions({ failures: z.int().min(1).max(1_000_000), reset_seconds: z.number().min(0.001).max(2_000_000) })
    .optional()
    .meta({ description: 'After so many failures in a row calls fail at once, until so much later one is let through to see' }),
};
export const callRetrySchema = strictOptions({ max_attempts: z.int().min(1).max(100), backoff_seconds: z.number().min(0).max(3600).default(1) })
  .optional()
  .meta({ description: 'How often a failed call is tried in all; the pause before the second try is doubled for each after it' });

const common = {
  name: nameSchema,
  description: z.string().max(10_000).optional(),
  parameters: recordSchema.optional().meta({ description: 'JSON Schema of the arguments' }),
  idempotent: z.boolean().optional(),
  requires_approval: z.boolean().optional(),
};

export const httpToolSchema = strictOptions({
  kind: z.literal('http'),
  ...common,
  ...callLimitsShape,
  retry: callRetrySchema,
  result,
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).default('POST'),
  url: z
    .url({ protocol: /^https?$/ })
    .max(2000)
    .meta({ description: '`{name}` in its path is replaced by that argument' }),
  headers: z
    .record(z.string().max(256), z.union([z.string().max(8000), strictOptions({ secret: nameSchema, prefix: z.string().max(100).optional() })]))
    .optional()
    .meta({ description: 'A secret is named here; its value is in the configuration of the server' }),
  arguments: z.enum(['query', 'body']).optional().meta({ description: 'Where the others go; default: query for GET and DELETE, else a JSON body' }),
  timeout_seconds: z.number().min(0.1).max(3600).default(30),
  max_response_bytes: z
    .int()
    .min(1)
    .max(64 * 1024 * 1024)
    .default(1024 * 1024),
}).meta({ id: 'HttpTool' });
export const clientToolSchema = strictOptions({
  kind: z.literal('client'),
  ...common,
  timeout_seconds: z.number().min(0.1).max(2_000_000).optional().meta({ description: 'A call that is not answered in this time fails' }),
}).meta({ id: 'ClientTool' });
export const codeToolSchema = strictOptions({
  kind: z.literal('code'),
  ...common,
  language: languageSchema,
  code: z.string().min(1).max(1_000_000),
  ...callLimitsShape,
  result,
  tool_constraints: constraintsSchema.optional(),
}).meta({ id: 'CodeTool' });

export const createToolSchema = z.discriminatedUnion('kind', [httpToolSchema, clientToolSchema, codeToolSchema]).meta({ id: 'CreateTool' });

export const toolSchema = z
  .object({
    name: z.string(),
    kind: z.string(),
    source: z.string().optional().meta({ description: 'The tool source that it is from' }),
    original_name: z.string().optional().meta({ description: 'What its source calls it' }),
    description: z.string(),
    parameters: z.record(z.string(), z.unknown()),
    result: z.record(z.string(), z.unknown()).optional(),
    idempotent: z.boolean(),
    requires_approval: z.boolean(),
    created_at: timeSchema.nullable().meta({ description: 'null: part of the configuration' }),
  })
  .meta({ id: 'Tool' });
export const toolsSchema = z.object({ items: z.array(toolSchema), stubs: z.string().optional() }).meta({ id: 'Tools' });
export const toolsQuerySchema = strictOptions({ stubs: z.enum(['python', 'typescript']).optional() });

export const imagesSchema = z
  .object({
    items: z.array(
      z.object({
        name: z.string(),
        sandbox: z.literal('wasm'),
        digest: z.string(),
        languages: z.array(z.object({ language: z.string(), version: z.string() })),
        libraries: z.array(z.object({ name: z.string(), version: z.string() })),
      }),
    ),
  })
  .meta({ id: 'Images' });

export const healthSchema = z.object({ status: z.literal('ok') }).meta({ id: 'Health' });
export const readySchema = z.object({ status: z.enum(['ready', 'draining', 'not_ready']), running: z.int(), pending: z.int() }).meta({ id: 'Ready' });

export type CreateToolWire = z.input<typeof createToolSchema>;
export type ToolSpec = z.output<typeof createToolSchema>;
export type HttpToolSpec = z.output<typeof httpToolSchema>;
export type ClientToolSpec = z.output<typeof clientToolSchema>;
export type CodeToolSpec = z.output<typeof codeToolSchema>;
export type ToolWire = z.output<typeof toolSchema>;
export type ToolsWire = z.output<typeof toolsSchema>;
export type ImagesWire = z.output<typeof imagesSchema>;
