/**
 * Values: what crosses between a program, its tools and its caller.
 *
 * In TypeScript a value is an ordinary JavaScript value. On JSON wires the kinds that JSON lacks stand as a record with
 * the one key `$fermata` (see {@link toWire}), and a record of the user's that has that key is escaped, so every value
 * has exactly one wire form and comes back equal.
 */

/** A plain record: string keys, own enumerable properties. */
export interface ValueRecord {
  [key: string]: Value;
}

/**
 * What can cross a boundary without loss.
 *
 * | here | Python | JavaScript guest |
 * |---|---|---|
 * | `undefined`, `null` | `None` | `undefined`, `null` |
 * | `number` | `int` if integral (not -0), else `float` | `number` |
 * | `bigint` | `int` | `bigint` |
 * | `string` (lone surrogates kept) | `str` | `string` |
 * | `Uint8Array` | `bytes` | `Uint8Array` |
 * | array | `list` | array |
 * | `Map`, `Set` | `dict` with other keys, `set` | `Map`, `Set` |
 * | `Date` | aware `datetime`, UTC | `Date` |
 */
export type Value = undefined | null | boolean | number | bigint | string | Uint8Array | Date | Value[] | Map<Value, Value> | Set<Value> | ValueRecord;

/** Levels of nesting that a value may have. */
export const MAX_VALUE_DEPTH = 200;
/** Digits that an integer may have: to read or write more of them takes long, and a thread with many tasks waits meanwhile. */
export const MAX_INTEGER_DIGITS = 20_000;

/** A value that has no faithful form; `path` says where, e.g. `args.items[3]`. */
export class ValueError extends TypeError {
  override readonly name = 'ValueError';
  readonly path: string;
  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`);
    this.path = path;
  }
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const TAG = '$fermata';

/** A value as JSON; throws {@link ValueError} where there is no faithful form. */
export function toWire(value: unknown, path = 'value', depth = 0): Json {
  if (depth > MAX_VALUE_DEPTH) throw new ValueError(path, `nested more than ${MAX_VALUE_DEPTH} levels deep`);
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') {
    if (Number.isFinite(value) && !Object.is(value, -0)) return value;
    return { [TAG]: ['number', Object.is(value, -0) ? '-0' : String(value)] };
  }
  if (value === undefined) return { [TAG]: ['undefined'] };
  if (typeof value === 'bigint') return { [TAG]: ['integer', digitsOf(value, path)] };
  if (typeof value !== 'object') throw new ValueError(path, `a ${typeof value} cannot be passed on`);
  const child = (inner: unknown, step: string) => toWire(inner, path + step, depth + 1);
  if (Array.isArray(value)) return Array.from(value, (item, index) => child(item, `[${index}]`));
  const bytes = bytesOf(value);
  if (bytes) return { [TAG]: ['bytes', Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')] };
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new ValueError(path, 'an invalid Date cannot be passed on');
    return { [TAG]: ['instant', value.toISOString()] };
  }
  if (value instanceof Map) return { [TAG]: ['map', [...value].map(([k, v], i) => [child(k, `.key(${i})`), child(v, `.value(${i})`)])] };
  if (value instanceof Set) return { [TAG]: ['set', [...value].map((item, i) => child(item, `.item(${i})`))] };
  mustBeRecord(value, path);
  const record: { [key: string]: Json } = {};
  for (const [key, inner] of Object.entries(value)) setOwn(record, key, child(inner, `.${key}`));
  return Object.hasOwn(record, TAG) ? { [TAG]: ['record', record] } : record;
}

/** The value behind a wire form made by {@link toWire}; throws {@link ValueError} on a malformed tag. */
export function fromWire(json: unknown, path = 'value', depth = 0): Value {
  if (depth > MAX_VALUE_DEPTH) throw new ValueError(path, `nested more than ${MAX_VALUE_DEPTH} levels deep`);
  if (json === null || typeof json !== 'object') return json as Value;
  const child = (inner: unknown, step: string) => fromWire(inner, path + step, depth + 1);
  if (Array.isArray(json)) return json.map((item, index) => child(item, `[${index}]`));
  if (Object.hasOwn(json, TAG) && Object.keys(json).length === 1) return fromTag((json as Record<string, unknown>)[TAG], path, child);
  const record: ValueRecord = {};
  for (const [key, inner] of Object.entries(json)) setOwn(record, key, child(inner, `.${key}`));
  return record;
}

function fromTag(tag: unknown, path: string, child: (inner: unknown, step: string) => Value): Value {
  const bad = () => new ValueError(path, `not a value form: ${JSON.stringify(tag)?.slice(0, 80)}`);
  if (!Array.isArray(tag)) throw bad();
  const [kind, body] = tag as [unknown, unknown];
  if (kind === 'undefined') return undefined;
  if (kind === 'number' && ['NaN', 'Infinity', '-Infinity', '-0'].includes(body as string)) return Number(body);
  if (kind === 'integer' && typeof body === 'string' && /^-?\d+$/.test(body)) return BigInt(shortEnough(body, path));
  if (kind === 'bytes' && typeof body === 'string') return new Uint8Array(Buffer.from(body, 'base64'));
  if (kind === 'instant' && typeof body === 'string') {
    const date = new Date(body);
    if (Number.isNaN(date.getTime())) throw bad();
    return date;
  }
  if (kind === 'set' && Array.isArray(body)) return new Set(body.map((item, i) => child(item, `.item(${i})`)));
  if (kind === 'map' && Array.isArray(body)) {
    return new Map(
      body.map((entry, i) => {
        if (!Array.isArray(entry) || entry.length !== 2) throw bad();
        return [child(entry[0], `.key(${i})`), child(entry[1], `.value(${i})`)];
      }),
    );
  }
  if (kind === 'record' && body !== null && typeof body === 'object' && !Array.isArray(body)) {
    const record: ValueRecord = {};
    for (const [key, inner] of Object.entries(body)) setOwn(record, key, child(inner, `.${key}`));
    return record;
  }
  throw bad();
}

/** Throws {@link ValueError} for an integer that is too long to be passed on. */
export function digitsOf(value: bigint, path: string): string {
  return shortEnough(String(value), path);
}

function shortEnough(digits: string, path: string): string {
  if (digits.length > MAX_INTEGER_DIGITS) throw new ValueError(path, `an integer of more than ${MAX_INTEGER_DIGITS} digits cannot be passed on; pass it as a text`);
  return digits;
}

/** What a value takes of memory, about. */
export function roughBytes(value: Value): number {
  if (typeof value === 'string') return 8 + value.length;
  if (value === null || typeof value !== 'object') return 8;
  const bytes = bytesOf(value);
  if (bytes) return 64 + bytes.length;
  let sum = 32;
  if (value instanceof Map) for (const [key, inner] of value) sum += roughBytes(key) + roughBytes(inner);
  else if (Array.isArray(value) || value instanceof Set) for (const inner of value) sum += roughBytes(inner);
  else for (const [key, inner] of Object.entries(value)) sum += key.length + roughBytes(inner as Value);
  return sum;
}

/** The bytes that an ArrayBuffer or a view of one is, undefined for anything else. */
export function bytesOf(value: object): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return value instanceof ArrayBuffer ? new Uint8Array(value) : undefined;
}

/** Refuses what only looks like a record, such as an instance of a class: its meaning would be lost on the way. */
export function mustBeRecord(value: object, path: string): void {
  if (value instanceof Promise) throw new ValueError(path, 'a Promise cannot be passed on; await it first');
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return;
  throw new ValueError(path, `an instance of ${value.constructor?.name || 'a class'} cannot be passed on; pass a plain object`);
}

/** Sets an own property under any name, `__proto__` included. */
export function setOwn<T>(record: { [key: string]: T }, key: string, value: T): void {
  if (key === '__proto__') Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
  else record[key] = value;
}
