export * from './errors.ts';
export * from './limits.ts';
export * from './machine.ts';
export * from './values.ts';
