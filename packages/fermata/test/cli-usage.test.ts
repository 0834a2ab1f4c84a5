/** The rest of the command line: help, images, doctor, and what it says to wrong usage. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Cli, type Json } from './cli.ts';

const cli = new Cli();
afterAll(() => cli[Symbol.dispose]());

test('help is data: on stdout, exit code 0', async () => {
  for (const [args, wanted] of [
    [['--help'], ['run', 'check', 'resume', 'task', 'session', 'batch', 'tool', 'policy', 'serve', 'key', 'store', 'image', 'doctor', 'Exit codes: 0 ok']],
    [
      ['run', '--help'],
      ['--tools', '--input', '--timeout', '--memory', '--pause-after', '--approve', '--json', 'MiB'],
    ],
    [
      ['resume', '--help'],
      ['--trust', '--redo', '<task>'],
    ],
    [
      ['image', '--help'],
      ['list', 'verify', 'build'],
    ],
    [['doctor', '--help'], ['--json']],
    [['--version'], ['0.1.0']],
  ] as const) {
    const ended = await cli.run([...args]);
    expect(ended, args.join(' ')).toMatchObject({ code: 0, stderr: '' });
    for (const text of wanted) expect(ended.stdout, args.join(' ')).toContain(text);
  }
  expect(await cli.run(['help', 'image'])).toEqual(await cli.run(['image', '--help']));
});

const WRONG: [string, string[], RegExp][] = [
  ['no command', [], /Usage: fermata/],
  ['an unknown command', ['rum'], /unknown command 'rum'[\s\S]*run/],
  ['an unknown option', ['run', '--jsn', 'x.py'], /unknown option '--jsn'[\s\S]*--json/],
  ['nothing to run', ['run'], /give a file, - for standard input, or -e/],
  ['a file and code', ['run', 'x.py', '-e', '1'], /give a file/],
  ['code without a language', ['run', '-e', '1'], /which language[\s\S]*--lang/],
  ['an unknown language', ['run', '-l', 'cobol', '-e', '1'], /cobol.*python, javascript, typescript/],
  ['a file that is not there', ['run', 'absent.py'], /absent\.py cannot be read/],
  ['input that is no JSON', ['run', '-l', 'python', '-e', '1', '-i', '{oops'], /--input is not JSON: line 1, column 2: unexpected "oops"[\s\S]*hint:.*@file/],
  ['a duration that is none', ['run', '-l', 'python', '-e', '1', '--timeout', 'soon'], /500ms, 2s/],
  ['a limit below its minimum', ['run', '-l', 'python', '-e', '1', '--timeout', '1ms'], /'--timeout <duration>'.*The least is 10ms/],
  ['a limit above its most', ['run', '-l', 'python', '-e', '1', '--memory', '4000'], /'--memory <MiB>'.*The most is 3072 MiB/],
  ['a tools file that is not there', ['run', '-l', 'python', '-e', '1', '-t', 'absent.mjs'], /absent\.mjs is not there/],
  ['an input file that is not there', ['run', '-l', 'python', '-e', '1', '-f', '/work/a=absent.txt'], /absent\.txt cannot be read/],
  ['an input file without a place', ['run', '-l', 'python', '-e', '1', '-f', 'absent.txt'], /form \/work\/name=file/],
  ['an input file for a place that is not there', ['run', '-l', 'python', '-e', '1', '-f', '/etc/a=absent.txt'], /form \/work\/name=file/],
  ['an unknown image', ['image', 'verify', 'perl'], /no image perl[\s\S]*cpython/],
];

test.each(WRONG)('%s: exit code 2, told on stderr', async (_what, args, told) => {
  const ended = await cli.run(args);
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toMatch(told);
});

test('with --json an error of usage is one JSON object too', async () => {
  expect(await cli.json(['run', 'absent.py'])).toMatchObject({ code: 2, error: { code: 'invalid_request', message: expect.stringContaining('absent.py') } });
});

test('with --ephemeral the key is made when a snapshot needs it, and not before', async () => {
  expect(await cli.run(['run', '--ephemeral', '-l', 'python', '-e', '1'])).toMatchObject({ code: 0 });
  expect(existsSync(join(cli.folder, 'data'))).toBe(false);
  expect(await cli.run(['run', '--ephemeral', '-l', 'python', '-e', 'while True: pass', '--pause-after', '1ms'])).toMatchObject({ code: 4 });
  expect(existsSync(join(cli.folder, 'data', 'seal.key'))).toBe(true);
});

test('a folder that cannot keep the key is named, with the ways out, before a program is started that will be paused', async () => {
  const env = { FERMATA_DATA_DIR: join(cli.folder, cli.file('no-folder', ''), 'data') };
  const paused = ['run', '--ephemeral', '-l', 'python', '-e', 'print("begun")', '--pause-after', '1h'];
  expect(await cli.run(paused, { env })).toMatchObject({ code: 3, stdout: '', stderr: expect.stringMatching(/no-folder.data[\s\S]*hint: .*FERMATA_DATA_DIR.*FERMATA_SEAL_KEY/) });
  expect(await cli.json(paused, { env })).toMatchObject({ code: 3, error: { code: 'sandbox_unavailable' } });
  expect(await cli.run(['run', '-l', 'python', '-e', '1'], { env })).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(/no-folder.data[\s\S]*hint: .*--data.*FERMATA_DATA_DIR.*--ephemeral/),
  });
  expect(await cli.run(['run', '--ephemeral', '-l', 'python', '-e', '1'], { env }), 'one that just ends needs no key').toMatchObject({ code: 0, stdout: '1\n' });
});

test('image list names every image, its languages and digests', async () => {
  const { code, stdout } = await cli.run(['image', 'list', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([
    { name: 'cpython', languages: ['python'], wasm: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
    { name: 'quickjs', languages: ['javascript', 'typescript'], base: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
  ]);
  expect((await cli.run(['image', 'list'])).stdout).toMatch(/^cpython .*python[\s\S]*quickjs .*javascript, typescript/);
});

describe('doctor', () => {
  const missing = join(cli.folder, 'no-such-folder');
  const env = { FERMATA_DATA_DIR: missing };
  let report: Json & { code: number | null };
  // Asked once: it runs a program in each language, in each kind of host.
  beforeAll(async () => {
    report = await cli.json(['doctor'], { env });
  });

  test('says what works here', () => {
    expect(report).toMatchObject({ code: 0, ok: true });
    const found = report.findings.map(({ what }: { what: string }) => what);
    for (const what of ['node', 'python', 'javascript', 'typescript', 'image cache', 'seal key', 'threads', 'processes', 'jail', 'data folder']) expect(found).toContain(what);
  });

  test('makes no key and no folder, nor does any command that only looks', async () => {
    expect(report.findings).toContainEqual({ what: 'seal key', ok: true, detail: expect.stringContaining('none yet') });
    expect(report.findings).toContainEqual({ what: 'data folder', ok: true, detail: `${missing}: no tasks yet` });
    expect(await cli.json(['task', 'list', '--data', missing])).toMatchObject({ code: 2, error: { code: 'invalid_request', message: expect.stringContaining(missing) } });
    expect(existsSync(missing)).toBe(false);
  });

  test('exits with 3 where something does not work; --data names the folder that it looks at', async () => {
    const broken = await cli.json(['doctor', '--data', missing], { env: { FERMATA_SEAL_KEY: 'too short' } });
    expect(broken).toMatchObject({ code: 3, ok: false });
    expect(broken.findings).toContainEqual({ what: 'seal key', ok: false, detail: expect.stringContaining('32 bytes') });
    expect(broken.findings).toContainEqual({ what: 'data folder', ok: true, detail: `${missing}: no tasks yet` });
  });
});
