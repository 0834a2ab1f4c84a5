/** Tools: functions of the host that a program may call by name. */
import { FermataError, parseOptions, strictOptions, type Value, type ValueRecord } from '@fermata/protocol';
import { Ajv } from 'ajv';
import { z } from 'zod';
import type { JsonArguments } from './json-arguments.ts';
import { type SchemaCheck, schemaCheck, TookTooLong, tooSlow } from './schema-check.ts';

/** A JSON Schema of an object, or a zod object. */
export type ToolParameters = { readonly [key: string]: unknown } | z.ZodObject;
/**
 * The arguments that a schema lets through. Of a JSON Schema that stands in `defineTool` itself (or is `as const`) they are
 * inferred; of one that is only known as a record, they are any record.
 */
export type ToolArguments<P> = P extends z.ZodType ? z.output<P> : JsonArguments<P>;

export interface ToolCallInfo {
  taskId: string;
  /** Of a durable task it is a text, of one in memory the number that `answer` takes. */
  callId: string | number;
  /** The same for every try of one call. Give it to the service behind the tool, so that a repeat has no second effect. */
  idempotencyKey: string;
  /** Aborted when the task is cancelled or runs out of time. */
  signal: AbortSignal;
}

export interface ToolDefinition<P extends ToolParameters = ToolParameters> {
  /** Letters, digits, `_`, `-` and `.`; a dot makes a group: `crm.find` is called as `tools.crm.find(...)`. */
  name: string;
  description?: string;
  parameters?: P;
  /** Calling it twice has the effect of calling it once, so a call whose outcome was lost may be repeated. */
  idempotent?: boolean;
  /** A person, or the `approve` of the task, must agree before each call. */
  requiresApproval?: boolean;
  /** Absent for a client-side tool: the task then waits for `answer`. */
  execute?: (args: ToolArguments<P>, info: ToolCallInfo) => unknown;
}

/** A tool ready to be given to `run` or `createFermata`. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Record<string, unknown>;
  readonly idempotent: boolean;
  readonly requiresApproval: boolean;
  /** Checks arguments; returns them as the tool takes them, or throws {@link ToolError}. */
  readonly check: (args: ValueRecord) => unknown;
  readonly execute: ((args: never, info: ToolCallInfo) => unknown) | undefined;
}

/** What a tool throws to tell the program more than a message. Any other error is passed on by its name and message. */
export class ToolError extends Error {
  override readonly name: string;
  readonly data: Value;
  constructor(message: string, options: { name?: string; data?: Value } = {}) {
    super(message);
    this.name = options.name ?? 'ToolError';
    this.data = options.data;
  }
}

const definitionSchema = strictOptions({
  name: z.string(),
  description: z.string().optional(),
  parameters: z.custom<ToolParameters>((value) => value !== null && typeof value === 'object', 'a zod object or a JSON Schema is wanted').optional(),
  idempotent: z.boolean().optional(),
  requiresApproval: z.boolean().optional(),
  execute: z.custom<Tool['execute']>((value) => typeof value === 'function', 'a function is wanted').optional(),
} satisfies Record<keyof ToolDefinition, z.ZodType>);

const NAME = /^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*$/;
const ajv = new Ajv({ strict: false, allErrors: false });

/** Makes a tool; throws `invalid_request` for a name or schema that cannot be used, and for a key that a tool does not have. */
export function defineTool<const P extends ToolParameters>(definition: ToolDefinition<P>): Tool {
  parseOptions(definitionSchema, definition, calledTool(definition));
  const { name, description = '', idempotent = false, requiresApproval = false, execute } = definition;
  if (!NAME.test(name)) {
    throw new FermataError('invalid_request', `${JSON.stringify(name)} cannot be a tool's name`, { hint: 'Use letters, digits, _ and -, with dots for groups.' });
  }
  const given = definition.parameters ?? { type: 'object' };
  const { schema, check } = given instanceof z.ZodType ? zodParameters(given, name) : jsonParameters(given, name);
  return { name, description, parameters: schema, idempotent, requiresApproval, check, execute };
}

/** How an error calls a definition that may be anything. */
function calledTool(definition: { name?: unknown } | null | undefined): string {
  return typeof definition?.name === 'string' ? `tool ${definition.name}` : 'tool';
}

/** Argument names in the order of the schema, or null where it names none. */
export function parameterNames(tool: Tool): string[] | null {
  const { properties } = tool.parameters;
  return properties !== null && typeof properties === 'object' ? Object.keys(properties) : null;
}

/** Tools by name; refuses a name given twice. */
export function toolsByName(tools: readonly (Tool | ToolDefinition)[]): Map<string, Tool> {
  const byName = new Map<string, Tool>();
  for (const given of tools) {
    const tool = isMade(given) ? given : defineTool(given);
    if (byName.has(tool.name)) throw new FermataError('invalid_request', `two tools have the name ${tool.name}`);
    byName.set(tool.name, tool);
  }
  return byName;
}

/** Whether `defineTool` has made it, that of another copy of this package included. */
function isMade(given: Tool | ToolDefinition): given is Tool {
  return given !== null && typeof given === 'object' && 'check' in given && typeof given.check === 'function';
}

function zodParameters(schema: z.ZodType, name: string) {
  return {
    schema: z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Record<string, unknown>,
    check: (args: ValueRecord) => {
      const parsed = schema.safeParse(args);
      if (parsed.success) return parsed.data;
      const issue = parsed.error.issues[0];
      throw badArguments(name, issue?.path.join('.') ?? '', issue?.message ?? 'does not fit');
    },
  };
}

function jsonParameters(schema: Record<string, unknown>, name: string) {
  let issueOf: SchemaCheck;
  try {
    issueOf = schemaCheck(ajv, schema);
  } catch (cause) {
    if (cause instanceof TookTooLong) throw new FermataError('invalid_request', `the parameters of ${name} are too large a JSON Schema: it cannot be compiled in time`, { cause });
    throw new FermataError('invalid_request', `the parameters of ${name} are not a JSON Schema: ${(cause as Error).message}`, { cause });
  }
  return {
    schema,
    check: (args: ValueRecord) => {
      const issue = inTimeFor(name, () => issueOf(args));
      if (!issue) return args;
      throw badArguments(name, issue.path, issue.message);
    },
  };
}

/** Judges arguments; throws {@link ToolError} where the tool's schema makes that too slow. */
export function inTimeFor<T>(name: string, judge: () => T): T {
  try {
    return judge();
  } catch (error) {
    if (error instanceof TookTooLong) throw badArguments(name, '', tooSlow("the tool's JSON Schema"));
    throw error;
  }
}

function badArguments(name: string, path: string, problem: string): ToolError {
  return new ToolError(`invalid arguments for ${name}: ${path ? `${path} ` : ''}${problem}`, { name: 'InvalidArguments', data: { path } });
}
