/**
 * Arguments that a tool would not take.
 *
 * Where all of them are known, the tool's own check has the last word. Where some are not, only what is wrong whatever they
 * are is told: a name that is missing or too many, or a known value that does not fit its place.
 */
import { nearestName } from '@fermata/protocol';
import type { Ajv } from 'ajv';
import { newAjv } from '../../new-ajv.ts';
import { type SchemaCheck, schemaCheck, TookTooLong } from '../../schema-check.ts';
import type { CheckedTool } from '../check-options.ts';
import type { GivenArguments, ToolCallFact } from '../facts.ts';

type Schema = Readonly<Record<string, unknown>>;

/** What speaks of the arguments as a whole, and may come out otherwise once all are known. */
const OF_ALL = ['required', 'minProperties', 'maxProperties', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', '$ref', '$dynamicRef', 'const', 'enum'];
const DEPENDENT = ['dependentRequired', 'dependentSchemas', 'dependencies', 'unevaluatedProperties', 'propertyNames'];
let ajv: Ajv | undefined;
const partial = new WeakMap<Schema, SchemaCheck | null>();

/** One sentence that says what is wrong and what to write, or undefined. */
export function argumentFault(call: ToolCallFact, tool: CheckedTool, language: 'python' | 'javascript'): string | undefined {
  const { args } = call;
  const { name, names } = tool;
  if (args.positional.length > 0 && names === null) {
    const how = language === 'python' ? `keyword arguments, like tools.${name}(key=value)` : `one object with its arguments: await tools.${name}({ ... })`;
    return `tools.${name} takes ${how}.`;
  }
  if (args.positional.length > (names?.length ?? 0)) return `tools.${name} takes ${counted(names ?? [])}, but ${args.positional.length} are given: leave out the rest.`;
  const given = byName(args, names ?? []);
  if (typeof given === 'string') return `tools.${name} gets two values for ${given}: give it once.`;
  if (!tool.parameters) return undefined;
  const known = new Map([...given].flatMap(([key, value]) => (value === undefined ? [] : [[key, value.value]])));
  if (!args.open && known.size === given.size && tool.check) return faultOfAll(Object.fromEntries(known), tool);
  return faultOfNames(given, args.open, tool.parameters, tool) ?? (isOfZod(tool.parameters) ? undefined : faultOfKnown(known, tool));
}

/** What zod says of its types as JSON Schema is not all that they take: a coerced number takes a text, too. */
function isOfZod({ $schema }: Schema): boolean {
  return $schema === 'https://json-schema.org/draft/2020-12/schema';
}

function byName({ positional, named }: GivenArguments, names: readonly string[]): Map<string, { value: unknown } | undefined> | string {
  const all = new Map<string, { value: unknown } | undefined>();
  for (const [i, value] of positional.entries()) all.set(names[i] as string, value);
  for (const [key, { value }] of named) {
    if (all.has(key)) return key;
    all.set(key, value);
  }
  return all;
}

function faultOfAll(record: Record<string, unknown>, { check, name, names, parameters }: CheckedTool): string | undefined {
  try {
    check?.(record as never);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    const { required } = parameters as Schema;
    const missing = Array.isArray(required) ? required.filter((key) => !(key in record)) : [];
    const extra = names ? Object.keys(record).filter((key) => !names.includes(key)) : [];
    if (missing.length > 0) return missingNames(name, missing as string[], names, extra);
    if (/additional/.test(message) && extra.length > 0) return unknownName(name, extra[0] as string, names);
    return `${message.charAt(0).toUpperCase()}${message.slice(1)}: correct that argument of tools.${name}.`;
  }
}

/** Names are known even where values are not. */
function faultOfNames(given: ReadonlyMap<string, unknown>, open: boolean, schema: Schema, { name, names }: CheckedTool): string | undefined {
  const { required, properties, additionalProperties, patternProperties } = schema;
  const extra = additionalProperties === false && !patternProperties ? [...given.keys()].filter((key) => !Object.hasOwn((properties ?? {}) as object, key)) : [];
  const missing = Array.isArray(required) && !open && !isOfZod(schema) ? (required as string[]).filter((key) => !given.has(key)) : [];
  if (missing.length > 0) return missingNames(name, missing, names, extra);
  return extra.length > 0 ? unknownName(name, extra[0] as string, names) : undefined;
}

function faultOfKnown(known: ReadonlyMap<string, unknown>, { name, parameters }: CheckedTool): string | undefined {
  const issue = issueOf(known, parameters as Schema);
  return issue && `Invalid arguments for ${name}: ${issue.path} ${issue.message}: correct that argument of tools.${name}.`;
}

/** What cannot be judged in time is left to the call itself. */
function issueOf(known: ReadonlyMap<string, unknown>, schema: Schema): ReturnType<SchemaCheck> {
  try {
    return partOf(schema)?.(Object.fromEntries(known));
  } catch (error) {
    if (error instanceof TookTooLong) return undefined;
    throw error;
  }
}

/** The schema as far as it speaks of single arguments; null where it cannot be taken apart. */
function partOf(schema: Schema): SchemaCheck | null {
  const before = partial.get(schema);
  if (before !== undefined) return before;
  const part = Object.fromEntries(Object.entries(schema).filter(([key]) => ![...OF_ALL, ...DEPENDENT, '$id'].includes(key)));
  let made: SchemaCheck | null;
  try {
    ajv ??= newAjv({ strict: false, allErrors: false, ownProperties: true, logger: false });
    made = schemaCheck(ajv, part);
  } catch {
    made = null;
  }
  partial.set(schema, made);
  return made;
}

function missingNames(tool: string, missing: readonly string[], names: readonly string[] | null, extra: readonly string[]): string {
  const [wrong] = extra;
  const only = missing.length === 1 && extra.length === 1 ? missing[0] : undefined;
  const meant = wrong === undefined ? undefined : (nearestName(wrong, missing) ?? only);
  if (meant !== undefined) return `tools.${tool} has no argument '${wrong}': did you mean '${meant}'?`;
  return `tools.${tool} needs ${missing.map((key) => `'${key}'`).join(', ')}: add ${missing.length > 1 ? 'them' : 'it'}; it takes ${counted(names ?? [...missing])}.`;
}

function unknownName(tool: string, wrong: string, names: readonly string[] | null): string {
  const meant = nearestName(wrong, names ?? []);
  return `tools.${tool} has no argument '${wrong}': ${meant === undefined ? `leave it out; it takes ${counted(names ?? [])}` : `did you mean '${meant}'?`}${meant === undefined ? '.' : ''}`;
}

function counted(names: readonly string[]): string {
  return names.length === 0 ? 'no arguments' : names.join(', ');
}
