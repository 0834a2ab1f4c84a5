/** Cursors of pages: the place of the last item told, as numbers. A cursor that is not one of ours is refused. */
import { FermataError } from '@fermata/protocol';

export function writeCursor(place: readonly number[]): string {
  return place.join('_');
}

/** Throws `invalid_request`. */
export function readCursor(cursor: string, length: number): number[] {
  const place = cursor.split('_').map((part) => (part === '' ? Number.NaN : Number(part)));
  if (place.length !== length || !place.every(Number.isFinite))
    throw new FermataError('invalid_request', 'the cursor is not one that a page gave', { hint: 'begin again without a cursor' });
  return place;
}

/** `found` holds one item more than the page, if there is one. */
export function pageOf<Found, T>(found: readonly Found[], limit: number, item: (found: Found) => T, place: (found: Found) => readonly number[]): { items: T[]; cursor?: string } {
  const items = found.slice(0, limit).map(item);
  const last = found[limit - 1];
  return found.length > limit && last !== undefined ? { items, cursor: writeCursor(place(last)) } : { items };
}
