/** The two programs that everyone tries first, in every language, and what each language gives back. */
import { createFermata, type Language } from 'fermata';
import { afterAll, describe, expect, test } from 'vitest';

const calls: unknown[] = [];
const calculateSum = {
  name: 'calculate_sum',
  parameters: { type: 'object', properties: { numbers: { type: 'array', items: { type: 'number' } } }, required: ['numbers'], additionalProperties: false },
  execute: ({ numbers }: { numbers?: unknown }) => {
    calls.push(numbers);
    return (numbers as number[]).reduce((sum, number) => sum + number, 0);
  },
};
const fermata = createFermata({ tools: [calculateSum] });
afterAll(() => fermata.close());

const FIBONACCI = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4181];
const PROGRAMS: Record<Language, { sum: string; fibonacci: string; print: string; input: string }> = {
  python: {
    sum: 'tools.calculate_sum(numbers=[5, 10, 15])',
    fibonacci: 'a, b, out = 0, 1, []\nfor _ in range(20):\n    out.append(a)\n    a, b = b, a + b\nout',
    print: 'import sys\nprint("out")\nprint("err", file=sys.stderr)',
    input: 'from fermata import input\ninput["name"] + "!"',
  },
  javascript: {
    sum: 'return await tools.calculate_sum({ numbers: [5, 10, 15] });',
    fibonacci: 'let [a, b] = [0, 1]; const out = [];\nfor (let i = 0; i < 20; i++) { out.push(a); [a, b] = [b, a + b]; }\nout',
    print: 'console.log("out"); console.error("err");',
    input: 'input.name + "!"',
  },
  typescript: {
    sum: 'const sum: number = await tools.calculate_sum({ numbers: [5, 10, 15] as number[] });\nreturn sum;',
    fibonacci: 'let [a, b]: [number, number] = [0, 1]; const out: number[] = [];\nfor (let i = 0; i < 20; i++) { out.push(a); [a, b] = [b, a + b]; }\nout',
    print: 'const say = (text: string): void => console.log(text);\nsay("out"); console.error("err");',
    input: '(input as { name: string }).name + "!"',
  },
};

describe.each(Object.entries(PROGRAMS) as [Language, (typeof PROGRAMS)[Language]][])('%s', (language, { sum, fibonacci, print, input }) => {
  test('the sum of 5, 10 and 15, by a tool, is 30', async () => {
    calls.length = 0;
    const result = await fermata.run({ language, code: sum });
    expect(result).toMatchObject({ status: 'succeeded', output: 30, calls: [{ callId: 1, tool: 'calculate_sum', arguments: { numbers: [5, 10, 15] }, status: 'ok' }] });
    expect(calls).toEqual([[5, 10, 15]]);
  });

  test('the first 20 Fibonacci numbers come back as a list', async () => {
    expect((await fermata.run({ language, code: fibonacci })).output).toEqual(FIBONACCI);
  });

  test('standard output and standard error are kept apart', async () => {
    expect(await fermata.run({ language, code: print })).toMatchObject({ stdout: 'out\n', stderr: 'err\n' });
  });

  test('the input reaches the program', async () => {
    expect((await fermata.run({ language, code: input, input: { name: 'Ada' } })).output).toBe('Ada!');
  });
});

test('a tool call alone needs no program', async () => {
  const result = await fermata.run({ toolCall: { name: 'calculate_sum', arguments: { numbers: [5, 10, 15] } } });
  expect(result).toMatchObject({ status: 'succeeded', output: 30 });
});

test('standard input reaches a Python program', async () => {
  expect((await fermata.run({ language: 'python', code: 'import sys\nsys.stdin.read().upper()', stdin: 'abc' })).output).toBe('ABC');
});

test('bytes on its standard input reach a Python program, whether they are text or not', async () => {
  const stdin = new Uint8Array([0x61, 0xff, 0x0a, 0x80]);
  const read = async (code: string) => (await fermata.run({ language: 'python', code: `import sys\n${code}`, stdin })).output;
  expect(await read('list(sys.stdin.buffer.read())')).toEqual([...stdin]);
  expect(await read('list(sys.stdin.read().encode(errors="surrogateescape"))')).toEqual([...stdin]);
});

test('the same seed gives the same random numbers, and a fresh one others', async () => {
  const code = 'import random, uuid, os\n[random.random(), str(uuid.uuid4()), os.urandom(4).hex()]';
  const outputs = [];
  for (const seed of [1, 1, 2]) outputs.push((await fermata.run({ language: 'python', code, seed: new Uint8Array(32).fill(seed) })).output);
  expect(outputs[0]).toEqual(outputs[1]);
  expect(outputs[0]).not.toEqual(outputs[2]);
});

test('values cross to a tool and back without loss', async () => {
  const values = [
    Number.NaN,
    -0,
    Number.POSITIVE_INFINITY,
    2n ** 80n,
    new Uint8Array([0, 255]),
    new Date(1_700_000_000_000),
    'x\ud800y',
    '\u{1f680}',
    null,
    { __proto__: null, a: [] },
  ];
  const echo = { name: 'echo', execute: ({ value }: { value?: unknown }) => value };
  for (const [language, code] of [
    ['javascript', 'await tools.echo({ value: input })'],
    ['python', 'from fermata import input\ntools.echo(value=input)'],
  ] as const) {
    const { output, error } = await fermata.run({ language, code, input: values as never, tools: [echo] });
    expect(error).toBeUndefined();
    expect(output, language).toEqual([
      Number.NaN,
      -0,
      Number.POSITIVE_INFINITY,
      2n ** 80n,
      new Uint8Array([0, 255]),
      new Date(1_700_000_000_000),
      'x\ud800y',
      '\u{1f680}',
      null,
      { a: [] },
    ]);
  }
});

test.each(['javascript', 'typescript'] as const)('tracebacks of %s show the name of the file that was given', async (language) => {
  const code = 'function inner() {\n  throw new Error("see main.js");\n}\ninner();';
  for (const strict of [false, true]) {
    const { error } = await fermata.run({ language, code, file: 'report.mjs', strict });
    expect(error).toMatchObject({ message: 'Error: see main.js', line: 2 });
    expect(error?.traceback).toMatch(/^report\.mjs:2\n/);
    expect(error?.traceback).toContain('report.mjs:4:');
    expect(error?.traceback).not.toMatch(/main\.[jt]s:/);
  }
  expect((await fermata.run({ language, code })).error?.traceback).toContain(language === 'javascript' ? 'main.js:2' : 'main.ts:2');
});
