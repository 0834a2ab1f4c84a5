/** Small parts that the schemas of the wire share: ids, times, pages, values. */
import { z } from 'zod';
import { strictOptions } from '../options.ts';

/** Ids that callers may choose, of tasks and batches. */
export const TASK_ID = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

export const idSchema = z.string().regex(TASK_ID, 'letters, digits, _, - and . are allowed, 128 at most');
export const nameSchema = z.string().min(1).max(256);
/** ISO 8601, UTC. */
export const timeSchema = z.iso.datetime({ offset: true });
/** Any JSON. What JSON lacks stands as `{"$fermata": [kind, ...]}`. */
export const valueSchema = z.unknown().meta({ description: 'Any JSON; what JSON lacks (bytes, dates, NaN, ...) as {"$fermata": [...]}' });
export const metadataSchema = z.record(z.string().max(256), z.unknown());

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
