/** Continues a program that waits for an answer, to its end, and prints how long that took, in ms. Arguments: host, language, file. */
import { readFileSync } from 'node:fs';
import { createFermata } from 'fermata';

const [host, language, file] = process.argv.slice(2);
const fermata = createFermata({ host, threads: 1 });
await fermata.prepare([language]);
const began = performance.now();
const task = await fermata.restore(readFileSync(file), { trust: true, tools: [{ name: 'ask' }] });
task.answer(1, 41);
const result = await task.run();
const took = performance.now() - began;
if (result.output !== 42) throw new Error(`the program came to ${result.output}`);
console.log(took);
process.exit(0);
