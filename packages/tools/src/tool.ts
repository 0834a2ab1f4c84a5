/** Tools: functions of the host that a program may call by name. */
import { FermataError, parseOptions, type ValueRecord } from '@fermata/protocol';
import { strictOptions } from '@fermata/protocol/schemas';
import { z } from 'zod';
import { type ToolCallInfo, ToolError } from './tool-error.ts';
import { checkToolLimits, createToolGate, type ToolGate, type ToolLimits, toolLimitsShape, withTimeout } from './tool-limits.ts';
import { type StandardSchema, type ToolArguments, type ToolParameters, toolSchema } from './tool-schema.ts';

export { type ToolArguments, type ToolCallInfo, ToolError, type ToolParameters };

export interface ToolDefinition<P extends ToolParameters = ToolParameters> extends ToolLimits {
  /** Letters, digits, `_`, `-` and `.`; a dot makes a group: `crm.find` is called as `tools.crm.find(...)`. */
  name: string;
  description?: string;
  parameters?: P;
  /** What it returns, a schema of any kind: told in stubs. A result that does not fit is the tool's failure. */
  result?: { readonly [key: string]: unknown } | StandardSchema | undefined;
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
  /** The arguments as policy is to see them, where that is not as they are. Asked for those only that `check` lets through. */
  readonly judged?: ((args: ValueRecord) => ValueRecord) | undefined;
  readonly execute: ((args: never, info: ToolCallInfo) => unknown) | undefined;
  readonly timeoutMs?: number | undefined;
  readonly retry?: ToolLimits['retry'] | undefined;
  /** Passed before each call. */
  readonly gate?: ToolGate | undefined;
}

/** ArkType's schemas are functions. */
const isSchema = (value: unknown) => value !== null && (typeof value === 'object' || typeof value === 'function');
const definitionSchema = strictOptions({
  name: z.string(),
  description: z.string().optional(),
  parameters: z.custom<ToolParameters>(isSchema, 'a schema is wanted: zod, another Standard Schema, or JSON Schema').optional(),
  result: z.custom<ToolDefinition['result']>(isSchema, 'a schema is wanted: zod, another Standard Schema, or JSON Schema').optional(),
  ...toolLimitsShape,
  idempotent: z.boolean().optional(),
  requiresApproval: z.boolean().optional(),
  execute: z.custom<Tool['execute']>((value) => typeof value === 'function', 'a function is wanted').optional(),
} satisfies Record<keyof ToolDefinition, z.ZodType>);

const NAME = /^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*$/;

/** Makes a tool; throws `invalid_request` for a name or schema that cannot be used, and for a key that a tool does not have. */
export function defineTool<const P extends ToolParameters>(definition: ToolDefinition<P>): Tool {
  parseOptions(definitionSchema, definition, calledTool(definition));
  const { name, description = '', idempotent = false, requiresApproval = false, execute } = definition;
  if (!NAME.test(name)) {
    throw new FermataError('invalid_request', `${JSON.stringify(name)} cannot be a tool's name`, { hint: 'Use letters, digits, _ and -, with dots for groups.' });
  }
  const { timeoutMs, retry, result } = definition;
  checkToolLimits(name, definition, idempotent);
  const { schema, check, changes } = toolSchema(name, 'parameters', definition.parameters ?? { type: 'object' });
  const returned = result && toolSchema(name, 'result', result);
  const bounded = execute && timeoutMs !== undefined ? withTimeout(name, timeoutMs, execute as never) : execute;
  return {
    ...{ name, description, parameters: schema, idempotent, requiresApproval, check },
    // A schema that makes something else of its input must not hide it from rules, nor what was given.
    judged: changes ? (args) => ({ ...args, ...(check(args) as ValueRecord) }) : undefined,
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
    if (!tool.execute && (tool.retry ?? tool.gate) !== undefined) {
      throw new FermataError('invalid_request', `tool ${tool.name}: retry, maxConcurrent and circuitBreaker go with execute`, {
        hint: 'Who answers the calls of a client-side tool decides how often it tries; timeoutMs says how long its answer is waited for.',
      });
    }
    if (byName.has(tool.name)) throw new FermataError('invalid_request', `two tools have the name ${tool.name}`);
    byName.set(tool.name, tool);
  }
  return byName;
}

/** Whether `defineTool` has made it, that of another copy of this package included. */
function isMade(given: Tool | ToolDefinition): given is Tool {
  return given !== null && typeof given === 'object' && 'check' in given && typeof given.check === 'function';
}
