/**
 * Schemas of an OpenAPI document as JSON Schema (2020-12) of what is sent, or of what is answered: what a `$ref` leads to becomes a
 * definition, recursive ones too; what 3.0 says in its own way is said as JSON Schema does. What only a service sets (`readOnly`) is
 * left out of what is sent, what it never tells (`writeOnly`) of what is answered.
 */
import { isRecord, type Json, type OpenApiDocument } from './openapi-document.ts';

const KEPT = new Set(
  'type enum const format default description required minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems maxItems uniqueItems minProperties maxProperties dependentRequired'.split(
    ' ',
  ),
);
const OF_SCHEMA = new Set('items additionalProperties not contains propertyNames if then else unevaluatedProperties unevaluatedItems'.split(' '));
const OF_SCHEMAS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const OF_NAMED_SCHEMAS = new Set(['properties', 'patternProperties']);

export class OpenApiSchemas {
  /** What `#/$defs/<name>` in the schemas stands for. */
  readonly defs: Record<string, unknown> = {};
  readonly #names = new Map<string, string>();
  readonly #document: OpenApiDocument;
  readonly #left: 'readOnly' | 'writeOnly';

  constructor(document: OpenApiDocument, of: 'sent' | 'answered' = 'sent') {
    this.#document = document;
    this.#left = of === 'sent' ? 'readOnly' : 'writeOnly';
  }

  /** Throws `invalid_request` for a `$ref` that does not lead to a place in the document. */
  converted(schema: unknown): unknown {
    if (!isRecord(schema)) return schema === false ? false : {};
    const { $ref, ...rest } = schema;
    if (typeof $ref !== 'string') return this.#plain(schema);
    const link = { $ref: `#/$defs/${this.#definition($ref)}` };
    return this.#document.isOf30 ? link : { ...(this.#plain(rest) as Json), ...link };
  }

  #definition(ref: string): string {
    const known = this.#names.get(ref);
    if (known !== undefined) return known;
    const wanted = (ref.split('/').at(-1) ?? '').replace(/~[01]|%[0-9a-f]{2}|[^A-Za-z0-9_]/gi, '_') || 'schema';
    let name = wanted;
    for (let n = 2; Object.hasOwn(this.defs, name); n++) name = `${wanted}_${n}`;
    this.#names.set(ref, name);
    this.defs[name] = {};
    this.defs[name] = this.converted(this.#document.at(ref));
    return name;
  }

  #plain(schema: Json): unknown {
    const made: Json = {};
    for (const [key, value] of Object.entries(schema)) {
      if (KEPT.has(key)) made[key] = value;
      else if (OF_SCHEMA.has(key)) made[key] = typeof value === 'boolean' ? value : this.converted(value);
      else if (OF_SCHEMAS.has(key) && Array.isArray(value)) made[key] = value.map((one) => this.converted(one));
      else if (OF_NAMED_SCHEMAS.has(key) && isRecord(value)) {
        made[key] = Object.fromEntries(Object.entries(value).flatMap(([name, one]) => (this.#isLeftOut(one) ? [] : [[name, this.converted(one)]])));
      }
    }
    if (Array.isArray(made.required) && isRecord(schema.properties)) {
      const { properties } = schema;
      const required = made.required.filter((name) => !this.#isLeftOut(properties[name as string]));
      if (required.length > 0) made.required = required;
      else delete made.required;
    } else if (!Array.isArray(made.required)) delete made.required;
    if (made.format === 'binary' || schema.contentMediaType === 'application/octet-stream') {
      delete made.type;
      made.format = 'binary';
    }
    return this.#document.isOf30 ? as2020(made, schema) : made;
  }

  #isLeftOut(schema: unknown): boolean {
    return isRecord(schema) && schema[this.#left] === true;
  }
}

function as2020(made: Json, { nullable }: Json): Json {
  for (const [bound, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof made[bound] !== 'boolean') continue;
    if (made[bound]) {
      made[bound] = made[limit];
      delete made[limit];
    } else delete made[bound];
  }
  if (nullable !== true) return made;
  if (Array.isArray(made.enum) && !made.enum.includes(null)) made.enum = [...made.enum, null];
  if (typeof made.type === 'string') return { ...made, type: [made.type, 'null'] };
  if (made.format === 'binary' || !(made.allOf ?? made.anyOf ?? made.oneOf)) return made;
  const { description, default: standard, ...rest } = made;
  return { ...(description === undefined ? {} : { description }), ...(standard === undefined ? {} : { default: standard }), anyOf: [rest, { type: 'null' }] };
}
