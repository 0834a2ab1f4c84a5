/** A process that serves a data folder until it is told to end. Arguments: folder. Prints its address and key. */
import { closeOnSignals, createServer, createWebhookListeners } from '@fermata/server';
import { openEngine } from 'fermata';

const listeners = createWebhookListeners();
const { engine, store, registry, close } = await openEngine({ folder: process.argv[2] ?? '', listeners });
const server = createServer({ engine, store, tools: registry, close, listeners, development: true });
const url = await server.listen({ port: 0 });
console.log(JSON.stringify({ url, key: server.developmentKey }));
const signal = await closeOnSignals(server, { drainMs: 5000 });
console.log(JSON.stringify({ signal }));
