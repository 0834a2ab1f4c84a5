/** Values on their way between program, tools and caller. */
import { decodeValue, encodeValue } from '@fermata/machine';
import type { Value, ValueRecord } from '@fermata/protocol';

/** The value as it crosses: a copy that nobody else can change. Throws `ValueError` with the path to what has no form. */
export function crossed(value: unknown, path: string): Value {
  return decodeValue(encodeValue(value, path));
}

/** As {@link crossed}, of a record. */
export function crossedRecord(record: ValueRecord, path: string): ValueRecord {
  return crossed(record, path) as ValueRecord;
}
