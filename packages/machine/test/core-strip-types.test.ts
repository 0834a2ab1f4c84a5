/** Sources that were made to hurt whoever reads them. */
import { expect, test } from 'vitest';
import { stripTypes, withoutFence } from '../src/quickjs/typescript.ts';

test('a program that is nested too deeply is refused, and those after it are read as before', () => {
  for (const deep of ['('.repeat(100_000), `let a:${'A<'.repeat(100_000)}`, `let a:${'A<'.repeat(2_000)}`]) {
    expect(() => stripTypes(deep)).toThrow(expect.objectContaining({ code: 'syntax_error' }));
  }
  for (let i = 0; i < 120; i++) expect(() => stripTypes(`let a:${'A<'.repeat(700)}`)).toThrow(expect.objectContaining({ code: 'syntax_error' }));
  expect(stripTypes('const a: number = 1; return a').code).toBe('const a         = 1; return a');
});

test('a fence is taken away in time that grows with the text alone', () => {
  for (const [fenced, plain] of [
    ['```ts\nlet a\n```', '\nlet a'],
    ['\n\n~~~\nx\ny\n~~~\n \n', '\n\n\nx\ny'],
    ['```\n```', '```\n```'],
    ['```\nx\n~~~', '```\nx\n~~~'],
    ['``` a b\nx\n```', '``` a b\nx\n```'],
  ] as const)
    expect(withoutFence(fenced)).toBe(plain);
  const long = `\`\`\`${' '.repeat(5_000_000)}`;
  expect(withoutFence(long)).toBe(long);
});

test('a program that would hold up everybody while it is read is refused before that, with what to do', () => {
  expect(() => stripTypes(`const a = 1; ${' '.repeat(512 * 1024)}`)).toThrow(
    expect.objectContaining({ code: 'syntax_error', message: expect.stringMatching(/may have 524288 characters.*as input or files/) }),
  );
  expect(stripTypes(`let a: 1;${' '.repeat(500_000)}`).code).toMatch(/^let a {3};/);
});
