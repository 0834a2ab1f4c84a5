/** How many bytes hold a program that waits at a tool call. */
import { constants, zstdCompressSync } from 'node:zlib';
import { createFermata, type Language } from 'fermata';
import { openMonty } from '../peers/monty.ts';
import { openPyodide } from '../peers/pyodide.ts';
import { openQuickjsWasi } from '../peers/quickjs-wasi.ts';
import { type Row, type Sample, tried } from '../row.ts';

const PROGRAMS: Record<string, { language: Language; code: string }> = {
  JavaScript: { language: 'javascript', code: 'return await tools.wait({})' },
  Python: { language: 'python', code: 'tools.wait()' },
};

export const snapshotSize: Row = {
  name: 'snapshot-size',
  title: 'Snapshot of a trivial program that waits at a tool call',
  method:
    'Bytes of the snapshot as the library gives it, with program, calls and limits in it. Snapshots of quickjs-wasi and Pyodide are compressed with zstd at level 3, as ours are; that of Monty is as it gives it. That of Pyodide is of an idle interpreter: it cannot hold a program that runs.',
  unit: 'KB',
  rounds: 1,
  warmUps: 0,
  cases: Object.keys(PROGRAMS).map((name) => ({ name, expected: undefined })),
  targets: [
    {
      what: 'JavaScript',
      of: 'Fermata',
      in: 'JavaScript',
      atMost: 4,
    },
    { what: 'Python', of: 'Fermata', in: 'Python', atMost: 16 },
  ],
  async open() {
    const fermata = createFermata({ tools: [{ name: 'wait' }] });
    return [
      {
        name: 'Fermata',
        close: () => fermata.close(),
        sample: async (name) => {
          await using task = await fermata.start(PROGRAMS[name] as { language: Language; code: string });
          await task.next();
          return kilobytes(await task.snapshot());
        },
      },
      await tried('quickjs-wasi', async () => {
        const { create, snapshot } = await openQuickjsWasi();
        return {
          without: ['Python'],
          sample: async () => {
            const vm = await create();
            vm.setProp(
              vm.global,
              'wait',
              vm.newFunction('wait', () => vm.newPromise().handle),
            );
            vm.evalCode('(async () => { await wait() })()');
            vm.executePendingJobs();
            return kilobytes(compressed(snapshot(vm)));
          },
        };
      }),
      await tried('Monty', async () => {
        const monty = await openMonty();
        return { without: ['JavaScript'], sample: async () => kilobytes(monty.start('wait()').dump()) };
      }),
      await tried('Pyodide, idle', async () => {
        const { snapshot } = await openPyodide();
        return { without: ['JavaScript'], sample: async () => kilobytes(compressed(snapshot)) };
      }),
    ];
  },
};

function kilobytes({ length }: Uint8Array): Sample {
  return { value: length / 1024, output: undefined };
}

function compressed(bytes: Uint8Array): Uint8Array {
  return zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 3 } });
}
