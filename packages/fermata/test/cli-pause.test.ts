/** `fermata run --ephemeral` and `fermata resume <file>`: a program that was stopped by one process is continued by another. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { snapshotFile } from '../src/cli/drive.ts';
import { Cli } from './cli.ts';
import type { Ended } from './new-process.ts';

let cli: Cli;
beforeEach(() => {
  cli = new Cli();
});
afterEach(() => cli[Symbol.dispose]());

/** Prints, sleeps, and prints again. */
const sleeps = (seconds: number) => `import time\nprint("begun", flush=True)\nx = [i * i for i in range(5)]\ntime.sleep(${seconds})\nprint("woke")\nx`;

/** A program that `--pause-after` has stopped in its sleep; with a longer one where the pause came too late. */
async function pausedInSleep(seconds = 4): Promise<Ended & { file: string }> {
  const paused = await cli.run(['run', '--ephemeral', '-l', 'python', '-e', sleeps(seconds), '--pause-after', '1s']);
  if (paused.code === 0) return pausedInSleep(seconds * 3);
  return { ...paused, file: /fermata resume (\S+\.snap)/.exec(paused.stderr)?.[1] as string };
}

test('--pause-after saves the program, exits with 4, and resume goes on in a new process', async () => {
  const paused = await pausedInSleep();
  expect(paused.code).toBe(4);
  expect(paused.stderr).toMatch(/^paused.*; saved task_/);
  expect(statSync(join(cli.folder, paused.file)).mode & 0o777).toBe(0o600);
  const resumed = await cli.run(['resume', paused.file]);
  expect(resumed).toMatchObject({ code: 0, stderr: '' });
  expect(paused.stdout + resumed.stdout).toBe('begun\nwoke\n[0,1,4,9,16]\n');
  expect(await cli.json(['resume', paused.file]), 'a snapshot can be resumed again, and holds all output').toMatchObject({
    code: 0,
    result: { output: [0, 1, 4, 9, 16], stdout: 'begun\nwoke\n' },
  });
});

test.skipIf(process.platform === 'win32')('Ctrl-C pauses and saves; a busy loop goes on from where it was', async () => {
  const code = 'console.error("begun"); for (let i = 0; i < 30_000_000; i++); console.log("done");';
  let sent = false;
  const whileRunning = (stderr: string, kill: (signal: NodeJS.Signals) => void) => {
    if (sent || !stderr.includes('begun')) return;
    sent = true;
    kill('SIGINT');
  };
  const paused = await cli.run(['run', '--ephemeral', '-l', 'javascript', '-e', code], { whileRunning });
  expect(paused).toMatchObject({ code: 4, stdout: '' });
  const [file] = readdirSync(cli.folder).filter((name) => name.endsWith('.snap'));
  expect(paused.stderr).toContain(`fermata resume ${file}`);
  expect(await cli.run(['resume', file as string])).toMatchObject({ code: 0, stdout: 'done\n' });
});

test('a call that is under way at a pause finishes first, and is not repeated', async () => {
  // The tool itself asks for the pause, as Ctrl-C would, so that the pause is sure to find it under way.
  cli.file(
    'tools.mjs',
    `import { appendFileSync } from 'node:fs';
export default [{ name: 'slow', execute: async () => {
  appendFileSync('log', 'x');
  process.emit('SIGINT');
  await new Promise((done) => setTimeout(done, 500));
  return 'slow result';
} }];\n`,
  );
  const paused = await cli.json(['run', '--ephemeral', '-l', 'javascript', '-t', 'tools.mjs', '-e', 'await tools.slow({})']);
  expect(paused).toMatchObject({ code: 4, status: 'paused', resumable: true, result: { execution_log: [{ tool: 'slow', status: 'pending' }] } });
  expect(await cli.json(['resume', paused.snapshot])).toMatchObject({ code: 0, result: { output: 'slow result' } });
  expect(readFileSync(join(cli.folder, 'log'), 'utf8')).toBe('x');
});

test('resume without a tool that the program was given names it, and the option that gives it', async () => {
  cli.file('tools.mjs', `export default [{ name: 'slow', execute: () => process.emit('SIGINT') }, { name: 'other', execute() {} }];\n`);
  const { snapshot } = await cli.json(['run', '--ephemeral', '-l', 'javascript', '-t', 'tools.mjs', '-e', 'await tools.slow({})']);
  cli.file('less.mjs', `export default [{ name: 'slow', execute() {} }];\n`);
  const refused = await cli.run(['resume', snapshot, '-t', 'less.mjs']);
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/not there now: other\nhint: .*`--tools <file>`/) });
  expect(await cli.json(['resume', snapshot, '-t', 'less.mjs'])).toMatchObject({ code: 2, error: { code: 'tools_missing' } });
});

test('another key does not open a snapshot, and --trust does not help', async () => {
  const { file: snapshot } = await pausedInSleep();
  const env = { FERMATA_SEAL_KEY: Buffer.alloc(32, 7).toString('base64') };
  for (const args of [[], ['--trust']]) {
    const refused = await cli.run(['resume', snapshot, ...args], { env });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/sealed with key/);
  }
  expect(await cli.json(['resume', snapshot], { env })).toMatchObject({ code: 2, error: { code: 'checkpoint_invalid' } });
});

test('a snapshot that is not sealed needs --trust', async () => {
  const { createFermata } = await import('fermata');
  await using fermata = createFermata();
  await using task = await fermata.start({ language: 'javascript', code: '6 * 7' });
  writeFileSync(join(cli.folder, 'open.snap'), await task.snapshot());
  const refused = await cli.run(['resume', 'open.snap']);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(/not sealed[\s\S]*hint:.*--trust/);
  expect(await cli.run(['resume', 'open.snap', '--trust'])).toMatchObject({ code: 0, stdout: '42\n' });
});

test('a snapshot that is only trusted does not choose the module with the tools', async () => {
  const { createFermata } = await import('fermata');
  await using fermata = createFermata({ tools: [{ name: 'ask', execute: () => 'never' }] });
  await using task = await fermata.start({ language: 'javascript', code: 'await tools.ask({})', label: { tools: join(cli.folder, 'evil.mjs') } });
  writeFileSync(join(cli.folder, 'open.snap'), await task.snapshot());
  cli.file('evil.mjs', `import { writeFileSync } from 'node:fs';\nwriteFileSync('evil', '');\nexport default [];\n`);
  const refused = await cli.run(['resume', 'open.snap', '--trust']);
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/evil\.mjs[\s\S]*hint: .*--tools/) });
  expect(existsSync(join(cli.folder, 'evil'))).toBe(false);
  cli.file('mine.mjs', `export default [{ name: 'ask', execute: () => 'mine' }];\n`);
  expect(await cli.run(['resume', 'open.snap', '--trust', '-t', 'mine.mjs'])).toMatchObject({ code: 0, stdout: 'mine\n' });
});

test('the file of a pause stays in the current folder, whatever a snapshot calls the task', () => {
  expect(snapshotFile('../up/..\\x:y ü')).toBe('.._up_.._x_y__.snap');
});

test('a call that never ends keeps neither the snapshot nor the process', async () => {
  cli.file('tools.mjs', `export default [{ name: 'hang', execute: () => new Promise(() => setInterval(() => {}, 1000)) }];\n`);
  const began = performance.now();
  const paused = await cli.json(['run', '--ephemeral', '-l', 'javascript', '-t', 'tools.mjs', '-e', 'await tools.hang({})', '--pause-after', '500ms']);
  expect(paused).toMatchObject({ code: 4, status: 'paused', resumable: true });
  expect(existsSync(join(cli.folder, paused.snapshot))).toBe(true);
  expect(performance.now() - began).toBeLessThan(60_000);
});

test('a snapshot that cannot be saved is said to be', async () => {
  const { createFermata } = await import('fermata');
  await using fermata = createFermata();
  await using task = await fermata.start({ taskId: 'mine', language: 'python', code: 'while True: pass' });
  writeFileSync(join(cli.folder, 'open.snap'), await task.snapshot());
  mkdirSync(join(cli.folder, 'mine.snap.part'));
  const lost = await cli.run(['resume', 'open.snap', '--trust', '--pause-after', '100ms']);
  expect(lost).toMatchObject({ code: 3, stderr: expect.stringMatching(/cannot be saved as mine\.snap[\s\S]*hint:/) });
});

test('what is no snapshot is refused, with exit code 2', async () => {
  expect(await cli.run(['resume', cli.file('x.snap', 'nothing')])).toMatchObject({ code: 2, stdout: '' });
  expect(await cli.run(['resume', 'absent.snap'])).toMatchObject({ code: 2, stderr: expect.stringContaining('absent.snap cannot be read') });
  expect(existsSync(join(cli.folder, 'absent.snap'))).toBe(false);
});
