/** What the package `@fermata/client` offers. */
export type { AnswerOptions, ClientTools } from './answer-tools.ts';
export { FermataApiError } from './api-error.ts';
export type { Calls } from './calls.ts';
export { createClient, type FermataClient } from './client.ts';
export { fetchFrom } from './fetch-from.ts';
export type { Tasks, Waiting } from './tasks.ts';
export type { ClientOptions } from './transport.ts';
