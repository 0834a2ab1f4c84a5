/** Processor time of four Python programs, against the machine's own python3. */
import { cpuMs } from '../clocks.ts';
import { openMachines } from '../ours.ts';
import { openMonty } from '../peers/monty.ts';
import { openNativePython } from '../peers/native-python.ts';
import { openPyodide } from '../peers/pyodide.ts';
import { PYTHON, programText } from '../programs.ts';
import { type Row, tried } from '../row.ts';

const text = (name: string) => `${programText('python', name)}\nmain()`;

export const cpuPython: Row = {
  name: 'cpu-python',
  title: 'Python: processor time of four programs',
  method:
    'Processor time of the thread that runs them, parsing included, making the machine excluded. Fermata advances in slices of 2 ms of fuel, as a host does, in a machine of its own per run. python3 is one process that tells its own processor time; Pyodide is one interpreter, with fresh globals per run. The interpreters themselves are warm: V8 has had ten runs of each program to compile their hot functions with its second compiler.',
  unit: 'ms',
  rounds: 15,
  warmUps: 10,
  cases: PYTHON,
  against: 'python3',
  targets: [{ what: 'against native python3, geometric mean of the four', of: 'Fermata', in: 'ratio', atMost: 2.2, aim: 1.8 }],
  async open() {
    const { fresh, run } = await openMachines('python');
    return [
      {
        name: 'Fermata',
        sample: async (name) => {
          const machine = fresh();
          return cpuMs(() => run(machine, text(name)));
        },
      },
      await tried('python3', async () => {
        const { main, version, close } = openNativePython();
        return {
          note: `${version}; no sandbox`,
          close,
          sample: async (name) => {
            const { cpuMs: value, output } = await main(programText('python', name));
            return { value, output };
          },
        };
      }),
      await tried('Pyodide', async () => {
        const { load } = await openPyodide();
        const pyodide = await load();
        const dict = pyodide.globals.get('dict');
        return { sample: async (name) => cpuMs(() => plain(pyodide.runPython(text(name), { globals: dict() }))) };
      }),
      await tried('Monty', async () => {
        const monty = await openMonty();
        return { note: 'a part of Python', sample: async (name) => cpuMs(() => monty.run(text(name))) };
      }),
    ];
  },
};

/** Pyodide gives lists as proxies. */
function plain(value: unknown): unknown {
  const proxy = value as { toJs?(): unknown } | undefined;
  return typeof proxy?.toJs === 'function' ? proxy.toJs() : value;
}
