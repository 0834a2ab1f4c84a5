/** What the package `@fermata/server` offers: a server over an engine and a store, and its API keys. */

export { type Caller, SCOPES, type Scope } from './auth/caller.ts';
export { createKeyStore, type KeyInfo, type KeyStore, type NewKey } from './auth/keys.ts';
export { closeOnSignals } from './close-on-signals.ts';
export { createServer, type FermataServer, type ListenOptions } from './server.ts';
export type { ServerOptions, ServerStore, WebhookMoment } from './server-options.ts';
export { showVerdict } from './show/verdict.ts';
export type { WebhookBody } from './webhooks/delivery-log.ts';
export { createWebhookListeners, type WebhookListeners } from './webhooks/listeners.ts';
