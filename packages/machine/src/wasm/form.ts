/**
 * Forms of what a guest says and of what a snapshot holds, which are not trusted. A form gives back a value that has it, and
 * throws {@link Misfit} for every other.
 *
 * Written out, since a general library takes longer to load than the rest of a thread of machines.
 */
import type { ValueRecord } from '@fermata/protocol';

export type Form<T> = (value: unknown) => T;
export type FormOf<F> = F extends Form<infer T> ? T : never;
type Fields = Record<string, Form<unknown>>;
type FieldsOf<F extends Fields> = { [K in keyof F as undefined extends FormOf<F[K]> ? never : K]: FormOf<F[K]> } & {
  [K in keyof F as undefined extends FormOf<F[K]> ? K : never]?: FormOf<F[K]>;
};

export class Misfit extends Error {
  /** Where in the value, outermost first. */
  readonly path: (string | number)[] = [];
}

function fitting<T>(fits: (value: unknown) => boolean, wanted: string): Form<T> {
  return (value) => {
    if (!fits(value)) throw new Misfit(`${wanted} is wanted`);
    return value as T;
  };
}

export const anything: Form<unknown> = (value) => value;
export const text = fitting<string>((value) => typeof value === 'string', 'a text');
export const number = fitting<number>((value) => Number.isFinite(value), 'a finite number');
export const bytes = fitting<Uint8Array>((value) => value instanceof Uint8Array, 'a byte array');
export const record = fitting<ValueRecord>((value) => value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype, 'a record');

/** A whole number within these bounds. */
export function whole(least: number = Number.MIN_SAFE_INTEGER, most: number = Number.MAX_SAFE_INTEGER): Form<number> {
  return fitting((value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= most, `a whole number from ${least} to ${most}`);
}

export function oneOf<const T extends string>(...names: T[]): Form<T> {
  return fitting((value) => names.includes(value as T), names.map((name) => JSON.stringify(name)).join(' or '));
}

export function nullable<T>(form: Form<T>): Form<T | null> {
  return (value) => (value === null ? null : form(value));
}

export function optional<T>(form: Form<T>): Form<T | undefined> {
  return withDefault(form, undefined);
}

export function withDefault<T, D>(form: Form<T>, absent: D): Form<T | D> {
  return (value) => (value === undefined ? absent : form(value));
}

export function either<A, B>(one: Form<A>, other: Form<B>): Form<A | B> {
  return (value) => {
    try {
      return one(value);
    } catch (error) {
      if (!(error instanceof Misfit)) throw error;
      return other(value);
    }
  };
}

export function listOf<T>(form: Form<T>): Form<T[]> {
  // Unlike `map`, this looks at places that are empty, too.
  return (value) => Array.from(list(value), (item, index) => at(index, form, item));
}

/** A list of as many items, each with its form. */
export function tuple<T extends unknown[]>(...forms: { [K in keyof T]: Form<T[K]> }): Form<T> {
  return (value) => {
    if (list(value).length !== forms.length) throw new Misfit(`a list of ${forms.length} is wanted`);
    return forms.map((form, index) => at(index, form, (value as unknown[])[index])) as T;
  };
}

/** Texts by name. */
export const texts: Form<Record<string, string>> = (value) => {
  for (const [name, item] of Object.entries(record(value))) at(name, text, item);
  return value as Record<string, string>;
};

/** A record with these fields; it may have others, which are not given back. */
export function fields<F extends Fields>(forms: F): Form<FieldsOf<F>> {
  const all = Object.entries(forms);
  return (value) => {
    const given = record(value);
    const found: Record<string, unknown> = {};
    for (const [name, form] of all) {
      const item = at(name, form, Object.hasOwn(given, name) ? given[name] : undefined);
      if (item !== undefined) found[name] = item;
    }
    return found as FieldsOf<F>;
  };
}

/** A record with these fields and no others. */
export function exactly<F extends Fields>(forms: F): Form<FieldsOf<F>> {
  const form = fields(forms);
  return (value) => {
    const other = Object.keys(record(value)).find((name) => !Object.hasOwn(forms, name));
    if (other !== undefined) throw new Misfit(`there is no ${JSON.stringify(other.slice(0, 100))}`);
    return form(value);
  };
}

function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new Misfit('a list is wanted');
  return value;
}

function at<T>(place: string | number, form: Form<T>, value: unknown): T {
  try {
    return form(value);
  } catch (error) {
    if (error instanceof Misfit) error.path.unshift(place);
    throw error;
  }
}
