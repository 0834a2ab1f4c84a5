/**
 * Checks by a JSON Schema that may have come from anywhere: to compile it, and to judge a value by it, takes a bounded time.
 */
import type { Ajv, ValidateFunction } from 'ajv';
import { inTime, JUDGING_MS, TookTooLong } from './judged-in-time.ts';

export interface SchemaIssue {
  path: string;
  message: string;
  keyword?: string;
  params?: Record<string, unknown>;
}

/** What is wrong with a value; undefined where it fits. Throws {@link TookTooLong}. */
export type SchemaCheck = (value: unknown) => SchemaIssue | undefined;

const COMPILING_MS = 1000;
/** A schema of these alone takes time in proportion to the value, and needs no clock. */
const LINEAR = new Set([
  ...['$schema', 'title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly', 'nullable', 'format'],
  ...['type', 'const', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties', 'required'],
]);
const MOST_CHOICES = 64;
const MOST_LEVELS = 32;

/** Compiled checks by the text of their schema, the one that was used last at the end. Programs bring the same tools again and again. */
const known = new WeakMap<Ajv, Map<string, SchemaCheck>>();
const MOST_KNOWN = 1000;
const MOST_TEXT = 16 * 1024;

/** Throws what ajv throws at a schema that is none, and {@link TookTooLong} for one that cannot be compiled in time. */
export function schemaCheck(ajv: Ajv, schema: Record<string, unknown>): SchemaCheck {
  const text = JSON.stringify(schema);
  const checks = known.get(ajv) ?? new Map<string, SchemaCheck>();
  known.set(ajv, checks);
  const check = checks.get(text) ?? compiled(ajv, schema);
  if (text.length > MOST_TEXT) return check;
  checks.delete(text);
  checks.set(text, check);
  if (checks.size > MOST_KNOWN) checks.delete(checks.keys().next().value as string);
  return check;
}

function compiled(ajv: Ajv, schema: Record<string, unknown>): SchemaCheck {
  const plain = isLinear(schema, MOST_LEVELS);
  const validate: ValidateFunction = plain ? ajv.compile(schema) : inTime(() => ajv.removeSchema(schema).compile(schema), COMPILING_MS);
  // Ajv would keep it for as long as the process lives.
  ajv.removeSchema(schema);
  return (value) => {
    if (plain ? validate(value) : inTime(() => validate(value))) return undefined;
    const { instancePath = '', message = 'does not fit', keyword, params } = validate.errors?.[0] ?? {};
    return { path: instancePath.slice(1).replaceAll('/', '.'), message, ...(keyword ? { keyword } : {}), ...(params ? { params } : {}) };
  };
}

/** The sentence for a value that could not be judged by `what` in time. */
export function tooSlow(what: string): string {
  return `${what} is too slow to judge this: it took more than ${JUDGING_MS} ms`;
}

export { TookTooLong };

function isLinear(schema: unknown, levels: number): boolean {
  if (typeof schema === 'boolean') return true;
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema) || levels === 0) return false;
  return Object.entries(schema).every(([keyword, given]) => {
    if (LINEAR.has(keyword)) return true;
    if (keyword === 'enum') return Array.isArray(given) && given.length <= MOST_CHOICES;
    if (keyword === 'items' || keyword === 'additionalProperties') return isLinear(given, levels - 1);
    if (keyword !== 'properties' || given === null || typeof given !== 'object') return false;
    return Object.values(given).every((property) => isLinear(property, levels - 1));
  });
}
