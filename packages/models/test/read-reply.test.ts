/** Programs read out of replies, as models write them. */
import type { Language, ModelReply } from '@fermata/protocol';
import { expect, test } from 'vitest';
import { fenced, lookupsIn, readReply, replyText } from '../src/author/read-reply.ts';

const reply = (text: string, more: Partial<ModelReply> = {}) => ({ text, calls: [], finish: 'stop' as const, ...more });
const program = (language: Language, code: string) => ({ kind: 'program', program: { language, code } });

test.each<[string, string, Language | undefined, Language, string]>([
  ['a block with words around it', 'Sure!\n```python\nx = 1\nx\n```\nThat is it.', undefined, 'python', 'x = 1\nx\n'],
  ['another name of the language', '```js\nreturn 1\n```', undefined, 'javascript', 'return 1\n'],
  ['a name with more behind it', '```ts title="main.ts"\nreturn 1\n```', undefined, 'typescript', 'return 1\n'],
  ['line ends of another system', '```python\r\nx\r\n```', undefined, 'python', 'x\n'],
  ['an indented fence', '  ```py\nx\n  ```', undefined, 'python', 'x\n'],
  ['the last of several', '```python\na\n```\nor better\n```python\nb\n```', undefined, 'python', 'b\n'],
  ['blocks of other languages beside it', '```json\n{}\n```\n```python\na\n```\n```text\nout\n```', undefined, 'python', 'a\n'],
  ['a fence in the program', '````python\nx = """\n```js\n```\n"""\n````', undefined, 'python', 'x = """\n```js\n```\n"""\n'],
  ['a fence that is not closed', '```python\nx = 1', undefined, 'python', 'x = 1'],
  ['no name, where the language is known', '```\nx\n```', 'python', 'python', 'x\n'],
  ['JavaScript where TypeScript is wanted', '```js\nreturn 1\n```', 'typescript', 'typescript', 'return 1\n'],
  ['TypeScript where JavaScript is wanted', '```ts\nreturn 1\n```', 'javascript', 'typescript', 'return 1\n'],
  ['tildes', '~~~python\nx\n~~~', undefined, 'python', 'x\n'],
])('%s', (_, text, wish, language, code) => {
  expect(readReply(reply(text), wish)).toEqual(program(language, code));
});

test('a call of run_program counts before all text', () => {
  const calls = [{ name: 'run_program', arguments: { language: 'javascript', code: 'return 2' } }];
  expect(readReply(reply('```python\n1\n```', { calls }))).toEqual(program('javascript', 'return 2'));
  expect(readReply(reply('', { calls: [{ name: 'run_program', arguments: { code: 'return 2' } }] }), 'javascript')).toEqual(program('javascript', 'return 2'));
});

test.each<[string, Partial<ModelReply>, RegExp, Language?]>([
  ['an empty reply', { text: ' \n' }, /no program in the reply/],
  ['a block without a language', { text: '```\nx\n```' }, /no program in the reply/],
  ['another language than is wanted', { text: '```python\nx\n```' }, /to be in javascript/, 'javascript'],
  ['an empty block', { text: '```python\n\n```' }, /empty/],
  ['a reply that was cut', { text: '```python\nx = [1,', finish: 'length' }, /cut/],
  ['a reply that was withheld', { text: '', finish: 'filter' }, /withheld/],
  ['run_program without code', { text: '', calls: [{ name: 'run_program', arguments: { language: 'python' } }] }, /run_program takes/],
  ['run_program in another language', { text: '', calls: [{ name: 'run_program', arguments: { language: 'ruby', code: 'puts 1' } }] }, /run_program takes/],
  ['run_program in what only looks like a language', { text: '', calls: [{ name: 'run_program', arguments: { language: 'constructor', code: 'x' } }] }, /run_program takes/],
  ['arguments that are no record', { text: '', calls: [{ name: 'run_program', arguments: null }] }, /run_program takes/],
  ['a function that was not offered', { text: '', calls: [{ name: 'bash', arguments: {} }] }, /no function bash/],
])('%s is a fault that says what to do', (_, more, message, wish) => {
  const read = readReply(reply('', more), wish);
  expect(read).toMatchObject({ kind: 'fault', message: expect.stringMatching(message) });
});

test('only words are told apart, code in a language of others among them: they answer a conversation', () => {
  for (const text of ['I cannot do that.', 'In Rust:\n```rust\nfn main() {}\n```\nThat is all.', '```constructor\nx\n```']) {
    expect(readReply(reply(text))).toMatchObject({ kind: 'words', message: expect.stringMatching(/no program in the reply/) });
  }
  expect(readReply(reply('I cannot', { finish: 'length' })).kind).toBe('fault');
});

test('what a model looks up is read, and what does not fit is left out', () => {
  const calls = [
    { name: 'search_tools', arguments: { query: 'mail' } },
    { name: 'read_result', arguments: { from: 10, length: 5 } },
    { name: 'read_result', arguments: { from: -1, length: 5 } },
    { name: 'search_tools', arguments: undefined },
  ];
  expect(lookupsIn({ calls })).toEqual([
    { name: 'search_tools', query: 'mail' },
    { name: 'read_result', from: 10, length: 5 },
  ]);
});

test('a reply that called a function is shown again as text, and reads the same', () => {
  const code = 'text = """\n```\n"""';
  const text = replyText({ text: 'So:', calls: [{ name: 'run_program', arguments: { language: 'python', code } }] });
  expect(readReply(reply(text))).toEqual(program('python', `${code}\n`));
  expect(fenced({ language: 'python', code })).toMatch(/^````python\n/);
  expect(replyText({ text: '', calls: [] })).toBe('(nothing)');
});

test('replies that are made to be read slowly are read in no time', () => {
  // A pattern that tried again at every character would take hours for these.
  const long = 1_000_000;
  for (const text of [
    '`'.repeat(long),
    `\`\`\`${'a'.repeat(long)}`,
    `\`\`\`${' '.repeat(long)}`,
    '```js'.repeat(long / 5),
    `\`\`\`js\n${'`'.repeat(long)} x`,
    '```\n'.repeat(long / 4),
  ])
    readReply(reply(text));
  const code = `x = "${'`'.repeat(long)}"`;
  expect(readReply(reply(fenced({ language: 'python', code })))).toEqual(program('python', `${code}\n`));
});
