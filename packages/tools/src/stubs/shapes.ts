/**
 * What a JSON Schema lets through, in the words that type systems have in common. What a `$ref` leads to gets a name, so that
 * recursive schemas have an end and what is used often is said once.
 */
import type { StubTool } from './stub-tool.ts';

export type Shape =
  | { is: 'any' | 'bytes' | 'string' | 'number' | 'integer' | 'boolean' | 'null' }
  | { is: 'literals'; values: (string | number | boolean | null)[] }
  | { is: 'union' | 'all'; of: Shape[] }
  | { is: 'array'; of: Shape }
  | { is: 'tuple'; of: Shape[] }
  | RecordShape
  | { is: 'named'; name: string };

export interface RecordShape {
  is: 'record';
  fields: Field[];
  /** Of fields that have no name here; absent where there are none to speak of. */
  others?: Shape;
}

export interface Field {
  name: string;
  shape: Shape;
  required: boolean;
  /** Its format and default, in few words. */
  note: string;
  /** Absent where there is none that a type could show. */
  default?: string | number | boolean | null;
}

type Schema = Record<string, unknown>;

const ANY: Shape = { is: 'any' };
const KINDS = new Set(['string', 'number', 'integer', 'boolean', 'null']);
/** Names that mean something in one of the languages. */
const TAKEN = ['Any', 'Array', 'False', 'Literal', 'None', 'NotRequired', 'Promise', 'Record', 'Required', 'True', 'TypedDict', 'Uint8Array'];
/** Levels after which a schema is any value. */
const MAX_DEPTH = 40;
/** Parts of a schema that are looked at, of one tool and of all; what is beyond is any value. Few words can ask for very many. */
const MOST_PARTS = 5_000;
const MOST_PARTS_IN_ALL = 200_000;
const LONGEST_DEFAULT = 40;

export class Shapes {
  /** What the names stand for, each after those that it was first met in. */
  readonly named = new Map<string, Shape>();
  readonly #taken = new Set(TAKEN);
  /** What a schema that leads to itself is called. */
  #selfName = '';
  /** By the schema itself where several tools share it, else by what it says. */
  readonly #names = new Map<object | string, string>();
  /** What schemas say of their definitions, by these and by the schema. */
  readonly #numbers = new Map<string, number>();
  readonly #definitions = new WeakMap<Schema, number>();
  /** How often a name was wanted. */
  readonly #wanted = new Map<string, number>();
  #parts = 0;
  #partsOfTool = 0;

  /** Of the arguments of a tool; any where it does not say. */
  ofTool({ parameters }: StubTool): Shape {
    this.#selfName = 'Arguments';
    this.#partsOfTool = 0;
    return this.#shape(parameters, parameters, 0);
  }

  /** Of what a tool returns; any where it does not say. */
  ofResult({ result }: StubTool): Shape {
    this.#selfName = 'Result';
    this.#partsOfTool = 0;
    return result ? this.#shape(result, result, 0) : ANY;
  }

  /** A name that no other shape has. */
  newName(wanted: string): string {
    const plain = wanted
      .split(/[^A-Za-z0-9]+/)
      .filter(Boolean)
      .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
      .join('');
    const start = /^[A-Za-z]/.test(plain) ? plain : `T${plain}`;
    let name = start;
    for (let n = this.#wanted.get(start) ?? 2; this.#taken.has(name); n++) {
      name = `${start}${n}`;
      this.#wanted.set(start, n + 1);
    }
    this.#taken.add(name);
    return name;
  }

  /** A name stands for what it names, however often. */
  plain(shape: Shape): Shape {
    let at = shape;
    for (let steps = 0; at.is === 'named' && steps < 100; steps++) at = this.named.get(at.name) ?? ANY;
    return at.is === 'named' ? ANY : at;
  }

  #shape(given: unknown, root: Schema, depth: number): Shape {
    if (given === null || typeof given !== 'object' || depth > MAX_DEPTH) return ANY;
    if (++this.#partsOfTool > MOST_PARTS || ++this.#parts > MOST_PARTS_IN_ALL) return ANY;
    const schema = given as Schema;
    if (typeof schema.$ref === 'string') return this.#named(schema.$ref, root, depth);
    if (schema.const !== undefined) return literals([schema.const]);
    if (Array.isArray(schema.enum)) return literals(schema.enum);
    const parts = [this.#own(schema, root, depth)];
    for (const key of ['anyOf', 'oneOf'] as const) if (Array.isArray(schema[key])) parts.push(union(schema[key].map((one) => this.#shape(one, root, depth + 1))));
    if (Array.isArray(schema.allOf)) parts.push(...schema.allOf.map((one) => this.#shape(one, root, depth + 1)));
    const telling = parts.filter(({ is }) => is !== 'any');
    return telling.length > 1 ? { is: 'all', of: telling } : (telling[0] ?? ANY);
  }

  #own(schema: Schema, root: Schema, depth: number): Shape {
    const { type, items, prefixItems, properties, additionalProperties, format } = schema;
    if (Array.isArray(type)) return union(type.map((one) => this.#own({ ...schema, type: one }, root, depth)));
    if (format === 'binary') return { is: 'bytes' };
    if (typeof type === 'string' && KINDS.has(type)) return { is: type } as Shape;
    if (type === 'array' || (type === undefined && (items ?? prefixItems) !== undefined)) {
      if (Array.isArray(prefixItems)) return { is: 'tuple', of: prefixItems.map((one) => this.#shape(one, root, depth + 1)) };
      return { is: 'array', of: this.#shape(items, root, depth + 1) };
    }
    if (type !== 'object' && properties === undefined && (type !== undefined || additionalProperties === undefined || additionalProperties === false)) return ANY;
    const required = Array.isArray(schema.required) ? schema.required : [];
    const fields = Object.entries((properties ?? {}) as Schema).map(([name, field]) => this.#field(name, field, required.includes(name), root, depth));
    const isOpen =
      additionalProperties === true || (typeof additionalProperties === 'object' && additionalProperties !== null) || (fields.length === 0 && properties === undefined);
    return { is: 'record', fields, ...(isOpen ? { others: this.#shape(additionalProperties, root, depth + 1) } : {}) };
  }

  #field(name: string, given: unknown, required: boolean, root: Schema, depth: number): Field {
    const { format, default: standard } = (given ?? {}) as Schema;
    const isPlain = standard === null || typeof standard === 'string' || typeof standard === 'number' || typeof standard === 'boolean';
    const shown = isPlain && JSON.stringify(standard).length <= LONGEST_DEFAULT;
    const note = [typeof format === 'string' && format !== 'binary' ? format : '', shown ? `= ${JSON.stringify(standard)}` : ''].filter(Boolean).join(' ');
    return { name, shape: this.#shape(given, root, depth + 1), required, note, ...(shown ? { default: standard as string } : {}) };
  }

  #named(ref: string, root: Schema, depth: number): Shape {
    const schema = at(root, ref);
    if (schema === undefined) return ANY;
    const seen = this.#names.get(schema);
    if (seen !== undefined) return { is: 'named', name: seen };
    const text = `${this.#definitionsOf(root)} ${ref}`;
    const known = this.#names.get(text);
    if (known !== undefined) {
      this.#names.set(schema, known);
      return { is: 'named', name: known };
    }
    const name = this.newName(ref === '#' ? this.#selfName : decoded(ref.split('/').at(-1) as string));
    this.#names.set(schema, name).set(text, name);
    // Its place in the order is before what is found inside.
    this.named.set(name, ANY);
    const shape = this.#shape(schema, root, depth + 1);
    this.named.set(name, this.#standsForItself(name, shape) ? ANY : shape);
    return { is: 'named', name };
  }

  /** A number that schemas with the same definitions have in common. */
  #definitionsOf(root: Schema): number {
    const known = this.#definitions.get(root);
    if (known !== undefined) return known;
    const text = JSON.stringify(root.$defs ?? root.definitions ?? root);
    const number = this.#numbers.get(text) ?? this.#numbers.size;
    this.#numbers.set(text, number);
    this.#definitions.set(root, number);
    return number;
  }

  /** A name that is nothing but itself, or one of several of which it is one. */
  #standsForItself(name: string, shape: Shape, seen = new Set<string>()): boolean {
    if (shape.is === 'union' || shape.is === 'all') return shape.of.some((one) => this.#standsForItself(name, one, seen));
    if (shape.is !== 'named') return false;
    if (shape.name === name) return true;
    if (seen.has(shape.name)) return false;
    return this.#standsForItself(name, this.named.get(shape.name) ?? ANY, seen.add(shape.name));
  }
}

function literals(values: readonly unknown[]): Shape {
  const isPlain = values.every((value) => value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value));
  return isPlain && values.length > 0 ? { is: 'literals', values: [...new Set(values)] as string[] } : ANY;
}

function union(shapes: readonly Shape[]): Shape {
  const all = shapes.flatMap((shape) => (shape.is === 'union' ? shape.of : [shape]));
  const seen = new Set<string>();
  const different = all.filter((shape) => {
    const text = JSON.stringify(shape);
    return seen.has(text) ? false : seen.add(text);
  });
  if (different.length === 0 || different.some(({ is }) => is === 'any')) return ANY;
  return different.length === 1 ? (different[0] as Shape) : { is: 'union', of: different };
}

/** Where a reference inside of a schema leads. */
function at(root: Schema, ref: string): object | undefined {
  if (!ref.startsWith('#')) return undefined;
  let part: unknown = root;
  for (const token of ref.slice(1).split('/').slice(1)) {
    const key = decoded(token).replaceAll('~1', '/').replaceAll('~0', '~');
    part = part !== null && typeof part === 'object' && Object.hasOwn(part, key) ? (part as Schema)[key] : undefined;
  }
  return part !== null && typeof part === 'object' ? part : undefined;
}

/** Of a schema from elsewhere, which may have `%` where nothing is encoded. */
function decoded(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}
