/**
 * Schemas of what a tool takes and returns, of three kinds that come to the same: zod, another library that keeps to the
 * Standard Schema (https://standardschema.dev), and JSON Schema. Each has a JSON Schema to be told, and a check.
 */
import { FermataError, type Value } from '@fermata/protocol';
import type { Ajv } from 'ajv';
import { z } from 'zod';
import type { JsonArguments } from './json-arguments.ts';
import { newAjv } from './new-ajv.ts';
import { type SchemaCheck, schemaCheck, TookTooLong, tooSlow } from './schema-check.ts';
import { ToolError } from './tool-error.ts';

type Json = Record<string, unknown>;

/** What Fermata asks of a schema of the Standard Schema, and of its JSON Schema. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Validated<Output> | Promise<Validated<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly jsonSchema?: Readonly<Record<'input' | 'output', (options: { readonly target: 'draft-2020-12' }) => Json>> | undefined;
  };
}
type Validated<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly Issue[] };
interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A JSON Schema of an object, or a schema of zod or another library that keeps to the Standard Schema. */
export type ToolParameters = { readonly [key: string]: unknown } | StandardSchema<Record<string, unknown>>;
/**
 * The arguments that a schema lets through. Of a JSON Schema that stands in `defineTool` itself (or is `as const`) they are
 * inferred; of one that is only known as a record, they are any record.
 */
export type ToolArguments<P> = P extends StandardSchema<infer Output> ? Output : JsonArguments<P>;

export interface ToolSchema {
  schema: Json;
  /** The value as the tool, or its caller, is given it. Throws {@link ToolError}. */
  check: (value: unknown) => unknown;
  /** Whether that may be another one than was given. */
  changes: boolean;
}

let ajv: Ajv | undefined;
const REFUSALS = {
  parameters: ['InvalidArguments', (tool: string) => `invalid arguments for ${tool}:`],
  result: ['InvalidResult', (tool: string) => `${tool} answered what it does not promise:`],
} as const satisfies Record<string, readonly [string, (tool: string) => string]>;
type Part = keyof typeof REFUSALS;

/** `part`: what the schema is of the tool. Throws `invalid_request` for a schema that cannot be used. */
export function toolSchema(tool: string, part: Part, given: Readonly<Json> | StandardSchema): ToolSchema {
  return isStandard(given) ? standardSchema(tool, part, given) : jsonSchema(tool, part, given as Json);
}

/** Judges by a tool's JSON Schema; throws {@link ToolError} where that makes it too slow. */
export function inTimeFor<T>(tool: string, judge: () => T, part: Part = 'parameters'): T {
  try {
    return judge();
  } catch (error) {
    if (error instanceof TookTooLong) throw refusal(tool, part, '', tooSlow("the tool's JSON Schema"));
    throw error;
  }
}

/** What does not fit. `path`: where, with dots. */
export function refusal(tool: string, part: Part, path: string, problem: string): ToolError {
  const [name, said] = REFUSALS[part];
  return new ToolError(`${said(tool)} ${path ? `${path} ` : ''}${problem}`, { name, data: { path } as Value });
}

function isStandard(given: Readonly<Json> | StandardSchema): given is StandardSchema {
  const { '~standard': standard } = given as Partial<StandardSchema>;
  return typeof standard?.validate === 'function';
}

function standardSchema(tool: string, part: Part, given: StandardSchema): ToolSchema {
  const { validate } = given['~standard'];
  return {
    schema: toldSchema(tool, part, given),
    changes: true,
    check: (value) => {
      const validated = validate(value);
      if (validated instanceof Promise) {
        validated.catch(() => {});
        throw refusal(tool, part, '', 'the schema of the tool answers later, and one that answers at once is wanted');
      }
      if (!validated.issues) return validated.value;
      const [issue] = validated.issues;
      const keys = issue?.path?.map((key) => String(typeof key === 'object' ? key.key : key)) ?? [];
      throw refusal(tool, part, keys.join('.'), issue?.message ?? 'does not fit');
    },
  };
}

function toldSchema(tool: string, part: Part, given: StandardSchema): Json {
  const io = part === 'parameters' ? 'input' : 'output';
  if (given instanceof z.ZodType) return z.toJSONSchema(given, { io, unrepresentable: 'any' }) as Json;
  const { vendor, jsonSchema: told } = given['~standard'];
  try {
    if (told) return told[io]({ target: 'draft-2020-12' });
  } catch (cause) {
    throw new FermataError('invalid_request', `tool ${tool}: its ${part} have no JSON Schema: ${(cause as Error).message}`, { cause });
  }
  throw new FermataError('invalid_request', `tool ${tool}: its ${part} are a schema of ${vendor}, which does not say what it is as a JSON Schema`, {
    hint: 'Use a version of that library that has `~standard.jsonSchema`, or write a JSON Schema.',
  });
}

function jsonSchema(tool: string, part: Part, schema: Json): ToolSchema {
  const issueOf = compiled(schema, part === 'parameters' ? `the parameters of ${tool} are` : `the result of ${tool} is`);
  return {
    schema,
    changes: false,
    check: (value) => {
      const issue = inTimeFor(tool, () => issueOf(value), part);
      if (issue) throw refusal(tool, part, issue.path, issue.message);
      return value;
    },
  };
}

function compiled(schema: Json, what: string): SchemaCheck {
  try {
    // `ownProperties`: an argument may be called `constructor`.
    ajv ??= newAjv({ strict: false, allErrors: false, ownProperties: true });
    return schemaCheck(ajv, schema);
  } catch (cause) {
    if (cause instanceof TookTooLong) throw new FermataError('invalid_request', `${what} too large a JSON Schema: it cannot be compiled in time`, { cause });
    throw new FermataError('invalid_request', `${what} not a JSON Schema: ${(cause as Error).message}`, { cause });
  }
}
