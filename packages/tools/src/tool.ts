/** Tools: functions of the host that a program may call by name. */
import { FermataError, parseOptions, type ValueRecord } from '@fermata/protocol';
import { strictOptions } from '@fermata/protocol/schemas';
import type { Ajv } from 'ajv';
import { z } from 'zod';
import type { JsonArguments } from './json-arguments.ts';
import { newAjv } from './new-ajv.ts';
import { type SchemaCheck, schemaCheck, TookTooLong, tooSlow } from './schema-check.ts';
import { type ToolCallInfo, ToolError } from './tool-error.ts';
import { checkToolLimits, createToolGate, type ToolGate, type ToolLimits, toolLimitsShape, withTimeout } from './tool-limits.ts';

export { type ToolCallInfo, ToolError };

/** A JSON Schema of an object, or a zod object. */
export type ToolParameters = { readonly [key: string]: unknown } | z.ZodObject;
/**
 * The arguments that a schema lets through. Of a JSON Schema that stands in `defineTool` itself (or is `as const`) they are
 * inferred; of one that is only known as a record, they are any record.
 */
export type ToolArguments<P> = P extends z.ZodType ? z.output<P> : JsonArguments<P>;

export interface ToolDefinition<P extends ToolParameters = ToolParameters> extends ToolLimits {
  /** Letters, digits, `_`, `-` and `.`; a dot makes a group: `crm.find` is called as `tools.crm.find(...)`. */
  name: string;
  description?: string;
  parameters?: P;
  /** What it returns, a JSON Schema or a zod type: told in stubs. A result that does not fit is the tool's failure. */
  result?: { readonly [key: string]: unknown } | z.ZodType | undefined;
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
  /** JSON Schema of what it returns, where that is known. */
  readonly result?: Record<string, unknown> | undefined;
  /** Checks what it has returned; throws {@link ToolError}. */
  readonly checkResult?: ((value: unknown) => unknown) | undefined;
  readonly idempotent: boolean;
  readonly requiresApproval: boolean;
  /** Checks arguments; returns them as the tool takes them, or throws {@link ToolError}. */
  readonly check: (args: ValueRecord) => unknown;
  readonly execute: ((args: never, info: ToolCallInfo) => unknown) | undefined;
  readonly timeoutMs?: number | undefined;
  readonly retry?: ToolLimits['retry'] | undefined;
  /** Passed before each call. */
  readonly gate?: ToolGate | undefined;
}

const definitionSchema = strictOptions({
  name: z.string(),
  description: z.string().optional(),
  parameters: z.custom<ToolParameters>((value) => value !== null && typeof value === 'object', 'a zod object or a JSON Schema is wanted').optional(),
  result: z.custom<ToolDefinition['result']>((value) => value !== null && typeof value === 'object', 'a zod type or a JSON Schema is wanted').optional(),
  ...toolLimitsShape,
  idempotent: z.boolean().optional(),
  requiresApproval: z.boolean().optional(),
  execute: z.custom<Tool['execute']>((value) => typeof value === 'function', 'a function is wanted').optional(),
} satisfies Record<keyof ToolDefinition, z.ZodType>);

const NAME = /^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*$/;
const ajvs: { 7?: Ajv; 2020?: Ajv } = {};

/** Makes a tool; throws `invalid_request` for a name or schema that cannot be used, and for a key that a tool does not have. */
export function defineTool<const P extends ToolParameters>(definition: ToolDefinition<P>): Tool {
  parseOptions(definitionSchema, definition, calledTool(definition));
  const { name, description = '', idempotent = false, requiresApproval = false, execute } = definition;
  if (!NAME.test(name)) {
    throw new FermataError('invalid_request', `${JSON.stringify(name)} cannot be a tool's name`, { hint: 'Use letters, digits, _ and -, with dots for groups.' });
  }
  const { timeoutMs, retry, result } = definition;
  checkToolLimits(name, definition, idempotent);
  const given = definition.parameters ?? { type: 'object' };
  const { schema, check } = given instanceof z.ZodType ? zodParameters(given, name) : jsonParameters(given, name);
  const returned = result && (result instanceof z.ZodType ? zodResult(result, name) : jsonResult(result, name));
  const bounded = execute && timeoutMs !== undefined ? withTimeout(name, timeoutMs, execute as never) : execute;
  return {
    ...{ name, description, parameters: schema, idempotent, requiresApproval, check },
    ...{ result: returned?.schema, checkResult: returned?.check, timeoutMs, retry, gate: createToolGate(name, definition) },
    execute: bounded && returned ? async (args, info) => returned.check(await bounded(args, info)) : bounded,
  };
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
  const issueOf = compiled(schema, `the parameters of ${name} are`);
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
  return inTimeOr((why) => badArguments(name, '', why), judge);
}

function inTimeOr<T>(fault: (why: string) => ToolError, judge: () => T): T {
  try {
    return judge();
  } catch (error) {
    if (error instanceof TookTooLong) throw fault(tooSlow("the tool's JSON Schema"));
    throw error;
  }
}

function zodResult(schema: z.ZodType, name: string) {
  return {
    schema: z.toJSONSchema(schema, { unrepresentable: 'any' }) as Record<string, unknown>,
    check: (value: unknown) => {
      const parsed = schema.safeParse(value);
      if (parsed.success) return parsed.data;
      const issue = parsed.error.issues[0];
      throw badResult(name, issue?.path.join('.') ?? '', issue?.message ?? 'does not fit');
    },
  };
}

function jsonResult(schema: Record<string, unknown>, name: string) {
  const issueOf = compiled(schema, `the result of ${name} is`);
  return {
    schema,
    check: (value: unknown) => {
      const issue = inTimeOr(
        (why) => badResult(name, '', why),
        () => issueOf(value),
      );
      if (!issue) return value;
      throw badResult(name, issue.path, issue.message);
    },
  };
}

function compiled(schema: Record<string, unknown>, what: string): SchemaCheck {
  try {
    // `ownProperties`: an argument may be called `constructor`.
    const draft = typeof schema.$schema === 'string' && schema.$schema.includes('2020-12') ? 2020 : 7;
    ajvs[draft] ??= newAjv({ strict: false, allErrors: false, ownProperties: true }, draft);
    return schemaCheck(ajvs[draft], schema);
  } catch (cause) {
    if (cause instanceof TookTooLong) throw new FermataError('invalid_request', `${what} too large a JSON Schema: it cannot be compiled in time`, { cause });
    throw new FermataError('invalid_request', `${what} not a JSON Schema: ${(cause as Error).message}`, { cause });
  }
}

function badResult(name: string, path: string, problem: string): ToolError {
  return new ToolError(`${name} answered what it does not promise: ${path ? `${path} ` : ''}${problem}`, { name: 'InvalidResult', data: { path } });
}

function badArguments(name: string, path: string, problem: string): ToolError {
  return new ToolError(`invalid arguments for ${name}: ${path ? `${path} ` : ''}${problem}`, { name: 'InvalidArguments', data: { path } });
}
