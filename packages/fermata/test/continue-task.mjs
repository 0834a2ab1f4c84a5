// Goes on with the snapshot in a file, as a process of its own would, and prints what it came to.
import { readFileSync } from 'node:fs';
import { createFermata } from 'fermata';

const [file, key] = process.argv.slice(2);
await using fermata = createFermata(key ? { sealKey: { id: 'test', key: Buffer.from(key, 'base64') } } : {});
const task = await fermata.restore(readFileSync(file), { trust: !key, tools: [{ name: 'echo', execute: (args) => args }] });
const { status, output, stdout, error, resourcesUsed } = await task.run();
console.log(JSON.stringify({ pid: process.pid, status, output, stdout, error: error?.message, fuel: resourcesUsed.fuel, hash: await task.stateHash() }));
