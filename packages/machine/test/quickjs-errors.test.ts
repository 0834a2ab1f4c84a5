/** Errors name the user's own lines, and say what to do. */
import { expect, test } from 'vitest';
import { Machine } from '../src/wasm/machine.ts';
import { errorOf, image, resultOf, runJavaScript } from './run-javascript.ts';

test('an uncaught error has the line, the source and the stack of the user', () => {
  const error = errorOf('function outer() {\n  return inner(1)\n}\nfunction inner(x) {\n  return x.y.z\n}\nouter()');
  expect(error).toMatchObject({ name: 'TypeError', line: 5, column: 10 });
  expect(error.traceback).toBe(
    "main.js:5\n  return x.y.z\n         ^\nTypeError: cannot read property 'z' of undefined\n    at inner (main.js:5:10)\n    at outer (main.js:2:10)\n    at main.js:7:1",
  );
});

test.each([
  ['let a = ;', 1, "unexpected token in expression: ';'"],
  ['const ok = 1;\nimport fs from "fs"', 2, 'import is not available here'],
  ['export const a = 1', 1, 'export is not available here'],
  ['const a = 1; const a = 2', 1, 'invalid redefinition'],
  ['let s = `abc', 1, 'unexpected end of string'],
])('%s', (code, line, message) => {
  expect(errorOf(code)).toMatchObject({ name: 'SyntaxError', kind: 'syntax_error', line, message: expect.stringContaining(message) });
});

test.each([
  ['throw "text"', 'the program threw a value that is not an Error: text'],
  ['throw { code: 5 }', 'the program threw a value that is not an Error: { code: 5 }'],
  ['throw null', 'the program threw a value that is not an Error: null'],
  ['await new Promise(() => {})', 'the program waits for a promise that nothing will settle'],
  ['require("fs")', 'require'],
  ['await import("fs")', "import('fs') is not available here"],
  ['setTimeout(() => { throw new Error("late") }, 5); await sleep(1)', 'late'],
  ['queueMicrotask(() => { throw new Error("soon") }); await sleep(1)', 'soon'],
])('%s', (code, message) => {
  expect(errorOf(code).message).toContain(message);
});

test('causes are told', () => {
  expect(errorOf('throw new Error("outer", { cause: new RangeError("inner") })').traceback).toMatch(/Error: outer\n {4}at main\.js:1:\d+\nCaused by: RangeError: inner/);
});

test('running out of memory can be caught, and is a limit when it is not', () => {
  const code = 'let a = []; try { for (;;) a.push({ i: a.length }) } catch (e) { a = null; return [e.name, e.message] }';
  const limits = { maxMemoryBytes: 16 << 20 };
  expect(runWithLimits(code, limits).outcome).toMatchObject({ kind: 'done', value: ['InternalError', 'out of memory'] });
  expect(runWithLimits('const a = []; for (;;) a.push("x".repeat(1000) + a.length)', limits).outcome).toMatchObject({ kind: 'limit', limit: 'memory' });
});

test('a Markdown fence around the code goes, and the lines stay', () => {
  expect(resultOf('```js\nreturn 1\n```')).toBe(1);
  expect(errorOf('```javascript\n\nnull.x\n```')).toMatchObject({ line: 3 });
  expect(errorOf('```js\n1')).toMatchObject({ name: 'SyntaxError', message: expect.stringContaining('Markdown fence') });
});

test.each([
  ['1 + 1', 2],
  ['const x = 5; x * 2', 10],
  ['const x = 5;', undefined],
  ['return await Promise.resolve(7)', 7],
  ['let r = 0; for (const i of [1, 2]) r += i; r', 3],
  ['if (true) { "yes" } else { "no" }', 'yes'],
  ['(async () => 9)()', 9],
  ['this === globalThis && typeof arguments', 'undefined'],
])('the result of %s', (code, value) => {
  expect(resultOf(code)).toEqual(value);
});

function runWithLimits(code: string, limits: { maxMemoryBytes: number }) {
  return runJavaScript(code, { machine: Machine.fresh(image, limits) });
}
