/** `fermata run`: data on stdout, talk on stderr, and an exit code that says how it went. */
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Cli } from './cli.ts';

const cli = new Cli();
afterAll(() => cli[Symbol.dispose]());

const TOOLS = cli.file(
  'tools.mjs',
  `const sum = { name: 'calculate_sum', execute: ({ numbers }) => numbers.reduce((a, b) => a + b, 0) };
const pay = { name: 'pay', requiresApproval: true, execute: ({ cents }) => 'paid ' + cents };
export default { tools: [sum, pay] };\n`,
);

describe('the sum of 5, 10 and 15, and 20 Fibonacci numbers', () => {
  test.each([
    ['python', 'tools.calculate_sum(numbers=[5, 10, 15])', 'a, b, out = 0, 1, []\nfor _ in range(20):\n    out.append(a)\n    a, b = b, a + b\nout'],
    [
      'javascript',
      'return await tools.calculate_sum({ numbers: [5, 10, 15] })',
      'let [a, b] = [0, 1]; const out = []; for (let i = 0; i < 20; i++) { out.push(a); [a, b] = [b, a + b]; } out',
    ],
    [
      'typescript',
      'const n: number = await tools.calculate_sum({ numbers: [5, 10, 15] }); return n',
      'let [a, b]: number[] = [0, 1]; const out: number[] = []; for (let i = 0; i < 20; i++) { out.push(a); [a, b] = [b, a + b]; } out',
    ],
  ])('in %s', async (lang, sum, fibonacci) => {
    const ended = await cli.run(['run', '--lang', lang, '-e', sum, '--tools', TOOLS]);
    expect(ended).toMatchObject({ code: 0, stdout: '30\n' });
    expect(ended.stderr).toMatch(/call calculate_sum\(\{"numbers":\[5,10,15\]\}\)\n[\s\S]*done calculate_sum/);
    expect(await cli.run(['run', '-l', lang, '-e', fibonacci])).toMatchObject({
      code: 0,
      stdout: '[0,1,1,2,3,5,8,13,21,34,55,89,144,233,377,610,987,1597,2584,4181]\n',
      stderr: '',
    });
  });
});

describe('where a server has the folder', () => {
  beforeAll(() => cli.serve(['--machines', 'threads', '--tools', TOOLS]));

  test('a file says its language by its ending; - is standard input', async () => {
    expect(await cli.run(['run', cli.file('a.py', 'print("py")')])).toMatchObject({ code: 0, stdout: 'py\n' });
    expect(await cli.run(['run', cli.file('a.mjs', 'console.log("js")')])).toMatchObject({ code: 0, stdout: 'js\n' });
    expect(await cli.run(['run', cli.file('a.ts', 'const x: string = "ts"; console.log(x)')])).toMatchObject({ code: 0, stdout: 'ts\n' });
    expect(await cli.run(['run', '-', '--lang', 'python'], { stdin: 'print("stdin")' })).toMatchObject({ code: 0, stdout: 'stdin\n' });
  });

  test('what the program prints on stderr goes there, its result after its output', async () => {
    const code = 'import sys\nprint("out")\nprint("err", file=sys.stderr)\n"result"';
    expect(await cli.run(['run', '-l', 'python', '-e', code])).toEqual({ code: 0, stdout: 'out\nresult\n', stderr: 'err\n' });
  });

  test('input and files reach the program', async () => {
    cli.file('in.txt', 'from a file');
    const args = ['-e', 'from fermata import input\n[input["a"], open("/work/in.txt").read()]', '--input', '{"a": [1, null]}', '--file', '/work/in.txt=in.txt'];
    expect(await cli.run(['run', '-l', 'python', ...args])).toMatchObject({ code: 0, stdout: '[[1,null],"from a file"]\n' });
  });

  test('the name of a file may have an equals sign', async () => {
    cli.file('a=b', 'equal');
    expect(await cli.run(['run', '-l', 'python', '-e', 'open("/work/x").read()', '-f', '/work/x=a=b'])).toMatchObject({ code: 0, stdout: 'equal\n' });
  });

  test('--json prints the task as the API shows it', async () => {
    const shown = await cli.json(['run', '-l', 'python', '-t', TOOLS, '-e', 'print("hi")\nopen("/work/o", "w").write("abc")\ntools.calculate_sum(numbers=[1])']);
    expect(shown).toMatchObject({
      code: 0,
      task_id: expect.stringMatching(/^task_/),
      status: 'succeeded',
      result: { output: 1, stdout: 'hi\n', stderr: '', exit_code: 0, truncated: false, files: [{ path: '/work/o', bytes: 3 }] },
      resources_used: { tool_calls: 1, output_bytes: 3 },
    });
    expect(shown.result.execution_log.map(({ kind }: { kind: string }) => kind)).toEqual(expect.arrayContaining(['begun', 'call', 'call_settled', 'succeeded']));
  });

  test("--json of a task in memory prints the library's result", async () => {
    expect(await cli.json(['run', '--ephemeral', '-l', 'python', '-t', TOOLS, '-e', 'tools.calculate_sum(numbers=[1])'])).toMatchObject({
      code: 0,
      result: { output: 1, execution_log: [{ call_id: 1, tool: 'calculate_sum', arguments: { numbers: [1] }, status: 'ok' }] },
      resources_used: { tool_calls: 1, fuel: expect.any(Number) },
    });
  });

  describe('a program that fails exits with 1', () => {
    test('and shows its traceback on stderr, with the message once', async () => {
      const ended = await cli.run(['run', '-l', 'python', '-e', 'print("first")\nraise ValueError("bad cell")']);
      expect(ended).toMatchObject({ code: 1, stdout: 'first\n' });
      expect(ended.stderr).toMatch(/^Traceback[\s\S]*line 2[\s\S]*\nValueError: bad cell\nfailed: guest_error \(line 2, column 1\)\n$/);
      expect(ended.stderr.split('ValueError: bad cell')).toHaveLength(2);
    });
    test('and its traceback names the file', async () => {
      const ended = await cli.run(['run', cli.file('sums.py', 'def f():\n    return 1 / 0\nf()')]);
      expect(ended).toMatchObject({ code: 1, stdout: '' });
      expect(ended.stderr).toContain('  File "sums.py", line 3, in <module>\n    f()\n');
      expect(ended.stderr).toContain('  File "sums.py", line 2, in f\n    return 1 / 0\n');
    });
    test('and begins a line of its own where its output has not ended one', async () => {
      const shown = join(cli.folder, 'shown');
      const both = openSync(shown, 'w');
      const code = 'import sys\nprint("so far", end="")\nsys.stdout.flush()\nraise SystemExit(3)';
      expect(await cli.run(['run', '-l', 'python', '-e', code], { output: both })).toMatchObject({ code: 1 });
      closeSync(both);
      expect(readFileSync(shown, 'utf8')).toMatch(/^so far\n(Traceback|failed)/);
    });
    test('and in JSON has its error with code and line', async () => {
      expect(await cli.json(['run', '-l', 'javascript', '-e', '\nthrow new RangeError("x")'])).toMatchObject({
        code: 1,
        status: 'failed',
        error: { code: 'guest_error', line: 2, message: 'RangeError: x' },
        result: { output: null, exit_code: 1 },
      });
    });
    test.each([
      ['timeout', ['--timeout', '300ms', '-e', 'while True: pass']],
      ['cpu_limit', ['--cpu', '0.2', '-e', 'while True: pass']],
      ['memory_limit', ['--memory', '16', '-e', 'x = []\nwhile True: x.append("x" * 10000 + str(len(x)))']],
      ['output_limit', ['--max-output', '100', '-e', 'while True: print("x")']],
      ['disk_limit', ['--disk', '1', '-e', 'open("/work/x", "wb").write(bytes(2 ** 21))']],
      ['tool_call_limit', ['--max-calls', '0', '--tools', TOOLS, '-e', 'tools.calculate_sum(numbers=[])']],
      ['library_not_allowed', ['--allow-library', 'math', '-e', 'import os']],
    ])('with %s at that limit, and the option that raises it', async (code, args) => {
      const ended = await cli.json(['run', '-l', 'python', ...args]);
      expect(ended).toMatchObject({ code: 1, error: { code } });
      if (code !== 'library_not_allowed') expect(ended.error.hint).toContain(args[0]);
    });
    test('with a hint in the words of the command line', async () => {
      const ended = await cli.run(['run', '-l', 'python', '-e', 'open("data.csv")']);
      expect(ended.stderr).toMatch(/hint: .*--file \/work\/name=file/);
    });
  });

  test('--approve decides calls that need approval; without it a program in memory waits, saved', async () => {
    const pay = ['run', '-l', 'javascript', '--tools', TOOLS, '-e', 'await tools.pay({ cents: 5 })'];
    expect(await cli.run([...pay, '--approve', 'auto'])).toMatchObject({ code: 0, stdout: 'paid 5\n' });
    expect(await cli.json([...pay, '--approve', 'deny'])).toMatchObject({ code: 1, error: { message: expect.stringMatching(/rejected.*approvals are off/) } });
    const waiting = await cli.json([...pay, '--ephemeral']);
    expect(waiting).toMatchObject({ code: 4, status: 'waiting', waiting_for: [{ call_id: 1, tool: 'pay', arguments: { cents: 5 }, kind: 'approval' }] });
    expect(readFileSync(join(cli.folder, waiting.snapshot)).length).toBeGreaterThan(100);
    expect(await cli.run(['resume', waiting.snapshot, '--approve', 'auto'])).toMatchObject({ code: 0, stdout: 'paid 5\n' });
  });

  test('--quiet leaves only errors on stderr', async () => {
    expect(await cli.run(['run', '-q', '-l', 'python', '-t', TOOLS, '-e', 'tools.calculate_sum(numbers=[1])'])).toMatchObject({ code: 0, stdout: '1\n', stderr: '' });
  });
});
