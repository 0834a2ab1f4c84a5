/** What the package `@fermata/protocol` offers: error codes, limits, options, the contract of a machine, and values. */
export * from './errors.ts';
export * from './host.ts';
export * from './limits.ts';
export * from './machine.ts';
export * from './options.ts';
export * from './store.ts';
export * from './task.ts';
export * from './values.ts';
