/** Looking at a stopped task shows where it is and what it holds, and changes nothing. */
import { createFermata } from 'fermata';
import { afterAll, expect, test } from 'vitest';

const fermata = createFermata();
afterAll(() => fermata.close());
const tools = [{ name: 'ask' }];

test('a Python task shows lines, functions, local variables, calls and files', async () => {
  const code = [
    'def outer(items):',
    '    total = sum(items)',
    '    return inner(total)',
    'def inner(n):',
    '    label = "wait " * 2',
    '    return tools.ask(n=n)',
    'open("/work/notes.txt", "w").write("abc")',
    'outer([1, 2])',
  ].join('\n');
  await using task = await fermata.start({ language: 'python', code, tools });
  await task.run();
  const before = await task.stateHash();
  const seen = await task.inspect();
  expect(seen.stack.map(({ line, function: name }) => [line, name])).toEqual([
    [8, '<module>'],
    [3, 'outer'],
    [6, 'inner'],
  ]);
  expect(seen.stack[1]?.locals).toMatchObject({ items: '[1, 2]', total: '3' });
  expect(seen.stack[2]?.locals).toMatchObject({ n: '3', label: "'wait wait '" });
  expect(seen.pending).toEqual([{ id: 1, name: 'ask', args: { n: 3 } }]);
  expect(seen.files).toContainEqual({ path: '/work/notes.txt', bytes: 3 });
  expect(await task.stateHash()).toBe(before);
  expect(Buffer.from((await task.readFile('/work/notes.txt')) ?? []).toString()).toBe('abc');
  expect(await task.readFile('/work/none')).toBeUndefined();
});

test('a JavaScript task shows the line where it stands', async () => {
  await using task = await fermata.start({ language: 'javascript', code: 'const x = 1;\n\nawait tools.ask({ x });', tools });
  await task.run();
  const before = await task.stateHash();
  expect(task.position?.line).toBe(3);
  expect(await task.inspect()).toMatchObject({ pending: [{ name: 'ask', args: { x: 1 } }] });
  expect(await task.stateHash()).toBe(before);
});

test('values whose repr misbehaves are shown as such, and none of their effects remain', async () => {
  const code = [
    'class Bad:',
    '    def __repr__(self):',
    '        seen.append(1)',
    '        raise SystemExit',
    'class Slow:',
    '    def __repr__(self):',
    '        while True: pass',
    'seen = []',
    'bad = Bad()',
    'tools.ask()',
    'len(seen)',
  ].join('\n');
  await using task = await fermata.start({ language: 'python', code, tools });
  await task.run();
  const { stack } = await task.inspect();
  expect(stack[0]?.locals.bad).toMatch(/Bad.*failed/);
  task.answer(1, null);
  expect(await task.run()).toMatchObject({ output: 0 });
});

test('a look at a value whose repr ends the process shows calls and files, and does no harm', async () => {
  const code = 'import os\nclass Ends:\n    def __repr__(self):\n        os._exit(3)\nends = Ends()\ntools.ask()\n"fine"';
  await using task = await fermata.start({ language: 'python', code, tools });
  await task.run();
  expect(await task.inspect()).toMatchObject({ stack: [], pending: [{ name: 'ask' }], incomplete: expect.stringContaining('ended itself') });
  task.answer(1, null);
  expect(await task.run()).toMatchObject({ output: 'fine' });
});

test('a look at a value whose repr never ends comes to an end, and does no harm', async () => {
  await using task = await fermata.start({ language: 'python', code: 'class Slow:\n    def __repr__(self):\n        while True: pass\nslow = Slow()\ntools.ask()\n"fine"', tools });
  await task.run();
  const before = await task.stateHash();
  expect(await task.inspect()).toMatchObject({ stack: [], pending: [{ name: 'ask' }], incomplete: expect.stringMatching(/took too long|timed out/) });
  expect(await task.stateHash()).toBe(before);
  task.answer(1, null);
  expect(await task.run()).toMatchObject({ output: 'fine' });
});
