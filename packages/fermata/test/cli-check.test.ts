/** `fermata check`: what is wrong with a program, on stdout, with an exit code; and `fermata run` with the same constraints. */
import { afterAll, expect, test } from 'vitest';
import { Cli } from './cli.ts';

const cli = new Cli();
afterAll(() => cli[Symbol.dispose]());

const TOOLS = cli.file(
  'tools.mjs',
  "export default [{ name: 'add', parameters: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }, execute: ({ a }) => a }];\n",
);

test('findings are a line each, and an error is exit code 1', async () => {
  const file = cli.file('program.py', 'import os, pandas\nx = tools.ad(a=1)\n');
  expect(await cli.run(['check', file, '--tools', TOOLS, '--allow-library', 'pandas'])).toMatchObject({
    code: 1,
    stdout:
      "program.py:1:8: error: This program may not import 'os'; modules it may import: pandas: use one of those, or have a tool do it.\n" +
      "program.py:2:5: error: There is no tool named 'ad': did you mean 'add'?\n",
  });
  expect(await cli.run(['check', file])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^program\.py:1:12: warning: There is no module 'pandas'/) });
  expect(await cli.run(['check', '-l', 'python', '-e', 'x = 1'])).toMatchObject({ code: 0, stdout: 'nothing found\n' });
});

test('--json prints the report; a program may come from standard input; constraints are those of run', async () => {
  const args = ['-l', 'python', '--strict', '--block-command', 'rm', '--require-library', 'pandas'];
  const { code, ...report } = await cli.json(['check', '-', ...args], { stdin: 'import subprocess\nsubprocess.run(["rm", "x"])' });
  expect(code).toBe(1);
  expect(report.ok).toBe(false);
  expect(report.findings.map(({ rule, line, column }: Record<string, unknown>) => `${rule} ${line}:${column}`)).toEqual([
    'library_missing 1:1',
    'policy_violation 1:8',
    'policy_violation 2:1',
  ]);
  for (const how of [[], ['--ephemeral']]) {
    expect(await cli.json(['run', ...how, '-e', 'import subprocess', ...args])).toMatchObject({
      code: 1,
      error: { code: 'library_missing', message: expect.stringContaining('pandas') },
    });
    expect(await cli.json(['run', ...how, '-l', 'javascript', '-e', 'eval("1")', '--strict'])).toMatchObject({ code: 1, error: { code: 'policy_violation', line: 1, column: 1 } });
  }
});

test('with --allow-net what needs a network is not warned of, and a host that is none is refused', async () => {
  const args = ['check', '-l', 'javascript', '-e', 'return (await fetch("https://api.example.com/")).status'];
  expect((await cli.run(args)).stdout).toContain('will find no network here');
  expect(await cli.run([...args, '--allow-net', '*.example.com'])).toMatchObject({ code: 0, stdout: 'nothing found\n' });
  expect(await cli.run([...args, '--allow-net', 'https://api.example.com'])).toMatchObject({ code: 2 });
});
