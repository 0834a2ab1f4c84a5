/** Processor time of six JavaScript programs, against the same interpreter untransformed. */
import { Script } from 'node:vm';
import { cpuMs } from '../clocks.ts';
import { openMachines } from '../ours.ts';
import { openIsolatedVm } from '../peers/isolated-vm.ts';
import { openQuickjsWasi } from '../peers/quickjs-wasi.ts';
import { JAVASCRIPT, programText } from '../programs.ts';
import { type Row, tried } from '../row.ts';

const text = (name: string) => `${programText('javascript', name)}\nmain()`;

export const cpuJavascript: Row = {
  name: 'cpu-javascript',
  title: 'JavaScript: processor time of six programs',
  method:
    'Processor time of the thread that runs them, parsing included, making the machine excluded. Fermata advances in slices of 2 ms of fuel, as a host does. Each run has a machine of its own; the interpreters themselves are warm: V8 has had ten runs of each program to compile their hot functions with its second compiler.',
  unit: 'ms',
  rounds: 15,
  warmUps: 10,
  cases: JAVASCRIPT,
  against: 'quickjs-wasi',
  targets: [{ what: 'against quickjs-wasi, geometric mean of the six', of: 'Fermata', in: 'ratio', atMost: 1.3, aim: 0.9 }],
  async open() {
    const { fresh, run } = await openMachines('javascript');
    return [
      {
        name: 'Fermata',
        sample: async (name) => {
          const machine = fresh();
          return cpuMs(() => run(machine, text(name)));
        },
      },
      await tried('quickjs-wasi', async () => {
        const { create, evaluate } = await openQuickjsWasi();
        return {
          sample: async (name) => {
            const vm = await create();
            const sample = cpuMs(() => evaluate(vm, text(name)));
            vm.dispose();
            return sample;
          },
        };
      }),
      await tried('isolated-vm', async () => {
        const { create } = await openIsolatedVm();
        return {
          note: 'compiles to machine code',
          sample: async (name) => {
            const isolate = create();
            const context = isolate.createContextSync();
            const sample = cpuMs(() => context.evalSync(text(name), { copy: true }));
            isolate.dispose();
            return sample;
          },
        };
      }),
      {
        name: 'node',
        note: 'no sandbox; compiles to machine code',
        sample: async (name) => cpuMs(() => new Script(`(() => {${programText('javascript', name)}\nreturn main() })()`).runInThisContext()),
      },
    ];
  },
};
