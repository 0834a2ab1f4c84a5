/** Records without what is not there. */

type Present<T> = { [K in keyof T]?: NonNullable<T[K]> };

/** What is not known is left out of answers, rather than told to be null: that is shorter, and more clients can read such schemas. */
export function withoutNulls<T extends object>(record: T): Present<T> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null && value !== undefined)) as Present<T>;
}

/** Options that were not given; a null that was given is a value. */
export function withoutUndefined<T extends object>(record: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
