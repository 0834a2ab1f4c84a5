/** Errors: what a program does wrong is a value with a code and a place; what a caller does wrong is thrown, with a code. */
import { createFermata, type ErrorCode, FermataError, type Language, type StartOptions, ToolError } from 'fermata';
import { afterAll, describe, expect, test } from 'vitest';

const failing = {
  name: 'failing',
  execute: () => {
    throw new ToolError('no such row', { name: 'NotFound', data: { id: 7 } });
  },
};
const fermata = createFermata({ tools: [failing] });
afterAll(() => fermata.close());

type Expected = { code: ErrorCode; line?: number; message: RegExp };
const GUEST: [string, Language, string, Expected][] = [
  ['an uncaught exception', 'python', 'x = 1\nraise ValueError("bad cell 17")', { code: 'guest_error', line: 2, message: /ValueError: bad cell 17/ }],
  ['an uncaught exception', 'javascript', 'let x = 1;\nthrow new RangeError("bad cell 17");', { code: 'guest_error', line: 2, message: /RangeError: bad cell 17/ }],
  [
    'an uncaught exception',
    'typescript',
    'interface A {\n  a: number;\n}\nenum E { One }\nthrow new RangeError("bad cell 17");',
    { code: 'guest_error', line: 5, message: /RangeError: bad cell 17/ },
  ],
  ['what cannot be parsed', 'python', 'x = 1\ndef f(:\n  pass', { code: 'syntax_error', line: 2, message: /SyntaxError/ }],
  ['what cannot be parsed', 'javascript', 'let x = 1;\nlet = = 3;', { code: 'syntax_error', line: 2, message: /SyntaxError/ }],
  ['what cannot be parsed', 'typescript', 'let x: number = 1;\nlet y: = 3;', { code: 'syntax_error', line: 2, message: /SyntaxError/ }],
  ['a tool failure that is not caught', 'python', '\ntools.failing()', { code: 'tool_error', line: 2, message: /no such row/ }],
  ['a tool failure that is not caught', 'javascript', '\nawait tools.failing({})', { code: 'tool_error', line: 2, message: /no such row/ }],
  ['a tool that does not exist', 'python', 'tools.faling()', { code: 'unknown_tool', line: 1, message: /faling.*failing/ }],
  ['a tool that does not exist', 'javascript', 'await tools.faling({})', { code: 'unknown_tool', line: 1, message: /faling.*failing/ }],
];

test.each(GUEST)('%s in %s is told with its code and line', async (_what, language, code, { code: errorCode, line, message }) => {
  const result = await fermata.run({ language, code });
  expect(result.status).toBe('failed');
  expect(result.error).toMatchObject({ code: errorCode, line, message: expect.stringMatching(message) });
});

test('a library that is not allowed is refused, and what it would have done is not done', async () => {
  const result = await fermata.run({ language: 'python', code: 'import math\nimport os\nprint("RAN")', allowedLibraries: ['math'] });
  expect(result).toMatchObject({ status: 'failed', stdout: '', error: { code: 'library_not_allowed', line: 2, message: expect.stringContaining('os') } });
});

test('a program that fails keeps the output that it had printed, and has a traceback with its own lines', async () => {
  const { stdout, error } = await fermata.run({ language: 'python', code: 'print("before")\ndef inner():\n    return 1 / 0\ninner()' });
  expect(stdout).toBe('before\n');
  expect(error?.traceback).toMatch(/line 4[\s\S]*inner\(\)[\s\S]*line 3[\s\S]*1 \/ 0[\s\S]*ZeroDivisionError/);
});

describe('a tool failure can be caught, with message, name and data', () => {
  test('in Python', async () => {
    const code = 'from fermata import ToolError\ntry:\n    tools.failing()\nexcept ToolError as e:\n    caught = [str(e), e.name, e.data["id"]]\ncaught';
    expect((await fermata.run({ language: 'python', code })).output).toEqual(['no such row', 'NotFound', 7]);
  });
  test('in JavaScript', async () => {
    const code = 'try { await tools.failing({}); } catch (e) { return [e.message, e.toolErrorName, e.data.id, e instanceof ToolError]; }';
    expect((await fermata.run({ language: 'javascript', code })).output).toEqual(['no such row', 'NotFound', 7, true]);
  });
});

const REFUSED: [string, unknown][] = [
  ['no program', {}],
  ['a program and a tool call', { language: 'python', code: '1', toolCall: { name: 'failing' } }],
  ['code without a language', { code: '1' }],
  ['an unknown language', { language: 'cobol', code: '1' }],
  ['a limit below its minimum', { language: 'python', code: '1', limits: { timeoutMs: 1 } }],
  ['a limit that does not exist', { language: 'python', code: '1', limits: { timeoutMS: 1000 } }],
  ['a limit that is no whole number', { language: 'python', code: '1', limits: { maxCpuMs: 12.5 } }],
  ['a seed of the wrong length', { language: 'python', code: '1', seed: new Uint8Array(16) }],
  ['a file outside of /work and /tmp', { language: 'python', code: '1', files: [{ path: '/etc/passwd', data: '' }] }],
  ['a file path that climbs', { language: 'python', code: '1', files: [{ path: '/work/../etc/passwd', data: '' }] }],
  ['a tool with an impossible name', { language: 'python', code: '1', tools: [{ name: 'no spaces' }] }],
  ['a tool whose schema is none', { language: 'python', code: '1', tools: [{ name: 'x', parameters: { type: 'nothing' } }] }],
  ['two tools of one name', { language: 'python', code: '1', tools: [{ name: 'failing' }] }],
];

test.each(REFUSED)('%s is refused as invalid_request', async (_what, options) => {
  const refused = await fermata.start(options as StartOptions).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(FermataError);
  expect(refused).toMatchObject({ code: 'invalid_request' });
});

test('the id of a task is its own or the given one', async () => {
  await using task = await fermata.start({ language: 'javascript', code: '1', taskId: 'mine' });
  expect(task.id).toBe('mine');
  expect((await fermata.run({ language: 'javascript', code: '1' })).taskId).toMatch(/^task_/);
});
