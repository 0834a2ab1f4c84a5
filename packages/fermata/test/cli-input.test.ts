/** What `fermata run` reads for a program: its standard input, its input as JSON. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Cli } from './cli.ts';

const cli = new Cli();
// What is read is read by the command, whoever runs the program.
beforeAll(() => cli.serve(['--machines', 'threads']));
afterAll(() => cli[Symbol.dispose]());

const UPPER = 'import sys\nprint(sys.stdin.read().upper(), end="")';

describe('standard input', () => {
  test('goes to a program that is a file or the text after -e', async () => {
    const stdin = 'a line\nünd another\n';
    expect(await cli.run(['run', cli.file('upper.py', UPPER)], { stdin })).toMatchObject({ code: 0, stdout: 'A LINE\nÜND ANOTHER\n' });
    expect(await cli.run(['run', '-l', 'python', '-e', 'input() + "|" + input()'], { stdin })).toMatchObject({ code: 0, stdout: 'a line|ünd another\n' });
  });
  test('is the program where that is -, and then nothing is left of it', async () => {
    expect(await cli.run(['run', '-l', 'python', '-'], { stdin: `${UPPER}\nprint("nothing")` })).toMatchObject({ code: 0, stdout: 'nothing\n' });
  });
  test('is not waited for by a program that does not read it', async () => {
    for (const language of ['python', 'javascript']) expect(await cli.run(['run', '-l', language, '-e', '6 * 7'], { stdin: null })).toMatchObject({ code: 0, stdout: '42\n' });
  });
  test('that is no text reaches it as bytes', async () => {
    const code = 'import sys\nlist(sys.stdin.buffer.read())';
    expect(await cli.run(['run', '-l', 'python', '-e', code], { stdin: new Uint8Array([0xff, 0xfe, 0x00]) })).toMatchObject({ code: 0, stdout: '[255,254,0]\n' });
  });
  test('that is at its end is told with a hint', async () => {
    expect(await cli.run(['run', '-l', 'python', '-e', 'input()'])).toMatchObject({ code: 1, stderr: expect.stringMatching(/EOFError[\s\S]*hint: .*< data/) });
  });
});

describe('--input', () => {
  test('takes a file after @', async () => {
    cli.file('in.json', '{"n": [1, 2],\n "big": {"$fermata": ["integer", "18446744073709551616"]}}');
    const code = 'sum(task_input["n"]) + task_input["big"]';
    expect(await cli.json(['run', '-l', 'python', '-e', code, '-i', '@in.json'])).toMatchObject({ code: 0, result: { output: { $fermata: ['integer', '18446744073709551619'] } } });
  });
  test.each([
    ['a file that is not there', '@absent.json', /absent\.json cannot be read/],
    ['a file that is no JSON', '@broken.json', /broken\.json is not JSON: line 2, column 12: unexpected "\}"/],
    ['a form that is no value', '{"$fermata": ["number", "five"]}', /--input: input: not a value form/],
  ])('%s is refused by name and place', async (_what, input, told) => {
    cli.file('broken.json', '{"a": 1,\n "b": [1, 2}\n');
    const refused = await cli.run(['run', '-l', 'python', '-e', '1', '--input', input]);
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(told) });
    expect(await cli.json(['run', '-l', 'python', '-e', '1', '--input', input])).toMatchObject({ code: 2, error: { code: 'invalid_request' } });
  });
});
