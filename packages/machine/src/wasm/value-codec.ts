/**
 * The byte form of values between guest and host (`abi/values.h`), host side.
 *
 * Encoding throws `ValueError` where a value has no faithful form; decoding throws `Truncated` or `MalformedValue` on
 * bytes that no honest guest sends, and never reads outside them.
 */
import { bytesOf, digitsOf, MAX_INTEGER_DIGITS, MAX_VALUE_DEPTH, mustBeRecord, setOwn, type Value, ValueError, type ValueRecord } from '@fermata/protocol';
import { ByteReader, ByteWriter } from './bytes.ts';
import { decodeString, encodeString } from './wtf8.ts';

const TAG = {
  undefined: 0,
  null: 1,
  false: 2,
  true: 3,
  double: 4,
  integer: 5,
  string: 6,
  bytes: 7,
  list: 8,
  record: 9,
  map: 10,
  set: 11,
  instant: 12,
} as const;

export class MalformedValue extends Error {
  override readonly name = 'MalformedValue';
}

/** Depth of what carries values of full depth within itself: messages and saved states. */
export const MAX_CARRIER_DEPTH = MAX_VALUE_DEPTH + 8;

/** A value that would need far more here than its bytes: memory for its parts, or time for its digits. */
export class TooManyParts extends MalformedValue {}

/** Two bytes can stand for an object of hundreds, so parts are counted, and containers count for more. */
const MAX_PARTS = 4_000_000;
const CONTAINER_COST = 7;

class Budget {
  readonly #most: number;
  #spent = 0;
  constructor(most: number) {
    this.#most = most;
  }
  get spent(): number {
    return this.#spent;
  }
  spend(parts: number): void {
    this.#spent += parts;
    if (this.#spent > this.#most) throw new TooManyParts('a value has too many parts to cross; pass it as a string, as bytes or as a file');
  }
}

/** `path` names the root in error messages, e.g. `result of crm.find`. */
export function encodeValue(value: unknown, path = 'value', maxDepth = MAX_VALUE_DEPTH): Uint8Array {
  const writer = new ByteWriter();
  write(writer, value, path, maxDepth, new Set());
  return writer.finish();
}

export function decodeValue(bytes: Uint8Array): Value {
  return decodeCounted(bytes).value;
}

/** The value and its parts, a container counting for several. Throws {@link TooManyParts} at more than `most`. */
export function decodeCounted(bytes: Uint8Array, most = MAX_PARTS): { value: Value; parts: number } {
  const reader = new ByteReader(bytes);
  const budget = new Budget(most);
  const value = read(reader, 0, budget);
  if (reader.remaining > 0) throw new MalformedValue(`${reader.remaining} bytes follow the value`);
  return { value, parts: budget.spent };
}

function write(writer: ByteWriter, value: unknown, path: string, depthLeft: number, above: Set<object>): void {
  if (value === undefined) return writer.byte(TAG.undefined);
  if (value === null) return writer.byte(TAG.null);
  switch (typeof value) {
    case 'boolean':
      return writer.byte(value ? TAG.true : TAG.false);
    case 'number':
      writer.byte(TAG.double);
      return writer.double(value);
    case 'bigint':
      writer.byte(TAG.integer);
      return writer.block(encodeString(digitsOf(value, path)));
    case 'string':
      writer.byte(TAG.string);
      return writer.block(encodeString(value));
    case 'object':
      if (above.has(value)) throw new ValueError(path, 'refers back to itself; a cyclic value cannot be passed on');
      if (depthLeft === 0) throw new ValueError(path, `nested more than ${MAX_VALUE_DEPTH} levels deep`);
      above.add(value);
      writeObject(writer, value, path, depthLeft - 1, above);
      above.delete(value);
      return;
    default:
      throw new ValueError(path, `a ${typeof value} cannot be passed on`);
  }
}

function writeObject(writer: ByteWriter, value: object, path: string, depthLeft: number, above: Set<object>): void {
  const child = (inner: unknown, step: string) => write(writer, inner, path + step, depthLeft, above);
  const bytes = bytesOf(value);
  if (Array.isArray(value)) {
    writer.byte(TAG.list);
    writer.varint(value.length);
    for (let i = 0; i < value.length; i++) child(value[i], `[${i}]`);
  } else if (bytes) {
    writer.byte(TAG.bytes);
    writer.block(bytes);
  } else if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new ValueError(path, 'an invalid Date cannot be passed on');
    writer.byte(TAG.instant);
    writer.double(value.getTime());
  } else if (value instanceof Map) {
    writer.byte(TAG.map);
    writer.varint(value.size);
    let i = 0;
    for (const [key, inner] of value) {
      child(key, `.key(${i})`);
      child(inner, `.value(${i++})`);
    }
  } else if (value instanceof Set) {
    writer.byte(TAG.set);
    writer.varint(value.size);
    let i = 0;
    for (const inner of value) child(inner, `.item(${i++})`);
  } else {
    mustBeRecord(value, path);
    const entries = Object.entries(value);
    writer.byte(TAG.record);
    writer.varint(entries.length);
    for (const [key, inner] of entries) {
      writer.block(encodeString(key));
      child(inner, `.${key}`);
    }
  }
}

function read(reader: ByteReader, depth: number, budget: Budget): Value {
  if (depth > MAX_CARRIER_DEPTH) throw new MalformedValue('nested too deep');
  budget.spend(1);
  const tag = reader.byte();
  switch (tag) {
    case TAG.undefined:
      return undefined;
    case TAG.null:
      return null;
    case TAG.false:
      return false;
    case TAG.true:
      return true;
    case TAG.double:
      return reader.double();
    case TAG.integer: {
      const digits = decodeString(reader.block());
      if (digits.length > MAX_INTEGER_DIGITS) throw new TooManyParts(`an integer has more than ${MAX_INTEGER_DIGITS} digits, too many to cross; pass it as a string`);
      if (!/^-?\d+$/.test(digits)) throw new MalformedValue('an integer is not digits');
      return BigInt(digits);
    }
    case TAG.string:
      return decodeString(reader.block());
    case TAG.bytes:
      return reader.block().slice();
    case TAG.list:
      budget.spend(CONTAINER_COST);
      return Array.from({ length: reader.count() }, () => read(reader, depth + 1, budget));
    case TAG.record: {
      budget.spend(CONTAINER_COST);
      const record: ValueRecord = {};
      for (let left = reader.count(); left > 0; left--) setOwn(record, decodeString(reader.block()), read(reader, depth + 1, budget));
      return record;
    }
    case TAG.map: {
      budget.spend(CONTAINER_COST);
      const map = new Map<Value, Value>();
      for (let left = reader.count(); left > 0; left--) map.set(read(reader, depth + 1, budget), read(reader, depth + 1, budget));
      return map;
    }
    case TAG.set:
      budget.spend(CONTAINER_COST);
      return new Set(Array.from({ length: reader.count() }, () => read(reader, depth + 1, budget)));
    case TAG.instant: {
      const date = new Date(reader.double());
      if (Number.isNaN(date.getTime())) throw new MalformedValue('an instant is no time');
      return date;
    }
    default:
      throw new MalformedValue(`unknown tag ${tag}`);
  }
}
