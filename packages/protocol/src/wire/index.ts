/** The wire: what the REST API takes and answers, in snake_case, with seconds and MiB. */
export * from './batches.ts';
export * from './calls.ts';
export * from './constraints.ts';
export * from './keys.ts';
export * from './problem.ts';
export * from './scalars.ts';
export * from './task.ts';
export * from './task-parts.ts';
export * from './task-request.ts';
export * from './tools.ts';
export * from './usage.ts';
export * from './webhooks.ts';
