/** What the package `@fermata/protocol` offers: error codes, limits, options, the contracts of machines, models and stores, values, and where a text is not JSON. Schemas are in `@fermata/protocol/schemas`, the wire of the REST API in `@fermata/protocol/wire`. */
export * from './errors.ts';
export * from './host.ts';
export * from './json-fault.ts';
export * from './limits.ts';
export * from './machine.ts';
export * from './model.ts';
export * from './options.ts';
export * from './policy.ts';
export * from './store.ts';
export * from './task.ts';
export * from './tool-failure.ts';
export * from './values.ts';
