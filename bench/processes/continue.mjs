/** Loads a snapshot and prints how long that took, in ms. Arguments: machine or library, -new or -used; language; file. */
import { readFileSync } from 'node:fs';
import { isMainThread, Worker } from 'node:worker_threads';

const [how, language, file] = process.argv.slice(2);
const [where, state] = how.split('-');
const CODE = '1 + 1';

async function library() {
  const { createFermata } = await import('fermata');
  const fermata = createFermata();
  if (state === 'used') await fermata.run({ language, code: CODE });
  else await (await fermata.start({ language, code: CODE }))[Symbol.asyncDispose]();
  await new Promise((resolve) => setTimeout(resolve, 200));
  const began = performance.now();
  await fermata.restore(readFileSync(file), { trust: true });
  return performance.now() - began;
}

async function machine() {
  const { imageOfLanguage } = await import('@fermata/protocol');
  const { loadImage, Machine } = await import('@fermata/machine');
  const image = await loadImage(imageOfLanguage[language]);
  const first = Machine.fresh(image);
  if (state === 'used') first.advance({ kind: 'start', program: { language, code: CODE, input: undefined, tools: [] }, seed: new Uint8Array(32), nowMs: 0 }, 1e9);
  await new Promise((resolve) => setTimeout(resolve, 200));
  const began = performance.now();
  const outcome = Machine.restore(image, readFileSync(file), { trust: true }).advance({ kind: 'go' }, 1e5 / image.manifest.nsPerFuel);
  const took = performance.now() - began;
  if (outcome.kind !== 'slice-used') throw new Error(`the loop ended with ${outcome.kind}`);
  return took;
}

if (where === 'machine' && isMainThread) new Worker(new URL(import.meta.url), { argv: process.argv.slice(2), resourceLimits: { stackSizeMb: 64 } });
else {
  console.log(await (where === 'machine' ? machine() : library()));
  if (isMainThread) process.exit(0);
}
