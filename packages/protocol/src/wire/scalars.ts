/** Small parts that the schemas of the wire share: ids, times, pages, values. */
import { z } from 'zod';
import { strictOptions } from '../strict-options.ts';

/** Ids that callers may choose, of tasks and batches. */
export const TASK_ID = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

export const idSchema = z.string().regex(TASK_ID, 'letters, digits, _, - and . are allowed, 128 at most');
export const nameSchema = z.string().min(1).max(256);
/** ISO 8601, UTC. */
export const timeSchema = z.iso.datetime({ offset: true });
/** Levels of nesting that JSON from outside may have. */
const MAX_DEPTH = 250;
const shallow = (value: unknown) => isShallow(value);
const TOO_DEEP = `nested more than ${MAX_DEPTH} levels deep`;

/** Any JSON. What JSON lacks stands as `{"$fermata": [kind, ...]}`. */
export const valueSchema = z.unknown().refine(shallow, TOO_DEEP).meta({ description: 'Any JSON; what JSON lacks (bytes, dates, NaN, ...) as {"$fermata": [...]}' });
/** An object of any JSON, such as the arguments of a call. */
export const recordSchema = z.record(z.string(), z.unknown()).refine(shallow, TOO_DEEP);
export const metadataSchema = z.record(z.string().max(256), z.unknown()).refine(shallow, TOO_DEEP);

export const pageQuery = {
  cursor: z.string().max(500).optional().meta({ description: 'From the answer before' }),
  limit: z.coerce.number().int().min(1).max(200).optional().meta({ description: 'Items in one answer; default 50' }),
};

/** One page of a list; `cursor` is absent on the last one. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), cursor: z.string().optional() });
}

export const waitSecondsSchema = z.number().min(0).max(600);

export const emptyQuery = strictOptions({});

/** Looks level by level, because what is nested deeply cannot be looked into by functions that call themselves. */
function isShallow(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return false;
    level = level.flatMap((item) => (item !== null && typeof item === 'object' ? Object.values(item) : []));
  }
  return true;
}
