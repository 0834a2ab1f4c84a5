/** The TypeScript type of what a JSON Schema lets through, where the schema is a literal that TypeScript can read. */
import type { Value, ValueRecord } from '@fermata/protocol';

/** The arguments behind a tool's JSON Schema: any record, unless it is a literal with `properties`. */
export type JsonArguments<S> = S extends { readonly properties: infer P } ? (string extends keyof P ? ValueRecord : JsonObject<S, P>) : ValueRecord;

type JsonObject<S, P> = Plain<{ [K in keyof P as K extends Required<S> ? K : never]: JsonValue<P[K]> } & { [K in keyof P as K extends Required<S> ? never : K]?: JsonValue<P[K]> }>;
type Required<S> = S extends { readonly required: readonly (infer K)[] } ? K : never;
/** One record in place of an intersection, so that editors show it as such. */
type Plain<T> = { -readonly [K in keyof T]: T[K] };

interface Kinds {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  null: null;
}

/** What is not understood (`anyOf`, `$ref`, ...) is any value. */
type JsonValue<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly type: readonly (infer T)[] }
      ? T extends unknown
        ? JsonValue<Omit<S, 'type'> & { readonly type: T }>
        : never
      : S extends { readonly type: keyof Kinds }
        ? Kinds[S['type']]
        : S extends { readonly type: 'array' }
          ? S extends { readonly items: infer I }
            ? JsonValue<I>[]
            : Value[]
          : S extends { readonly type: 'object' }
            ? JsonArguments<S>
            : Value;
