/**
 * Makes programs that wait at a call, and prints how much each of them adds to the memory of this process, in KB.
 * Arguments: contender, language.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
const [contender, language] = process.argv.slice(2);
/** Snapshots are buffers and can be counted exactly; of what lives outside of V8 only the resident memory tells. */
const [FIRST, MORE, used] = contender === 'fermata' ? [4, 12, ({ heapUsed, arrayBuffers }) => heapUsed + arrayBuffers] : [20, 100, ({ rss }) => rss];

const wait = {
  async fermata() {
    const { createFermata } = await import('fermata');
    const fermata = createFermata({ threads: 1, tools: [{ name: 'wait' }] });
    const code = language === 'python' ? 'tools.wait()' : 'return await tools.wait({})';
    return async () => {
      await using task = await fermata.start({ language, code });
      await task.next();
      return task.snapshot();
    };
  },
  async 'quickjs-wasi'() {
    const { QuickJS } = await import('quickjs-wasi');
    const { readFileSync } = await import('node:fs');
    const wasm = await WebAssembly.compile(readFileSync(new URL('../node_modules/quickjs-wasi/quickjs.wasm', import.meta.url)));
    return async () => {
      const vm = await QuickJS.create({ wasm });
      vm.setProp(
        vm.global,
        'wait',
        vm.newFunction('wait', () => vm.newPromise().handle),
      );
      vm.evalCode('(async () => { await wait() })()');
      vm.executePendingJobs();
      return vm;
    };
  },
  async monty() {
    const { Monty } = await import('@pydantic/monty');
    return async () => new Monty('wait()').start();
  },
};

const one = await wait[contender]();
const kept = [];
for (let n = 0; n < FIRST; n++) kept.push(await one());
const before = await settled();
for (let n = 0; n < MORE; n++) kept.push(await one());
console.log(((await settled()) - before) / 1024 / MORE);
process.exit(kept.length > 0 ? 0 : 1);

/** Memory in use, when garbage had time to go. */
async function settled() {
  for (let round = 0; round < 5; round++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  return used(process.memoryUsage());
}
