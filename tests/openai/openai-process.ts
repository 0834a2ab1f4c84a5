/** A process that serves a data folder until it is killed. Arguments: folder, port, address of the model server. Prints its address and a key. */
import { createKeyStore, createServer } from '@fermata/server';
import { openEngine } from 'fermata';

const [folder = '', port, modelUrl] = process.argv.slice(2);
const { engine, store, registry, models, close } = await openEngine({ folder, models: { default: 'local/writer', providers: { local: { baseUrl: `${modelUrl}/v1` } } } });
const server = createServer({ engine, store, tools: registry, close, models });
const url = await server.listen({ port: Number(port) });
const { key } = await createKeyStore(store).create({ tenant: 'ours', scopes: ['run'] });
console.log(JSON.stringify({ url, key }));
