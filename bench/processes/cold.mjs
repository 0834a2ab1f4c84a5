/** One contender of the cold rows: prints the value of `1 + 1` as soon as it has it. Arguments: contender, language. */
const [contender, language] = process.argv.slice(2);
const CODE = '1 + 1';

const start = {
  async fermata() {
    const { createFermata } = await import('fermata');
    const { output } = await createFermata().run({ language, code: CODE });
    return output;
  },
  async 'quickjs-wasi'() {
    const { QuickJS } = await import('quickjs-wasi');
    const { readFileSync } = await import('node:fs');
    const vm = await QuickJS.create(readFileSync(new URL('../node_modules/quickjs-wasi/quickjs.wasm', import.meta.url)));
    return vm.dump(vm.evalCode(CODE));
  },
  async 'quickjs-emscripten'() {
    const { getQuickJS } = await import('quickjs-emscripten');
    return (await getQuickJS()).evalCode(CODE);
  },
  async 'isolated-vm'() {
    const { default: ivm } = await import('isolated-vm');
    return new ivm.Isolate().createContextSync().evalSync(CODE);
  },
  async node() {
    return new Function(`return ${CODE}`)();
  },
  async monty() {
    const { Monty } = await import('@pydantic/monty');
    return new Monty(CODE).run();
  },
  async pyodide() {
    const { loadPyodide } = await import('pyodide');
    return (await loadPyodide()).runPython(CODE);
  },
};
process.stdout.write(`${await start[contender]()}\n`, () => process.exit(0));
