/** What `@fermata/protocol/wire` offers: what the REST API takes and answers, in snake_case, with seconds and MiB. Apart, so that only who needs the schemas loads them. */
export * from './batches.ts';
export * from './calls.ts';
export * from './check.ts';
export * from './constraints.ts';
export * from './keys.ts';
export * from './policy.ts';
export * from './problem.ts';
export * from './scalars.ts';
export * from './task.ts';
export * from './task-parts.ts';
export * from './task-request.ts';
export * from './tool-sources.ts';
export * from './tools.ts';
export * from './usage.ts';
export * from './webhooks.ts';
