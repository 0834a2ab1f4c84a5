/** D10's second row: how long a program that does next to nothing takes in a machine of its own. */
import { spawnSync } from 'node:child_process';
import { createFermata } from 'fermata';
import { pause, wallMs } from '../clocks.ts';
import { openMachines } from '../ours.ts';
import { openMonty } from '../peers/monty.ts';
import { nativePython } from '../peers/native-python.ts';
import { openPyodide } from '../peers/pyodide.ts';
import { type Row, tried } from '../row.ts';

const CODE = '1 + 1';
/** Long enough for a host to make its next machine ready. */
const REST_MS = 150;

export const trivialPython: Row = {
  name: 'trivial-python',
  title: 'Python: a trivial program in a fresh machine, warm',
  method:
    'As for JavaScript. The peers: Monty parses and runs the program in this process; python3 is a new process for each program; Pyodide is a new interpreter from its own memory snapshot.',
  unit: 'ms',
  rounds: 30,
  warmUps: 10,
  cases: [{ name: CODE, expected: 2 }],
  against: 'python3, a process each',
  targets: [
    { what: 'in the host process', of: 'Fermata, in the host process', in: CODE, atMost: 1.5 },
    { what: 'through the library', of: 'Fermata, library', in: CODE, atMost: 4 },
  ],
  async open() {
    const fermata = createFermata();
    const { fresh, run } = await openMachines('python');
    const library = async () => (await fermata.run({ language: 'python', code: CODE })).output;
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
      await tried('Monty', async () => {
        const monty = await openMonty();
        return { note: 'a part of Python', sample: () => wallMs(() => monty.run(CODE)) };
      }),
      await tried('python3, a process each', async () => {
        const { path } = nativePython();
        return {
          note: 'no sandbox',
          sample: () => wallMs(() => Number(spawnSync(path, ['-I', '-c', `print(${CODE})`], { encoding: 'utf8' }).stdout)),
        };
      }),
      await tried('Pyodide, from its snapshot', async () => {
        const { fresh: interpreter } = await openPyodide();
        return { rounds: 5, sample: () => wallMs(async () => (await interpreter()).runPython(CODE)) };
      }),
    ];
  },
};
