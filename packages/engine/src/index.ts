/** What the package `@fermata/engine` offers. */
export type * from './engine-api.ts';
