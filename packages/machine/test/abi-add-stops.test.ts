/** Fuel checks and guards are put where a stop can happen, and a rewritten module does what it did. */
import { describe, expect, test } from 'vitest';
import { addStops, readLists } from '../abi/add-stops.mjs';

const STATUS = 64; // fuel at STATUS, nosuspend at STATUS + 16
const [VOID, UNARY] = [0, 1];
const [I32, LOOP, END, BR_IF, CALL, CALL_INDIRECT, GET, SET, TEE, CONST, ADD, SUB] = [0x7f, 0x03, 0x0b, 0x0d, 0x10, 0x11, 0x20, 0x21, 0x22, 0x41, 0x6a, 0x6b] as const;

const text = (value: string) => [value.length, ...Buffer.from(value)];
const vector = (items: number[][]) => [items.length, ...items.flat()];
const section = (id: number, content: number[]) => [id, ...leb(content.length), ...content];
const leb = (value: number): number[] => (value < 128 ? [value] : [(value % 128) | 128, ...leb(Math.floor(value / 128))]);

interface Fn {
  name: string;
  type?: number;
  code: number[];
}
/** `work` does something n times; imports are 0 (checkpoint) and 1 (tick), functions follow from 2. */
function moduleOf(functions: Fn[]): Uint8Array {
  const all = [{ name: 'fermata_checkpoint', type: VOID, code: [CALL, 0] }, ...functions];
  const names = vector(all.map(({ name }, i) => [i + 2, ...text(name)]));
  const bytes = [
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(
      1,
      vector([
        [0x60, 0, 0],
        [0x60, 1, I32, 1, I32],
      ]),
    ),
    ...section(
      2,
      vector([
        [...text('fermata'), ...text('checkpoint'), 0, VOID],
        [...text('host'), ...text('tick'), 0, VOID],
      ]),
    ),
    ...section(3, vector(all.map(({ type = UNARY }) => [type]))),
    ...section(4, [1, 0x70, 0, 1]),
    ...section(5, [1, 0, 1]),
    ...section(6, vector([[I32, 0, CONST, 0x80 | STATUS, 0, END]])),
    ...section(7, vector([[...text('fermata_status'), 3, 0], [...text('memory'), 2, 0], ...all.map(({ name }, i) => [...text(name), 0, i + 2])])),
    ...section(9, vector([[0, CONST, 0, END, 1, 1]])), // the table's only entry is tick
    ...section(10, vector(all.map(({ code }) => [...leb(code.length + 2), 0, ...code, END]))),
    ...section(0, [...text('name'), 1, ...leb(names.length), ...names]),
  ];
  return new Uint8Array(bytes);
}
/** Runs `inner` n times, counting the parameter down, and returns 0. */
const times = (inner: number[]) => [LOOP, 0x40, ...inner, GET, 0, CONST, 1, SUB, TEE, 0, BR_IF, 0, END, GET, 0];
const callPointer = [CONST, 0, CALL_INDIRECT, VOID, 0];

function run(bytes: Uint8Array, name: string, n: number, fuel: number) {
  const seen: { fuel: number; nosuspend: number }[] = [];
  let ticks = 0;
  const words = () => new Int32Array((exports.memory as WebAssembly.Memory).buffer);
  const checkpoint = () => {
    seen.push({ fuel: words()[STATUS / 4] as number, nosuspend: words()[STATUS / 4 + 4] as number });
    words()[STATUS / 4] = fuel;
  };
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { fermata: { checkpoint }, host: { tick: () => ticks++ } });
  words()[STATUS / 4] = fuel;
  const result = (exports[name] as (n: number) => number)(n);
  return { seen, ticks, result, left: words()[STATUS / 4] as number, nosuspend: words()[STATUS / 4 + 4] as number };
}
const lists = (text = '') => readLists(text);

describe('fuel', () => {
  const functions: Fn[] = [
    { name: 'calls', code: times(callPointer) }, // 3
    { name: 'leaf', code: [...callPointer, ...times([])] }, // 4
    { name: 'quiet', code: times([CALL, 1]) }, // 5
    { name: 'nested', code: [...callPointer, ...times([CONST, 5, SET, 0, ...times([]).slice(0, -2), CONST, 1, SET, 0])] }, // 6
    { name: 'caller', code: times([GET, 0, CALL, 3, CONST, 0, ADD, SET, 0, CONST, 1, SET, 0]) }, // 7
  ];
  const module = moduleOf(functions);

  test('is taken once for each turn of a loop that calls, and out of it the guest is at the checkpoint', () => {
    const { seen, ticks, result, left } = run(addStops(module, lists()).bytes, 'calls', 10, 3);
    expect({ ticks, result, left }).toEqual({ ticks: 10, result: 0, left: 1 });
    expect(seen).toEqual([
      { fuel: -1, nosuspend: 0 },
      { fuel: -1, nosuspend: 0 },
    ]);
  });
  test('is not taken by a loop of plain instructions, but by one with such a loop inside', () => {
    const { bytes } = addStops(module, lists());
    expect(run(bytes, 'leaf', 10, 100)).toMatchObject({ ticks: 1, left: 100 });
    expect(run(bytes, 'nested', 1, 100)).toMatchObject({ ticks: 1, left: 99 });
  });
  test('is not taken where no stop could happen, unless the list says so', () => {
    expect(run(addStops(module, lists()).bytes, 'quiet', 10, 100).left).toBe(100);
    expect(run(addStops(module, lists('fuel quiet')).bytes, 'quiet', 10, 100).left).toBe(90);
  });
  test('is not taken where the list says that loops are short', () => {
    expect(run(addStops(module, lists('short calls')).bytes, 'calls', 10, 100).left).toBe(100);
  });
  test('is taken in what calls something that can stop', () => {
    expect(run(addStops(module, lists()).bytes, 'caller', 4, 100).left).toBe(100 - 1 - 4);
  });
  test('is not taken in plain functions and in what they call', () => {
    const { bytes, removelist } = addStops(module, lists('plain caller # and what it calls\n'));
    expect(run(bytes, 'caller', 4, 100).left).toBe(100);
    expect(removelist).toEqual(['caller']);
  });
});

describe('a guard', () => {
  const module = moduleOf([
    { name: 'inner', code: [...times(callPointer), CONST, 7, ADD] }, // 3
    { name: 'outer', code: [GET, 0, CALL, 3] }, // 4
  ]);
  test('counts while the function runs, passes arguments and result, and stands in the removelist with what it guards', () => {
    const { bytes, removelist } = addStops(module, lists('guarded inner'));
    expect(removelist).toEqual(['inner', 'inner.inside']);
    expect(run(bytes, 'outer', 4, 100)).toMatchObject({ ticks: 4, result: 7, nosuspend: 0 });
  });
  test('makes its callers functions that cannot stop', () => {
    expect(addStops(module, lists()).stopping).toBe(3);
    expect(addStops(module, lists('guarded inner')).stopping).toBe(1);
  });
  test('counts at the checkpoints inside of it', () => {
    const { seen } = run(addStops(module, lists('guarded inner\nfuel inner')).bytes, 'outer', 4, 2);
    expect(seen).toEqual([{ fuel: -1, nosuspend: 1 }]);
  });
});

test('a list that does not fit is refused', () => {
  expect(() => readLists('removed x')).toThrow('not "plain|guarded|fuel|short name": removed x');
  expect(() => readLists('plain x y')).toThrow('plain x y');
  expect(() => addStops(moduleOf([]), readLists('plain nowhere*'))).toThrow('plain nowhere*: there is no such function');
});

test('a module that is cut short, or without the words, is refused', () => {
  const module = moduleOf([]);
  expect(() => addStops(module.subarray(0, module.length - 40), lists())).toThrow();
  expect(() => addStops(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]), lists())).toThrow('fermata_checkpoint');
});
