/** The round trip of a tool call: out of the program, to a function of the host, and back in. */
import { createFermata, type Language } from 'fermata';
import { openIsolatedVm } from '../peers/isolated-vm.ts';
import { openMonty } from '../peers/monty.ts';
import { openQuickjsWasi } from '../peers/quickjs-wasi.ts';
import { type Row, type Sample, tried } from '../row.ts';

const CALLS = 400;
/** Calls at the beginning that are not counted. */
const FIRST = 100;
const JAVASCRIPT = `let sum = 0;\nfor (let n = 0; n < ${CALLS}; n++) sum += await tools.double({ n });\nreturn sum`;
const PYTHON = `total = 0\nfor n in range(${CALLS}):\n    total += tools.double(n=n)\ntotal`;
const PROGRAMS: Record<string, { language: Language; code: string }> = {
  JavaScript: { language: 'javascript', code: JAVASCRIPT },
  Python: { language: 'python', code: PYTHON },
};

export const toolCall: Row = {
  name: 'tool-call',
  title: 'Tool call, round trip in one program',
  method: `Wall time per call of ${CALLS - FIRST} calls in a loop, after ${FIRST} that do not count; the tool doubles a number. Ours go through the library: thread, argument check, call book and events. Peers: quickjs-wasi awaits a promise that the host resolves; isolated-vm awaits a function of the host; Monty stops at the call and is resumed.`,
  unit: 'us',
  rounds: 20,
  warmUps: 5,
  cases: Object.keys(PROGRAMS).map((name) => ({ name, expected: CALLS * (CALLS - 1) })),
  targets: Object.keys(PROGRAMS).map((name) => ({ what: `${name}, thread mode`, of: 'Fermata', in: name, atMost: 50 })),
  async open() {
    const meter = callMeter();
    const fermata = createFermata({
      tools: [
        {
          name: 'double',
          parameters: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
          execute: (args) => meter.double(Number(args.n)),
        },
      ],
    });
    return [
      {
        name: 'Fermata',
        close: () => fermata.close(),
        sample: (name) => meter.sample(async () => (await fermata.run(PROGRAMS[name] as { language: Language; code: string })).output),
      },
      await tried('quickjs-wasi', async () => {
        const { create } = await openQuickjsWasi();
        const code = `let total;\n(async () => { let sum = 0; for (let n = 0; n < ${CALLS}; n++) sum += await double(n); total = sum })()`;
        return {
          without: ['Python'],
          sample: () =>
            meter.sample(async () => {
              const vm = await create();
              let answer = () => {};
              const double = vm.newFunction('double', (n) => {
                const promise = vm.newPromise();
                const asked = Number(vm.dump(n));
                answer = () => promise.resolve(vm.newNumber(meter.double(asked)));
                return promise.handle;
              });
              vm.setProp(vm.global, 'double', double);
              vm.evalCode(code).dispose();
              for (let call = 0; call < CALLS; call++) {
                await undefined;
                answer();
                vm.executePendingJobs();
              }
              const output = vm.dump(vm.evalCode('total'));
              vm.dispose();
              return output;
            }),
        };
      }),
      await tried('isolated-vm', async () => {
        const { create, reference } = await openIsolatedVm();
        const code = `return (async () => { let sum = 0; for (let n = 0; n < ${CALLS}; n++) sum += await $0.apply(undefined, [n], { result: { promise: true, copy: true } }); return sum })()`;
        return {
          note: 'a thread of its own',
          without: ['Python'],
          sample: () =>
            meter.sample(async () => {
              const isolate = create();
              const output = await isolate.createContextSync().evalClosure(code, [reference(async (n: number) => meter.double(n))], { result: { promise: true, copy: true } });
              isolate.dispose();
              return output;
            }),
        };
      }),
      await tried('Monty', async () => {
        const monty = await openMonty();
        const code = `total = 0\nfor n in range(${CALLS}):\n    total = total + double(n)\ntotal`;
        return {
          note: 'a part of Python',
          without: ['JavaScript'],
          sample: () =>
            meter.sample(async () => {
              let paused = monty.start(code);
              while (paused.functionName !== undefined) paused = paused.resume({ returnValue: meter.double(Number(paused.args?.[0])) });
              return paused.output;
            }),
        };
      }),
    ];
  },
};

/** Times the calls of one program at the host's function. */
function callMeter() {
  let calls = 0;
  let began = 0;
  let ended = 0;
  return {
    double(n: number): number {
      calls++;
      if (calls === FIRST) began = performance.now();
      if (calls === CALLS) ended = performance.now();
      return n * 2;
    },
    async sample(run: () => Promise<unknown>): Promise<Sample> {
      calls = 0;
      const output = await run();
      return { value: ((ended - began) * 1000) / (CALLS - FIRST), output };
    },
  };
}
