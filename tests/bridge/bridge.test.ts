/** Concurrent programs see their answers in the order in which Node and CPython would show them, whatever the stops. */
import { loadImage } from '@fermata/machine';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { toJavaScript, toPython, trees } from './program-tree.ts';
import { Choices, hasPython, runOnMachine, runOnNode, runOnPython } from './schedulers.ts';

const tools = ['ok', 'fail'].map((name) => ({ name, parameters: ['n'] }));
const choiceLists = fc.array(fc.nat(1000), { minLength: 1, maxLength: 20 });
const stopSets = fc.array(fc.nat(60), { maxLength: 4 }).map((stops) => new Set(stops));
let quickjs: Awaited<ReturnType<typeof loadImage>>;
let cpython: Awaited<ReturnType<typeof loadImage>>;

beforeAll(async () => {
  quickjs = await loadImage('quickjs');
  cpython = await loadImage('cpython');
});

test('a JavaScript program sees its answers in the order in which Node would show them, whatever the slices and stops', async () => {
  await fc.assert(
    fc.asyncProperty(trees, choiceLists, fc.constantFrom(1, 7, 50, 1_000_000), stopSets, async (tree, choices, sliceFuel, stops) => {
      const code = toJavaScript(tree);
      const seen = runOnMachine(quickjs, { language: 'javascript', code, tools }, new Choices(choices), sliceFuel, stops);
      expect(seen).toEqual(await runOnNode(code, new Choices(choices)));
    }),
    { numRuns: 300 },
  );
});

test.skipIf(!hasPython)('a Python program sees its answers in the order in which CPython with a plain loop would show them', () => {
  fc.assert(
    fc.property(trees, choiceLists, fc.constantFrom(1, 50, 1_000_000), stopSets, (tree, choices, sliceFuel, stops) => {
      const code = toPython(tree);
      const seen = runOnMachine(cpython, { language: 'python', code: `${code}\nasyncio.run(main())`, tools }, new Choices(choices), sliceFuel, stops);
      expect(seen).toEqual(runOnPython(code, choices));
    }),
    { numRuns: 40 },
  );
});
