/** console prints what Node prints. */
import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { runJavaScript } from './run-javascript.ts';

function inNode(code: string): string {
  let text = '';
  const stream = new Writable({
    write(bytes, _, done) {
      text += bytes;
      done();
    },
  });
  new Function('console', code)(new Console({ stdout: stream, stderr: stream }));
  return text;
}

test.each([
  "console.log([1, 2, 3], { a: 1, b: 'x' }, 's', null, undefined, true, 1n, Symbol('q'), -0)",
  "console.log(new Map([['a', 1], [{ x: 1 }, [2]]]), new Set([1, 'b']), new Map, new Set)",
  'console.log({ a: { b: { c: { d: 1 } } } }, [[[[1]]]])',
  'class Foo { constructor() { this.x = 1 } }; console.log(new Foo, Foo, class extends Foo {}, function f() {}, () => {}, async () => {})',
  'const o = { a: 1 }; o.self = o; console.log(o, [o])',
  'console.log({ get a() { return 1 }, set b(v) {}, get c() { return 1 }, set c(v) {} })',
  'console.log(Array.from({ length: 120 }, (_, i) => i)); console.log(Array.from({ length: 30 }, (_, i) => i * 1.5))',
  "console.log(Array.from({ length: 27 }, (_, i) => 'item' + i)); console.log(Array.from({ length: 50 }, (_, i) => ({ i })))",
  "console.log(new Uint8Array([1, 2, 3]), new Date(0), new Date(NaN), /a+/gi, new Number(3), new String('abc'))",
  'console.log(Promise.resolve(4), new Promise(() => {}), new WeakMap, Object.create(null))',
  "console.log(['it\\'s', 'say \"hi\"', 'new\\nline', '\\x00\\x1b', 'héllo😀', '\\ud800'], { 'a-b': 1, valid_id: 2, '3x': 3 })",
  "console.log([{ id: 1, name: 'Widget', price: 9.99 }, { id: 2, name: 'Gadget', price: 19.99 }, { id: 3, name: 'Doohickey', price: 4.5 }])",
  "console.log({ text: 'line one is rather long\\nline two is rather long\\nline three is long too, and so on' })",
  "console.log('%s is %d years and %i, %f, %j %O %%', 'Bob', 42.5, 42.9, '3.14', { a: 1 }, { b: { c: {} } }, 'extra', { z: 1 })",
  "console.log('100%', 5); console.log('%s', null, undefined, { a: 1, b: { c: 1 } }); console.log('%c styled', 'color: red')",
  "console.table([{ a: 1, b: 'x' }, { a: 2, c: true }]); console.table([[1, 2], [3, 4]]); console.table(['a', 'b']); console.table(new Map([['k', 1]]))",
  "console.group('G'); console.log('in\\nner', { a: 1 }); console.group(); console.log('x'); console.groupEnd(); console.groupEnd(); console.log('out')",
  "console.count(); console.count('a'); console.count(); console.countReset(); console.count()",
  "console.assert(true, 'no'); console.assert(false, 'yes %s', 1); console.assert(false)",
  'console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 })',
  "console.log(['漢字', 'かな', '한글', 'abc', 'def', 'ghij', 'k'], [, 'x'], Array(3), [1.5, NaN, 1e21, 1e-7])",
  "const e = new Error('msg'); e.stack = 'Error: msg\\n    at foo'; console.log(e, { e }); e.code = 'X'; console.log(e)",
])('%s', (code) => {
  const { stdout, stderr } = runJavaScript(code);
  expect(stdout + stderr).toBe(inNode(code));
});

test('logging runs no getter and survives what a program does to the built-ins', () => {
  const { stdout, outcome } = runJavaScript(`
    Array.prototype.join = Object.keys = JSON.stringify = () => 'evil'; Array.prototype.push = () => { throw 1 };
    Map.prototype.get = Function.prototype.call = Function.prototype.apply = String.prototype.includes = () => { throw 2 };
    Reflect.ownKeys = () => []; Object.getOwnPropertyDescriptor = () => undefined; Symbol.prototype.toString = () => 'evil';
    console.log([1, { a: 2 }], { get bad() { throw 3 } }, new Proxy({ x: 1 }, { get() { throw 4 }, ownKeys() { throw 5 } }));
    undefined`);
  expect(outcome.kind).toBe('done');
  expect(stdout).toBe('[ 1, { a: 2 } ] { bad: [Getter] } { x: 1 }\n');
});

test('warn, error and trace go to stderr, the rest to stdout', () => {
  const { stdout, stderr } = runJavaScript("console.info('i'); console.debug('d'); console.warn('w'); console.error('e'); console.trace('t')");
  expect(stdout).toBe('i\nd\n');
  expect(stderr).toMatch(/^w\ne\nTrace: t\n {4}at main\.js:1:\d+\n$/);
});

test('a lone surrogate is printed as U+FFFD, and a pair as the character that it is', () => {
  const code = "console.log('a\\ud800b', '\\udfff', '\\ud83d\\ude00'); console.error('\\ud800'); Promise.reject(new Error('\\udc00')); 1";
  const { stdout, stderr } = runJavaScript(code);
  expect(stdout).toBe('a\ufffdb \ufffd \u{1f600}\n');
  expect(stderr).toBe('\ufffd\nUnhandled promise rejection: Error: \ufffd\n');
});
