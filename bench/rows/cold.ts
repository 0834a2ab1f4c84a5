/** New process to first result, one row per language. */
import { fileURLToPath } from 'node:url';
import { firstLine } from '../first-line.ts';
import { nativePython } from '../peers/native-python.ts';
import { peerModule } from '../peers/peer-module.ts';
import { type Contender, type Row, type Target, tried } from '../row.ts';

const SCRIPT = fileURLToPath(new URL('../processes/cold.mjs', import.meta.url));
const COMMAND = fileURLToPath(import.meta.resolve('fermata').replace(/dist\/index\.js$/, 'bin/fermata.mjs'));
const CODE = '1 + 1';

export const coldJavascript = row('javascript', 'JavaScript', { what: 'to the first result', of: 'Fermata, library', in: CODE, atMost: 80 }, async () => [
  await peer('quickjs-wasi', 'quickjs-wasi'),
  await peer('quickjs-emscripten', 'quickjs-emscripten'),
  await peer('isolated-vm', 'isolated-vm'),
]);

export const coldPython = row('python', 'Python', { what: 'to the first result', of: 'Fermata, library', in: CODE, atMost: 150 }, async () => [
  await peer('Monty', '@pydantic/monty', 'monty'),
  await peer('Pyodide', 'pyodide', 'pyodide', 5),
  await tried('python3', async () => {
    const { path } = nativePython();
    return { note: 'no sandbox', sample: () => firstLine(path, ['-I', '-c', `print(${CODE})`]) };
  }),
]);

function row(language: 'javascript' | 'python', title: string, target: Target, others: () => Promise<Contender[]>): Row {
  return {
    name: `cold-${language}`,
    title: `${title}: new process to first result`,
    method:
      'Wall time from starting a process to the first line that it prints, which is the value of `1 + 1`. The image is in the cache, files are in the memory of the system. "Library" is a script that imports Fermata; "command" is `fermata run`.',
    unit: 'ms',
    rounds: 12,
    warmUps: 1,
    cases: [{ name: CODE, expected: 2 }],
    against: 'node',
    targets: [target],
    async open() {
      return [
        { name: 'Fermata, library', sample: () => script('fermata', language) },
        { name: 'Fermata, command', sample: () => firstLine(process.execPath, [COMMAND, 'run', '--quiet', '--lang', language, '-e', CODE]) },
        ...(await others()),
        { name: 'node', note: 'the process that all but python3 begin with', sample: () => script('node', language) },
      ];
    },
  };
}

function script(contender: string, language: string) {
  return firstLine(process.execPath, [SCRIPT, contender, language]);
}

function peer(name: string, module: string, contender = name, rounds?: number): Promise<Contender> {
  return tried(name, async () => {
    await peerModule(module);
    return { ...(rounds === undefined ? {} : { rounds }), sample: () => script(contender, '') };
  });
}
