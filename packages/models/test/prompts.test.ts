/** What models are told: what the program may use and may not, and nothing without bounds. */
import { parseOptions } from '@fermata/protocol';
import { limitsSchema } from '@fermata/protocol/schemas';
import type { StubTool } from '@fermata/tools/stubs';
import { expect, test } from 'vitest';
import { type AuthorFacts, answeringFunctions, answerPrompt, complaint, cutText, lookedUp, writingFunctions, writingPrompt } from '../src/author-index.ts';

const tool = (name: string, description = `does ${name}`): StubTool => ({
  name,
  description,
  parameters: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
  result: { type: 'object', properties: { mail: { type: 'string' } } },
});
const facts = (more: Partial<AuthorFacts> = {}): AuthorFacts => ({
  ...{ instruction: 'Do it', tools: [], limits: parseOptions(limitsSchema, {}, 'limits'), files: [], sharedInterpreter: false, earlier: [] },
  ...more,
});
const system = (more: Partial<AuthorFacts> = {}) => writingPrompt(facts(more))[0]?.content ?? '';

test('tools are declared in the language that the program is to be in', () => {
  const tools = [tool('crm.find')];
  expect(system({ tools, language: 'python' })).toContain('def find(id: int)');
  expect(system({ tools, language: 'javascript' })).toContain('find(args: { id: number }): Promise<{ mail?: string }>');
  expect(system({ tools })).toContain('find(args: { id: number })');
  expect(writingFunctions(facts({ tools }), true).map(({ name }) => name)).toEqual(['run_program']);
});

test('of very many tools the number is told, and they can be searched', () => {
  const tools = Array.from({ length: 3000 }, (_, i) => tool(`group${i % 3}.tool_${i}`, i === 1234 ? 'Sends a letter by mail' : `Number ${i}`));
  const text = system({ tools });
  expect(text).toContain('3000 tools');
  expect(text).toContain('group1 (1000)');
  expect(text).toContain('by the function `search_tools`');
  expect(text.length).toBeLessThan(10_000);
  expect(writingFunctions(facts({ tools }), true).map(({ name }) => name)).toEqual(['run_program', 'search_tools']);
  expect(writingFunctions(facts({ tools }), false).map(({ name }) => name)).toEqual(['run_program']);
  const found = lookedUp([{ name: 'search_tools', query: 'send a letter' }], { tools });
  expect(found).toContain('tool_1234(args: { id: number })');
  expect(found.length).toBeLessThan(15_000);
  expect(lookedUp([{ name: 'search_tools', query: 'zebra' }], { tools })).toContain('No tool fits');
});

test('constraints, input, files and what came before are told', () => {
  const text = system({
    ...{ allowedLibraries: ['json'], requiredLibraries: ['sqlite3'], blockedCommands: ['curl'], strict: true, network: { hosts: ['example.com'] } },
    ...{ input: { rows: [{ id: 1, name: 'a' }] }, stdin: 'lines', files: ['/work/a.csv'] },
    earlier: [{ asked: 'Load it', came: '3 rows' }],
    sharedInterpreter: true,
  });
  for (const told of ['json', 'sqlite3', 'curl', 'No os, sys', 'example.com', '{ rows: [1 x { id: number, name: string }] }', '/work/a.csv', 'Load it', '3 rows', 'still there'])
    expect(text).toContain(told);
  expect(system()).toContain('Network: none');
});

test('a large input is cut, and says how much is missing', () => {
  const text = system({ input: { blob: 'x'.repeat(100_000) } });
  expect(text.length).toBeLessThan(12_000);
  expect(text).toMatch(/\[cut: \d+ of 100011 characters are missing here; the program has all of it\]/);
  expect(cutText('ab😀', 3)).toBe('ab\n[cut: 1 of 4 characters are missing here]');
});

test('a conversation keeps its order, and what the service wants of it stands with our own rules', () => {
  const messages = [
    { role: 'system' as const, content: 'Speak French.' },
    { role: 'user' as const, content: 'one' },
    { role: 'assistant' as const, content: 'two' },
    { role: 'user' as const, content: 'three' },
  ];
  const prompt = writingPrompt(facts({ instruction: undefined, messages }));
  expect(prompt.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
  expect(prompt[0]?.content).toContain('Speak French.');
  expect(prompt[3]?.content).toBe('three');
  const answer = answerPrompt({ messages }, { program: { language: 'python', code: '1' }, result: '1', printed: '', files: [] });
  expect(answer.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user', 'assistant', 'user']);
  expect(answer[0]?.content).toContain('Speak French.');
});

test('what is wrong is told with its place, traceback and advice, cut', () => {
  const error = { code: 'guest_error', message: 'ValueError: no', line: 3, column: 7, traceback: `${'frame\n'.repeat(2000)}ValueError: no`, hint: 'Try again.' };
  const text = complaint({ error, printed: `${'line\n'.repeat(1000)}the end` });
  for (const told of ['guest_error (line 3, column 7): ValueError: no', 'Hint: Try again.', 'the end', 'Reply with the whole program']) expect(text).toContain(told);
  expect(text.length).toBeLessThan(6000);
  const findings = [{ rule: 'unknown_tool', severity: 'error', line: 1, column: 2, message: 'there is no tool a' }];
  expect(complaint({ error: { code: 'unknown_tool', message: 'there is no tool a' }, findings })).toContain('- line 1, column 2, unknown_tool: there is no tool a');
  const edited = { language: 'python' as const, code: 'x' };
  expect(complaint({ error, edited })).toContain('```python\nx\n```');
});

test('a large result is cut for the answer, and the rest can be read piece by piece', () => {
  const result = JSON.stringify('y'.repeat(20_000));
  const prompt = answerPrompt({ instruction: 'x' }, { program: { language: 'python', code: '1' }, result, printed: 'p', files: [{ path: '/work/a', bytes: 3 }] });
  const told = prompt.at(-1)?.content ?? '';
  expect(told.length).toBeLessThan(9_000);
  expect(told).toMatch(/cut: 12002 of 20002 .*read_result/);
  expect(told).toContain('/work/a (3 bytes)');
  expect(answeringFunctions(result, true).map(({ name }) => name)).toEqual(['read_result']);
  expect(answeringFunctions('1', true)).toEqual([]);
  const piece = lookedUp([{ name: 'read_result', from: 19_999, length: 100_000 }], { tools: [], result });
  expect(piece).toBe('Characters 19999 to 20002 of 20002 of the result:\nyy"');
  expect(lookedUp([{ name: 'read_result', from: 0, length: 100_000 }], { tools: [], result }).length).toBeLessThan(8_200);
});

test('a reply that looks up very much is told a part of it', () => {
  const result = JSON.stringify('y'.repeat(20_000));
  const told = lookedUp(Array(5000).fill({ name: 'read_result', from: 0, length: 8_000 }), { tools: [], result });
  expect(told.length).toBeLessThan(8 * 8_200);
  expect(told).toContain('4992 more were not looked up');
});
