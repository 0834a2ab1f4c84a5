/** D10's first row: how long a program that does next to nothing takes in a machine of its own. */
import { createContext, Script } from 'node:vm';
import { createFermata } from 'fermata';
import { pause, wallMs } from '../clocks.ts';
import { openMachines } from '../ours.ts';
import { openIsolatedVm } from '../peers/isolated-vm.ts';
import { openQuickjsEmscripten } from '../peers/quickjs-emscripten.ts';
import { openQuickjsWasi } from '../peers/quickjs-wasi.ts';
import { type Row, tried } from '../row.ts';

const CODE = '1 + 1';
/** Long enough for a host to make its next machine ready. */
const REST_MS = 60;

export const trivialJavascript: Row = {
  name: 'trivial-javascript',
  title: 'JavaScript: a trivial program in a fresh machine, warm',
  method:
    'Wall time of `1 + 1`, each time in a machine that no other program has used. "In the host process" is what a host does with a machine that it has made ready before: limits, start, result. "Library" is `fermata.run`, with a rest before each run, in which the next machine is made ready. Peers make their machine within the time, as they keep none ready.',
  unit: 'ms',
  rounds: 40,
  warmUps: 10,
  cases: [{ name: CODE, expected: 2 }],
  against: 'quickjs-wasi',
  targets: [
    { what: 'in the host process', of: 'Fermata, in the host process', in: CODE, atMost: 0.3 },
    { what: 'through the library', of: 'Fermata, library', in: CODE, atMost: 2 },
  ],
  async open() {
    const fermata = createFermata();
    const { fresh, run } = await openMachines('javascript');
    const library = async () => (await fermata.run({ language: 'javascript', code: CODE })).output;
    return [
      {
        name: 'Fermata, in the host process',
        sample: async () => {
          const machine = fresh();
          return wallMs(() => {
            machine.setLimits({});
            return run(machine, CODE);
          });
        },
      },
      { name: 'Fermata, machine made within the time', sample: () => wallMs(() => run(fresh(), CODE)) },
      {
        name: 'Fermata, library',
        sample: async () => {
          await pause(REST_MS);
          return wallMs(library);
        },
        close: () => fermata.close(),
      },
      await tried('quickjs-wasi', async () => {
        const { create, evaluate } = await openQuickjsWasi();
        return {
          sample: () =>
            wallMs(async () => {
              const vm = await create();
              const output = evaluate(vm, CODE);
              vm.dispose();
              return output;
            }),
        };
      }),
      await tried('quickjs-emscripten', async () => {
        const { runOnce } = await openQuickjsEmscripten();
        return { sample: () => wallMs(() => runOnce(CODE)) };
      }),
      await tried('isolated-vm', async () => {
        const { create } = await openIsolatedVm();
        return {
          sample: () =>
            wallMs(() => {
              const isolate = create();
              const output = isolate.createContextSync().evalSync(CODE, { copy: true });
              isolate.dispose();
              return output;
            }),
        };
      }),
      { name: 'node:vm', note: 'no sandbox', sample: () => wallMs(() => new Script(CODE).runInContext(createContext({}))) },
    ];
  },
};
