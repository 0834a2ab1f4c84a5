/** `fermata run` keeps its task: what one process leaves, however it ends, another goes on with. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Cli, type Json } from './cli.ts';

let cli: Cli;
beforeEach(() => {
  cli = new Cli();
});
afterEach(() => cli[Symbol.dispose]());

/** Adds, each time to a log; pays, with approval. */
const tools = () =>
  cli.file(
    'tools.mjs',
    `import { appendFileSync } from 'node:fs';
export default [
  { name: 'add', execute: ({ a, b }) => { appendFileSync('log', 'x'); return a + b; } },
  { name: 'pay', requiresApproval: true, execute: ({ cents }) => { appendFileSync('log', 'p'); return 'paid ' + cents; } },
];\n`,
  );
const log = () => (existsSync(join(cli.folder, 'log')) ? readFileSync(join(cli.folder, 'log'), 'utf8') : '');
const BUSY = 'const sum = await tools.add({ a: 1, b: 2 }); console.error("begun"); for (let i = 0; i < 60_000_000; i++); console.log("end"); return sum';

async function tasks(): Promise<Json[]> {
  return (await cli.json(['task', 'list'])).items;
}

test('a task is kept, with what it printed and what it came to', async () => {
  expect(await cli.run(['run', '-l', 'python', '-e', 'print("hi")\n{"n": 1}'])).toMatchObject({ code: 0, stdout: 'hi\n{"n":1}\n', stderr: '' });
  const [task] = await tasks();
  expect(task).toMatchObject({ status: 'succeeded', result: { output: { n: 1 } } });
  expect((await cli.run(['task', 'logs', task?.task_id])).stdout).toBe('hi\n');
});

test('programs of a session find the variables and files of those before', async () => {
  expect(await cli.run(['run', '-l', 'python', '--session', 'mine', '-e', 'n = 20\nopen("/work/kept", "w").write("22")'])).toMatchObject({ code: 0 });
  expect(await cli.run(['run', '-l', 'python', '--session', 'mine', '-e', 'n + int(open("/work/kept").read())'])).toMatchObject({ code: 0, stdout: '42\n' });
  expect(await cli.json(['session', 'list'])).toMatchObject({ items: [{ session_id: 'mine', language: 'python' }] });
});

test('killed in a busy loop, it goes on in another process: the right result, and no call made twice', async () => {
  let killed = false;
  const whileRunning = (stderr: string, kill: (signal: NodeJS.Signals) => void) => {
    if (killed || !stderr.includes('begun')) return;
    killed = true;
    kill('SIGKILL');
  };
  const gone = await cli.run(['run', '-l', 'javascript', '-t', tools(), '-e', BUSY], { whileRunning });
  expect(gone).toMatchObject({ code: null, stdout: '' });
  const [task] = await tasks();
  expect(task, 'nothing runs that nobody asked for').toMatchObject({ status: 'paused', pause_reason: 'shutdown' });
  const resumed = await cli.run(['resume', task?.task_id]);
  expect(resumed).toMatchObject({ code: 0, stdout: 'end\n3\n' });
  expect(log()).toBe('x');
  expect(await cli.json(['task', 'verify', task?.task_id])).toMatchObject({ code: 0, verified: true });
});

test('a pause asked for in another process stops it, durably', async () => {
  tools();
  let asked: Promise<Json> | undefined;
  const whileRunning = (stderr: string) => {
    if (!asked && stderr.includes('begun')) asked = tasks().then(([task]) => cli.json(['task', 'pause', task?.task_id]));
  };
  const paused = await cli.run(['run', '-l', 'javascript', '-t', 'tools.mjs', '-e', BUSY.replace('60_000_000', '900_000_000')], { whileRunning });
  expect(paused).toMatchObject({ code: 4, stdout: '', stderr: expect.stringMatching(/paused.*\nGo on with: fermata resume task_\w+\n$/) });
  expect(await asked).toMatchObject({ code: 0, status: 'paused', pause_reason: 'user_request' });
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s pauses it, and says how to go on', async (signal) => {
  let sent = false;
  const whileRunning = (stderr: string, kill: (signal: NodeJS.Signals) => void) => {
    if (sent || !stderr.includes('begun')) return;
    sent = true;
    kill(signal);
  };
  const paused = await cli.run(['run', '-l', 'javascript', '-t', tools(), '-e', BUSY], { whileRunning });
  expect(paused).toMatchObject({ code: 4, stdout: '' });
  const [, id] = /fermata resume (\S+)/.exec(paused.stderr) ?? [];
  expect(await cli.run(['resume', id as string])).toMatchObject({ code: 0, stdout: 'end\n3\n' });
  expect(log()).toBe('x');
});

test('--pause-after pauses it; resume goes on with what is left, and --json has all output', async () => {
  const paused = await cli.json(['run', '-l', 'python', '-e', 'print("a", flush=True)\nimport time\ntime.sleep(60)\nprint("b")', '--pause-after', '2s']);
  expect(paused).toMatchObject({ code: 4, status: 'paused', resumable: true });
  expect(await cli.json(['task', 'get', paused.task_id])).toMatchObject({ status: 'paused', pause_reason: 'user_request' });
  expect(await cli.json(['task', 'cancel', paused.task_id])).toMatchObject({ code: 0, status: 'cancelled' });
  expect(await cli.run(['resume', paused.task_id]), 'what has ended is told again').toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('ended already') });
});

test('an approval that nobody here can give is waited for: exit code 4; another process gives it', async () => {
  const waiting = await cli.run(['run', '-l', 'javascript', '-t', tools(), '-e', 'await tools.pay({ cents: 5 })']);
  expect(waiting).toMatchObject({ code: 4, stdout: '' });
  const [, id, call] = /fermata task approve (\S+) (\S+)/.exec(waiting.stderr) ?? [];
  expect(await cli.json(['task', 'approvals'])).toMatchObject({ items: [{ task_id: id, call_id: call, tool: 'pay', arguments: { cents: 5 } }] });
  expect(await cli.json(['task', 'approve', id as string, call as string, '--arguments', '{"cents": 7}'])).toMatchObject({
    code: 0,
    call_id: call,
    edited_arguments: { cents: 7 },
  });
  expect(log(), 'it is recorded, and nothing runs yet').toBe('');
  expect(await cli.run(['resume', id as string])).toMatchObject({ code: 0, stdout: 'paid 7\n' });
  expect(log()).toBe('p');
});

test('a rejection is seen by the program', async () => {
  const { task_id } = await cli.json(['run', '-l', 'javascript', '-t', tools(), '-e', 'try { await tools.pay({ cents: 5 }) } catch (e) { return e.message }']);
  expect(await cli.json(['task', 'reject', task_id, '--reason', 'too much'])).toMatchObject({ code: 0 });
  expect(await cli.run(['resume', task_id])).toMatchObject({ code: 0, stdout: expect.stringContaining('rejected: too much') });
});

test('a call whose outcome was lost with the process is not repeated without a decision', async () => {
  cli.file(
    'lost.mjs',
    `import { appendFileSync } from 'node:fs';\nexport default [{ name: 'send', execute: () => { appendFileSync('log', 's'); process.kill(process.pid, 'SIGKILL'); } }];\n`,
  );
  expect(await cli.run(['run', '-l', 'javascript', '-t', 'lost.mjs', '-e', 'return await tools.send()'])).toMatchObject({ code: null });
  const [task] = await tasks();
  cli.file('lost.mjs', `import { appendFileSync } from 'node:fs';\nexport default [{ name: 'send', execute: () => { appendFileSync('log', 's'); return 'sent'; } }];\n`);
  const waiting = await cli.json(['resume', task?.task_id]);
  expect(waiting).toMatchObject({ code: 4, status: 'waiting', waiting_for: [{ tool: 'send', kind: 'outcome_unknown' }] });
  expect(log()).toBe('s');
  expect(await cli.run(['resume', task?.task_id, '--redo'])).toMatchObject({ code: 0, stdout: 'sent\n' });
  expect(log()).toBe('ss');
});

test('metadata of a request never chooses a file that is loaded', async () => {
  cli.file('evil.mjs', `import { writeFileSync } from 'node:fs';\nwriteFileSync('evil', '');\nexport default [];\n`);
  cli.file(
    'tasks.jsonl',
    JSON.stringify({
      code: 'while (true);',
      language: 'javascript',
      tool_constraints: { timeout_seconds: 600, max_cpu_seconds: 600 },
      metadata: { tools_file: join(cli.folder, 'evil.mjs') },
    }),
  );
  const submitted = cli.json(['batch', 'submit', 'tasks.jsonl']);
  let found: Json | undefined;
  while (!found) [found] = await tasks().catch(() => []);
  await cli.json(['task', 'pause', found.task_id]);
  expect(await submitted).toMatchObject({ code: 4 });
  expect(await cli.run(['resume', found.task_id, '--pause-after', '500ms'])).toMatchObject({ code: 4 });
  expect(existsSync(join(cli.folder, 'evil'))).toBe(false);
});

test('where another process has the folder its tools are used, and others are refused', async () => {
  tools();
  cli.file('other.mjs', 'export default [];');
  let refused: Promise<Json> | undefined;
  let beside: Promise<Json> | undefined;
  const whileRunning = (stderr: string, kill: (signal: NodeJS.Signals) => void) => {
    if (refused || !stderr.includes('begun')) return;
    refused = cli.json(['run', '-l', 'javascript', '-t', 'other.mjs', '-e', '1']);
    beside = cli.json(['run', '-l', 'javascript', '-e', 'await tools.add({ a: 20, b: 1 })']);
    void Promise.allSettled([refused, beside]).then(() => kill('SIGINT'));
  };
  await cli.run(['run', '-l', 'javascript', '-t', 'tools.mjs', '-e', BUSY.replace('60_000_000', '2_000_000_000')], { whileRunning });
  expect(await refused).toMatchObject({ code: 2, error: { code: 'conflict', message: expect.stringContaining('other.mjs') } });
  expect(await beside).toMatchObject({ code: 0, result: { output: 21 } });
});

test('two that start at once share the folder; when its owner ends the other takes over', async () => {
  const sleeper = (seconds: number) => ['run', '-l', 'python', '-e', `import time\ntime.sleep(${seconds})\n${seconds}`];
  const [short, long] = await Promise.all([cli.run(sleeper(1)), cli.run(sleeper(4))]);
  expect(short).toMatchObject({ code: 0, stdout: '1\n' });
  expect(long).toMatchObject({ code: 0, stdout: '4\n' });
});

test('a folder whose owner cannot be talked to is told as locked: exit code 3', async () => {
  const { openEngine } = await import('fermata');
  await using _opened = await openEngine({ folder: join(cli.folder, 'data') });
  expect(await cli.json(['task', 'list'])).toMatchObject({ code: 3, error: { code: 'store_locked', hint: expect.any(String) } });
});

test('what an owner that was killed has left behind hinders nobody', async () => {
  expect(await cli.run(['run', '-l', 'javascript', '-e', '1'])).toMatchObject({ code: 0 });
  writeFileSync(join(cli.folder, 'data', 'owner.json'), JSON.stringify({ pid: 1, url: join(cli.folder, 'data', 'api.sock'), key: 'fm_x' }));
  writeFileSync(join(cli.folder, 'data', 'api.sock'), '');
  expect(await cli.run(['run', '-l', 'javascript', '-e', '2'])).toMatchObject({ code: 0, stdout: '2\n' });
  rmSync(join(cli.folder, 'data', 'seal.key'));
});
